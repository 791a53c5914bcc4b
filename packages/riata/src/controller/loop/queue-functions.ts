import type { FailingObject } from '../../cache/store/failing-objects.js';
import { keyId } from '../../object/key.js';
import {
  defaultControllerRateLimiter,
  type ItemRateLimiter,
  type RateLimiterContext,
} from '../../queue/item-rate-limiter.js';
import { describeError } from '../../runtime/log/describe-error.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { SourceFailures } from '../source/source-failures.js';
import { failureFields, readableError } from './failure-fields.js';
import type { Request } from './request.js';

const source = 'queue';
/** Deleted keys are not reported: a key that has not failed for this long is no longer shown. */
const shownMs = 600_000;
const mostShown = 100;

interface Failing {
  readonly key: string;
  readonly function: string;
  attempts: number;
  readonly sinceMs: number;
  lastMs: number;
  error: string;
  at: string | undefined;
}

/**
 * Calls your functions about keys for a controller's queue. Their failures must not keep any key from running: they are
 * logged, counted, and shown by health for ten minutes.
 */
export class QueueFunctions {
  readonly #runtime: Runtime;
  readonly #failures: SourceFailures;
  /** By function and key, in the order of their last failures. */
  readonly #failing = new Map<string, Failing>();

  constructor(runtime: Runtime, failures: SourceFailures) {
    this.#runtime = runtime;
    this.#failures = failures;
    failures.add({ name: source, cluster: undefined, objects: this, causesOf: () => [] });
  }

  /** A key for which it fails takes its turns with keys of no group. */
  fairness(group: (key: Request) => string): (key: Request) => string {
    return (key) =>
      this.#asked(
        'fairness',
        keyId(key),
        () => text(group(key)),
        () => '',
      );
  }

  /** A key for which it fails waits as long as the default limiter says. */
  rateLimiter(
    make: (context: RateLimiterContext) => ItemRateLimiter,
  ): (context: RateLimiterContext) => ItemRateLimiter {
    return (context) => {
      const limiter = make(context);
      const others = defaultControllerRateLimiter(context);
      const ask = <T>(id: string, given: () => T, instead: () => T) => this.#asked('rateLimiter', id, given, instead);
      return {
        when: (id) =>
          ask(
            id,
            () => milliseconds(limiter.when(id)),
            () => others.when(id),
          ),
        forget: (id) => {
          others.forget(id);
          ask(
            id,
            () => limiter.forget(id),
            () => {},
          );
        },
        numRequeues: (id) =>
          ask(
            id,
            () => limiter.numRequeues(id),
            () => others.numRequeues(id),
          ),
      };
    };
  }

  get size(): number {
    this.#prune();
    return this.#failing.size;
  }

  list(most = mostShown): readonly FailingObject[] {
    this.#prune();
    const nowMs = this.#runtime.clock.monotonic();
    return [...this.#failing.values()].slice(0, most).map(({ sinceMs, lastMs: _, at, ...shown }) => ({
      ...shown,
      failingMs: nowMs - sinceMs,
      ...(at !== undefined && { at }),
    }));
  }

  /** Keys run all the same. */
  get nextRetryMs(): undefined {
    return undefined;
  }

  #asked<T>(func: string, id: string, given: () => T, instead: () => T): T {
    try {
      const answer = given();
      if (this.#failing.size > 0 && this.#failing.delete(`${func} ${id}`)) this.#failures.changed(source);
      return answer;
    } catch (error) {
      this.#failed(func, id, readableError(error));
      return instead();
    }
  }

  #failed(func: string, key: string, error: unknown): void {
    const { clock, log } = this.#runtime;
    const nowMs = clock.monotonic();
    const message = describeError(error);
    const fields = failureFields(error);
    const at = typeof fields.at === 'string' ? fields.at : undefined;
    const id = `${func} ${key}`;
    const known = this.#failing.get(id);
    this.#failing.delete(id);
    this.#failing.set(id, {
      ...{ key, function: func, attempts: (known?.attempts ?? 0) + 1 },
      ...{ sinceMs: known?.sinceMs ?? nowMs, lastMs: nowMs, error: message, at },
    });
    const [oldest] = this.#failing.keys();
    if (this.#failing.size > mostShown && oldest !== undefined) this.#failing.delete(oldest);
    this.#failures.count(source, func);
    this.#failures.changed(source);
    const words = 'function of the queue failed for a key, which is enqueued with defaults';
    const details = { controller: this.#failures.controller, source, function: func, key, ...fields };
    if (known?.error === message || this.#failing.size === mostShown) log.debug(words, details);
    else log.error(words, details);
  }

  #prune(): void {
    const nowMs = this.#runtime.clock.monotonic();
    for (const [id, { lastMs }] of this.#failing) if (nowMs - lastMs >= shownMs) this.#failing.delete(id);
  }
}

function text(group: unknown): string {
  if (typeof group === 'string') return group;
  if (group instanceof Promise) group.catch(() => {});
  throw new TypeError(`fairness must return a string, got ${group === null ? 'null' : typeof group}`);
}

function milliseconds(wait: unknown): number {
  if (typeof wait === 'number' && !Number.isNaN(wait)) return wait;
  throw new TypeError(`rateLimiter must return milliseconds, got ${String(wait)}`);
}
