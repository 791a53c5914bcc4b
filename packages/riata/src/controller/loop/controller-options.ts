import { type Duration, durationMs } from '../../object/duration.js';
import type { WorkItem } from '../../queue/queue-entry.js';
import type { WorkQueueOptions } from '../../queue/work-queue-options.js';
import { optionNames } from '../../runtime/option-names.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { CallMemory } from '../calls/call-memory.js';
import type { ActiveReconcile } from './active-reconcile.js';
import type { KeyGate } from './key-gate.js';
import type { Reconciler } from './reconciler.js';
import type { Cause, Request, RequestQueue } from './request.js';

/** The options of a controller's queue. */
export type RequestQueueOptions = WorkQueueOptions<Request, readonly Cause[]> & {
  readonly id: (key: Request) => string;
};

/** Options of a controller (`controller.Options`). */
export interface ControllerOptions {
  /**
   * Reconciles in flight at once; one key never runs twice at the same time (`MaxConcurrentReconciles`). Of a controller
   * that works on added clusters, in each of them, so that one that hangs takes no turns of the others. @default 1
   */
  readonly concurrency?: number;
  /**
   * How long failures wait; called once per controller, and for each added cluster that it works on (`RateLimiter`).
   * @default 5 ms doubling to 1,000 s, and 10 a second
   */
  readonly rateLimiter?: WorkQueueOptions<Request, never>['rateLimiter'];
  /** Makes the queue from the resolved options (`NewQueue`, `MakeQueue`). @default a `WorkQueue` */
  readonly newQueue?: (options: RequestQueueOptions) => RequestQueue;
  /** Urgent keys first: changes before objects of the first list (`UsePriorityQueue`). @default true */
  readonly priority?: WorkQueueOptions<Request, never>['priority'];
  /**
   * Keys of the same group take turns with those of others. `'namespace'`: by namespace, in each cluster. A key for which it
   * fails is in no group. @default no groups
   */
  readonly fairness?: 'namespace' | ((key: Request) => string);
  /**
   * A reconcile that takes longer is aborted by its signal, and tried again. One that ignores the signal keeps its key,
   * and log, metric and health name it (`ReconciliationTimeout`). @default 'never'
   */
  readonly timeout?: Duration | 'never';
  /** How long to wait after this error; undefined leaves it to the rate limiter. @default always undefined */
  readonly backoff?: (error: unknown, attempt: number) => Duration | undefined;
  /** After this many failures in a row a key is given up until it changes. @default 'never' given up */
  readonly maxRetries?: number | 'never';
  /** Called with each key that is given up; not awaited. Errors are logged. */
  readonly onGiveUp?: (key: Request, error: unknown, attempt: number) => unknown;
  /**
   * Slows down a key that wakes itself: after 20 reconciles in a row that only its own writes have caused, it waits, 100 ms
   * doubling to a minute. Changes by others are reconciled at once. @default true
   */
  readonly selfWakeBackoff?: boolean;
  /** How long what is watched may take to be synced, a kind that is not served yet excepted (`CacheSyncTimeout`). @default '2m' */
  readonly syncTimeout?: Duration | 'never';
  /** How long running reconciles get to end by themselves on shutdown, before their signal aborts. @default '15s' */
  readonly drain?: Duration;
  /** How many finished reconciles `explain` keeps. @default 256 */
  readonly history?: number;
  readonly runtime?: Partial<Runtime>;
}

export const controllerOptionNames = optionNames<ControllerOptions>({
  selfWakeBackoff: true,
  concurrency: true,
  rateLimiter: true,
  newQueue: true,
  priority: true,
  fairness: true,
  timeout: true,
  backoff: true,
  maxRetries: true,
  onGiveUp: true,
  syncTimeout: true,
  drain: true,
  history: true,
  runtime: true,
});

/** What a `Controller` is made of. */
export interface ControllerWork extends ControllerOptions {
  readonly reconcile: Reconciler<ActiveReconcile>;
  /** Which keys are this replica's; others are dropped before they run. @default all */
  readonly gate?: Pick<KeyGate, 'admits'>;
  /** Asked right before each reconcile. True: the key does not run now, and the function has to enqueue it later. @default none */
  readonly setAside?: (item: WorkItem<Request, readonly Cause[]>) => boolean;
  /** Whether `concurrency` and `rateLimiter` are for each cluster; see `Controller.spread`. @default false */
  readonly perCluster?: boolean;
  /** Which calls of user code belong to which reconcile. @default one of its own */
  readonly calls?: CallMemory;
}

export const controllerWorkOptionNames = controllerOptionNames.and<ControllerWork>({
  reconcile: true,
  gate: true,
  setAside: true,
  perCluster: true,
  calls: true,
});

/** Numbers of a controller's options, checked, with defaults filled in. */
export interface ControllerNumbers {
  /** The options as they were given, for messages. */
  readonly timeout: string;
  readonly syncTimeout: string;
  readonly concurrency: number;
  readonly history: number;
  readonly timeoutMs: number;
  readonly syncTimeoutMs: number;
  readonly drainMs: number;
}

/** The options of a controller as they are now: they may change while it runs. */
export interface ControllerSettings {
  work: ControllerWork;
  numbers: ControllerNumbers;
}

/** Throws a `TypeError` for an invalid number: now, and not when it is first needed. */
export function controllerNumbers(name: string, options: ControllerOptions): ControllerNumbers {
  const { concurrency = 1, maxRetries = 'never', history = 256 } = options;
  const { timeout = 'never', syncTimeout = '2m', drain = '15s' } = options;
  const requireCount = (what: string, count: number, least: number, or = '') => {
    if (Number.isSafeInteger(count) && count >= least) return;
    throw new TypeError(`controller "${name}": ${what} must be an integer ≥ ${least}${or}, got ${count}`);
  };
  requireCount('concurrency', concurrency, 1);
  requireCount('history', history, 0);
  if (maxRetries !== 'never') requireCount('maxRetries', maxRetries, 0, ' or "never"');
  return {
    ...{ concurrency, history, timeout, syncTimeout },
    timeoutMs: durationMs(timeout, `controller "${name}": timeout`),
    syncTimeoutMs: durationMs(syncTimeout, `controller "${name}": syncTimeout`),
    drainMs: durationMs(drain, `controller "${name}": drain`),
  };
}
