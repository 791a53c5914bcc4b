import {
  bucketRateLimiter,
  type ItemRateLimiter,
  itemExponentialFailureRateLimiter,
} from '../../queue/item-rate-limiter.js';
import { WorkQueue } from '../../queue/work-queue.js';
import { describeError } from '../../runtime/log/describe-error.js';
import type { Runtime } from '../../runtime/runtime.js';
import { SlicedWork } from '../../runtime/time/sliced-work.js';

/** One object that a function fails for, at the moment it was asked: a plain snapshot. */
export interface FailingObject {
  /** `namespace/name`, or `name` alone. */
  readonly key: string;
  /** Which function fails: `'predicate'`, `'map'`, `'transform'`, `'index "node"'`… */
  readonly function: string;
  /** Calls that failed for this version of the object. */
  readonly attempts: number;
  /** Milliseconds since the first of them. */
  readonly failingMs: number;
  /** Milliseconds until it is retried; undefined while a call runs, and where only a newer version can help. */
  readonly retryMs?: number;
  /** The error of the last call, in words. */
  readonly error: string;
  /** The line of yours that threw it, if it is known. */
  readonly at?: string;
}

/** How a call failed. */
export interface ObjectFailure {
  readonly key: string;
  readonly function: string;
  readonly error: unknown;
  readonly at?: string;
}

/** What is known of a failure once it is recorded. */
export interface NotedFailure {
  /** Failed calls for this version of the object, this one included. */
  readonly attempt: number;
  /** When it is retried; undefined if it is not. */
  readonly retryMs: number | undefined;
  /** False if it need not be logged: the same failure as before, or one of many. */
  readonly isNews: boolean;
}

interface Entry<S> {
  subject: S;
  failure: ObjectFailure;
  message: string;
  attempts: number;
  sinceMs: number;
  /** On the monotonic clock. */
  retryAtMs: number | undefined;
}

const firstRetryMs = 200;
const longestRetryMs = 60_000;
/** A function that fails for every object is not called for all of them over and over. */
const retriesPerSecond = 50;
/** Of more, only some are logged one by one. */
const manyFailing = 20;
/** When one recovers, the others may have, too: this many are retried at once. */
const recoveredTogether = 10;

/**
 * Objects that a function fails for, each retried with backoff while all others pass. The owner does the retry: it
 * calls {@link add} again if that fails, and {@link recovered} or {@link delete} otherwise.
 */
export class FailingObjects<S> {
  readonly #clock: Runtime['clock'];
  readonly #retry: (id: string, subject: S) => unknown;
  readonly #backoff: ItemRateLimiter;
  readonly #rate: ItemRateLimiter;
  readonly #queue: WorkQueue;
  /** In the order of their last failures. */
  readonly #entries = new Map<string, Entry<S>>();
  #isWorking = false;

