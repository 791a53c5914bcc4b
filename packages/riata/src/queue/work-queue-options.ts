import type { Logger } from '../runtime/log/logger.js';
import type { Metrics } from '../runtime/metrics.js';
import { optionNames, refuseUnknownOptions } from '../runtime/option-names.js';
import type { Random } from '../runtime/random.js';
import type { Scheduler } from '../runtime/time/clock.js';
import { defaultControllerRateLimiter, type ItemRateLimiter, type RateLimiterContext } from './item-rate-limiter.js';

/** How a `WorkQueue` names, orders and delays its keys. */
export interface WorkQueueOptions<K = string, Note = undefined> {
  /** For messages, and the label `name` of the metrics; a queue without one is not measured. @default '' */
  readonly name?: string;
  /**
   * Keys with the same id are the same key. Has to be given unless keys are strings.
   * @default the key itself
   */
  readonly id?: (key: K) => string;
  /** Makes one note of two when adds of a key come together. @default the later one */
  readonly merge?: (earlier: Note, later: Note) => NoInfer<Note>;
  /**
   * Makes the limiter behind `addRateLimited`. A function, called once per queue: options may be handed to many
   * queues without these sharing the limiter's memory. @default defaultControllerRateLimiter
   */
  readonly rateLimiter?: (context: RateLimiterContext) => ItemRateLimiter;
  /** Hands out keys of higher priority first. @default false */
  readonly priority?: boolean | PriorityOptions;
  /**
   * The group of a key, such as its namespace: groups take turns, so that one with many keys does not hold up the
   * others. With `priority`, they take turns among keys of equal priority. An add for which it throws is refused; it
   * has to say the same each time. @default no groups
   */
  readonly fairness?: (key: K) => string;
  /** @default systemClock */
  readonly clock?: Scheduler;
  /** For the rate limiter. @default systemRandom */
  readonly random?: Random;
  /** @default noMetrics */
  readonly metrics?: Metrics;
  /** For a `merge` or `fairness` that fails when a delayed key's time comes. @default consoleLogger() */
  readonly log?: Logger;
}

export const workQueueOptionNames = optionNames<WorkQueueOptions<unknown, unknown>>({
  id: true,
  name: true,
  rateLimiter: true,
  merge: true,
  priority: true,
  fairness: true,
  clock: true,
  random: true,
  metrics: true,
  log: true,
});

/** How priorities work. */
export interface PriorityOptions {
  /**
   * A ready key that has waited this long no longer starves: while there is one, every second key handed out is the
   * one that has waited longest. `Infinity` keeps strictly to priorities. @default 60_000
   */
  readonly agingMs?: number;
}

export const priorityOptionNames = optionNames<PriorityOptions>({ agingMs: true });

/** The function behind the option `rateLimiter`. Throws for a limiter, which queues must not share. */
export function limiterOf(
  name: string,
  rateLimiter: (context: RateLimiterContext) => ItemRateLimiter = defaultControllerRateLimiter,
): (context: RateLimiterContext) => ItemRateLimiter {
  if (typeof rateLimiter === 'function') return rateLimiter;
  throw new TypeError(
    `queue "${name}": rateLimiter must be a function that creates the limiter: () => itemExponentialFailureRateLimiter()`,
  );
}

const defaultAgingMs = 60_000;

/** The time after which keys no longer starve, by the option `priority`. */
export function agingMsOf(name: string, priority: boolean | PriorityOptions): number {
  if (typeof priority !== 'object') return defaultAgingMs;
  refuseUnknownOptions(`queue "${name}": priority`, priority, priorityOptionNames);
  const { agingMs = defaultAgingMs } = priority;
  if (agingMs >= 0) return agingMs;
  throw new RangeError(`queue "${name}": priority.agingMs must be milliseconds ≥ 0, got ${agingMs}`);
}

/** The options are needed for their `id` unless keys are strings. */
export type WorkQueueArguments<K, Note> = [K] extends [string]
  ? [options?: WorkQueueOptions<K, Note>]
  : [options: WorkQueueOptions<K, Note> & { readonly id: (key: K) => string }];

/** Options of an added key. */
export interface AddOptions<Note = undefined> {
  /** Handed out with the key, merged with the notes of other adds. @default none */
  readonly note?: Note;
  /** Higher comes first in a queue with `priority`; of several adds the highest counts. @default 0 */
  readonly priority?: number;
}

/** Options of calls that wait for a key, or for the end of all work. */
export interface WaitOptions {
  /** Ends the wait: the promise rejects with its reason. */
  readonly signal?: AbortSignal;
}
