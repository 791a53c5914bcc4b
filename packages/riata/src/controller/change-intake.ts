import { isCacheSyncError } from '../cache/cache-sync-error.js';
import type { Change } from '../cache/change.js';
import { isNoMatch } from '../client/rest-mapper.js';
import { durationMs } from '../object/duration.js';
import { clusterKey } from '../object/key.js';
import type { KubeObject } from '../object/meta.js';
import { isNotFound, isUnexpectedServerError } from '../rest/error-guards.js';
import type { Runtime } from '../runtime/runtime.js';
import type { EventHandler } from './event-handler.js';
import { failureFields } from './failure-fields.js';
import type { Predicate } from './predicate.js';
import type { RequestQueue } from './request.js';

/** What is not urgent: objects of the first list, and those of which nothing changed. */
export const lowPriority = -100;

/** A handler that takes longer for one change is named, as all changes behind that one wait. */
const slowMs = 30_000;

/** The parts of a {@link ChangeIntake}. */
export interface ChangeIntakeParts<T extends KubeObject> {
  /** Of the source. */
  readonly name: string;
  /** Of the objects, for causes; undefined: each says its own. */
  readonly kind: string | undefined;
  readonly handler: EventHandler<T>;
  readonly predicates: readonly Predicate<T>[];
  readonly cluster: string | undefined;
  readonly runtime: Runtime;
}

/** Puts the keys into a queue that changes lead to, through predicates and a handler. */
export class ChangeIntake<T extends KubeObject> {
  readonly #parts: ChangeIntakeParts<T>;
  #isWaiting = false;

  constructor(parts: ChangeIntakeParts<T>) {
    this.#parts = parts;
  }

  /** What predicates and handler throw is told; they are asked again until they take the change, or the source ends. */
  take(change: Change<T>, queue: RequestQueue, signal: AbortSignal): void | Promise<void> {
    try {
      const waiting = this.#handle(change, queue);
      return waiting && this.#patiently(waiting, change).catch((error) => this.#retry(change, queue, signal, error));
    } catch (error) {
      return this.#retry(change, queue, signal, error);
    }
  }

  /** True while a predicate or handler cannot do its work as it reads a kind that the server does not serve yet. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  async #retry(change: Change<T>, queue: RequestQueue, signal: AbortSignal, first: unknown): Promise<void> {
    const { clock } = this.#parts.runtime;
    let error = first;
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      this.#tell(change, attempt, error);
      const longest = this.#isWaiting ? 5_000 : 30_000;
      await clock.sleep(Math.min(100 * 2 ** attempt, longest), { signal }).catch(() => {});
      if (signal.aborted) return;
      try {
        await this.#patiently(this.#handle(change, queue), change);
        this.#works();
        return;
      } catch (thrown) {
        error = thrown;
      }
    }
  }

  /** Waits for the handler, and says so if that takes long. */
  async #patiently(waiting: void | Promise<void>, { key }: Change<T>): Promise<void> {
    const { name: source, runtime } = this.#parts;
    const { clock, log } = runtime;
    let isSlow = false;
    const tell = () => {
      isSlow = true;
      log.warn('a handler has not ended yet: what comes behind this change waits', { source, key, afterMs: slowMs });
    };
    const startedMs = clock.monotonic();
    using _ = clock.after(slowMs, tell, { background: true });
    await waiting;
    if (!isSlow) return;
    log.info('the handler has ended', { source, key, afterMs: Math.round(clock.monotonic() - startedMs) });
  }

  #tell(change: Change<T>, attempt: number, error: unknown): void {
    const { name, runtime } = this.#parts;
    const { log } = runtime;
    const fields = { source: name, key: change.key, attempt, error };
    if (!isKindNotServed(error)) {
      this.#isWaiting = false;
      const words = 'a predicate or handler failed: asked again, and what comes behind it waits';
      log.error(words, { ...fields, ...failureFields(error) });
      return;
    }
    const words = 'a predicate or handler reads a kind that the server does not serve yet: asked again';
    if (this.#isWaiting) log.debug(words, fields);
    else log.warn(words, fields);
    this.#isWaiting = true;
  }

  #works(): void {
    if (!this.#isWaiting) return;
    this.#isWaiting = false;
    this.#parts.runtime.log.info('what the predicate or handler reads is served now', { source: this.#parts.name });
  }

  #handle(change: Change<T>, queue: RequestQueue): void | Promise<void> {
    const { name, kind, handler, predicates, cluster, runtime } = this.#parts;
    for (const predicate of predicates) if (!predicate(change)) return;
    const { type, key, metadata } = change;
    const cause = {
      source: name,
      change: type,
      object: `${kind ?? (change.new ?? change.old)?.kind} ${key}`,
      resourceVersion: metadata.resourceVersion,
      count: 1,
      atMs: runtime.clock.monotonic(),
    };
    const priority = change.isInInitialList || type === 'Sync' ? lowPriority : 0;
    return handler(change, (request, given) => {
      const placed = cluster === undefined ? request : clusterKey({ ...request, cluster });
      const { priority: wanted = priority, after } = given ?? {};
      if (after === undefined) {
        queue.add(placed, { note: [cause], priority: wanted });
        return;
      }
      const afterMs = durationMs(after, 'enqueue: after');
      queue.addAfter(placed, afterMs, { note: [{ ...cause, atMs: cause.atMs + afterMs }], priority: wanted });
    });
  }
}

/** Whether something was read, from the cache or the server, whose kind the server does not have. */
function isKindNotServed(error: unknown): boolean {
  // For an object that is not there the answer is a Status.
  return isNoMatch(error) || (isNotFound(error) && (isCacheSyncError(error) || isUnexpectedServerError(error)));
}