  /** `retry` must not throw; a promise that it returns is waited for before the next retry. */
  constructor({ clock, random }: Pick<Runtime, 'clock' | 'random'>, retry: (id: string, subject: S) => unknown) {
    this.#clock = clock;
    this.#retry = retry;
    this.#queue = new WorkQueue({ clock, random });
    this.#backoff = itemExponentialFailureRateLimiter({ baseMs: firstRetryMs, maxMs: longestRetryMs, random });
    this.#rate = bucketRateLimiter({ qps: retriesPerSecond, burst: retriesPerSecond, clock });
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The retry of an object; undefined if it does not fail. */
  get(id: string): S | undefined {
    return this.#entries.get(id)?.subject;
  }

  has(id: string): boolean {
    return this.#entries.has(id);
  }

  *[Symbol.iterator](): Iterator<[id: string, subject: S]> {
    for (const [id, { subject }] of this.#entries) yield [id, subject];
  }

  /**
   * Records a failure and schedules its retry: after 200 ms, then twice as late each time, up to a minute or
   * `longestMs`. `retry` false: no automatic retry. `isNewer`: the first failure of a newer version.
   */
  add(
    id: string,
    subject: S,
    failure: ObjectFailure,
    options: { readonly retry?: boolean; readonly isNewer?: boolean; readonly longestMs?: number | undefined } = {},
  ): NotedFailure {
    const { retry = true, isNewer = false, longestMs = longestRetryMs } = options;
    const message = describeError(failure.error);
    const known = this.#entries.get(id);
    const isSame = known?.message === message && known.failure.function === failure.function;
    if (isNewer) this.#backoff.forget(id);
    const nowMs = this.#clock.monotonic();
    const delayMs = retry ? Math.max(Math.min(this.#backoff.when(id), longestMs), this.#rate.when(id)) : undefined;
    const attempts = known === undefined || isNewer ? 1 : known.attempts + 1;
    const retryAtMs = delayMs === undefined ? undefined : nowMs + delayMs;
    const sinceMs = known?.sinceMs ?? nowMs;
    this.#entries.delete(id);
    this.#entries.set(id, { subject, failure, message, attempts, sinceMs, retryAtMs });
    if (delayMs !== undefined) this.#schedule(id, delayMs);
    const isOneOfMany = this.size > manyFailing && !/^10+$/.test(String(this.size));
    return { attempt: attempts, retryMs: delayMs, isNews: !isSame && !isOneOfMany };
  }

  /** Has a retry that has come at the wrong time come later. */
  postpone(id: string, delayMs: number): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    entry.retryAtMs = this.#clock.monotonic() + delayMs;
    this.#schedule(id, delayMs);
  }

  /** The object was deleted, or its function need not be called any more. */
  delete(id: string): boolean {
    this.#backoff.forget(id);
    return this.#entries.delete(id);
  }

  /** The function works for the object: it may for others, too, so some of these are retried now. */
  recovered(id: string): void {
    if (!this.delete(id)) return;
    let left = recoveredTogether;
    for (const [other, entry] of this.#entries) {
      if (left === 0) return;
      if (entry.retryAtMs === undefined) continue;
      left -= 1;
      this.#schedule(other, 0);
    }
  }

  /** Retries all of them now, as if each had failed for the first time: the function is another one. */
  retryAll(): void {
    for (const [id, entry] of this.#entries) {
      // Those without a time are being called, or wait for a newer version.
      if (entry.retryAtMs === undefined) continue;
      this.#backoff.forget(id);
      entry.retryAtMs = this.#clock.monotonic();
      this.#schedule(id, 0);
    }
  }

  clear(): void {
    for (const id of [...this.#entries.keys()]) this.delete(id);
  }

  /** Retries nothing any more. */
  close(): void {
    this.clear();
    this.#queue.shutDown();
  }

  /** The first of them; recent failures come last. */
  list(most = 100): readonly FailingObject[] {
    const nowMs = this.#clock.monotonic();
    const list: FailingObject[] = [];
    for (const { failure, message, attempts, sinceMs, retryAtMs } of this.#entries.values()) {
      if (list.length === most) break;
      const { key, at } = failure;
      list.push({
        ...{ key, function: failure.function, attempts, failingMs: nowMs - sinceMs },
        ...(retryAtMs !== undefined && { retryMs: Math.max(0, retryAtMs - nowMs) }),
        error: message,
        ...(at !== undefined && { at }),
      });
    }
    return list;
  }

  /** Milliseconds until the next retry; undefined without one. */
  get nextRetryMs(): number | undefined {
    return this.size === 0 ? undefined : this.#queue.nextDelayedMs();
  }

  #schedule(id: string, delayMs: number): void {
    this.#queue.addAfter(id, delayMs);
    if (this.#isWorking) return;
    this.#isWorking = true;
    void this.#work();
  }

  /** One retry at a time, until the queue is shut down. */
  async #work(): Promise<void> {
    const work = new SlicedWork(this.#clock);
    for (let item = await this.#queue.get(); item !== undefined; item = await this.#queue.get()) {
      const { key: id } = item;
      const entry = this.#entries.get(id);
      if (entry?.retryAtMs !== undefined) {
        work.begin();
        entry.retryAtMs = undefined;
        const answer = this.#retry(id, entry.subject);
        if (answer instanceof Promise) await work.waitFor(answer);
        await work.end();
      }
      this.#queue.done(id);
    }
  }
}

/** The objects in words, for health checks; undefined if there are none. `count`: the total number. */
export function describeFailing(failing: readonly FailingObject[], count = failing.length): string | undefined {
  const [first] = failing;
  if (first === undefined) return undefined;
  const { function: func, key, attempts, error, at } = first;
  const others = count > 1 ? ` and for ${count - 1} more` : '';
  return `${func} fails for ${key}${others}: ${error}${at === undefined ? '' : ` at ${at}`} (attempt ${attempts})`;
}
