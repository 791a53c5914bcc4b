import { formatKey } from '../object/key.js';
import type { WorkItem } from '../queue/queue-entry.js';
import type { Scheduler } from '../runtime/clock.js';
import { describeError } from '../runtime/describe-error.js';
import type { Logger } from '../runtime/logger.js';
import { AbortSource } from '../runtime/signals.js';
import { Removed } from '../runtime/stop-reasons.js';
import type { ReconcileOutcome, ReconcileRecord, ReconcileWrite } from './reconcile-record.js';
import type { ReconcileRun } from './reconciler.js';
import type { Cause, Request } from './request.js';

/** A reconcile that is running, as health shows it. */
export interface ActiveReconcileInfo {
  readonly key: Request;
  readonly reconcileID: string;
  readonly runningMs: number;
  /** Its time is over, and it goes on. */
  readonly isOverdue: boolean;
}

const mostWrites = 64;
/** One for all: the stack of each would say nothing, and takes longer to collect than all the rest of an end. */
const ended = new Removed('the reconcile has ended');

/** One reconcile, from the moment a worker has its key until it has ended. */
export class ActiveReconcile implements ReconcileRun {
  readonly key: Request;
  readonly reconcileID: string;
  readonly attempt: number;
  readonly priority: number;
  readonly reasons: readonly Cause[];
  readonly clock: Scheduler;
  /** On the monotonic clock. */
  readonly startedMs: number;
  readonly #controller: string;
  readonly #baseLog: Logger;
  readonly #startedAt: number;
  readonly #abort = new AbortSource();
  #isShown = false;
  readonly #writes: ReconcileWrite[] = [];
  readonly #pending = new Set<Promise<unknown>>();
  #failure: { readonly error: unknown } | undefined;
  #log: Logger | undefined;
  #overdue = false;

  constructor(parts: {
    readonly item: WorkItem<Request, readonly Cause[]>;
    readonly controller: string;
    readonly reconcileID: string;
    readonly attempt: number;
    readonly clock: Scheduler;
    readonly log: Logger;
  }) {
    const { item, controller, reconcileID, attempt, clock, log } = parts;
    this.key = item.key;
    this.priority = item.priority;
    this.reasons = item.note ?? [];
    this.reconcileID = reconcileID;
    this.attempt = attempt;
    this.startedMs = clock.monotonic();
    this.#controller = controller;
    this.clock = clock;
    this.#baseLog = log;
    this.#startedAt = clock.now();
  }

  get signal(): AbortSignal {
    this.#isShown = true;
    return this.#abort.signal;
  }

  /** The same for what the framework does itself, and waits for. */
  get innerSignal(): AbortSignal {
    return this.#abort.signal;
  }

  get log(): Logger {
    this.#log ??= this.#baseLog.child({
      controller: this.#controller,
      key: formatKey(this.key),
      ...(this.key.cluster && { cluster: this.key.cluster }),
      reconcileID: this.reconcileID,
    });
    return this.#log;
  }

  /** Its time is over. */
  get isOverdue(): boolean {
    return this.#overdue;
  }

  get info(): ActiveReconcileInfo {
    const { key, reconcileID, isOverdue } = this;
    return { key, reconcileID, isOverdue, runningMs: this.clock.monotonic() - this.startedMs };
  }

  abort(reason: unknown): void {
    this.#abort.abort(reason);
  }

  timeOut(reason: unknown): void {
    this.#overdue = true;
    this.abort(reason);
  }

  /** Notes a write, for `explain`. */
  wrote(write: ReconcileWrite): void {
    if (this.#writes.length < mostWrites) this.#writes.push(write);
  }

  /** Has the reconcile wait for this before it ends, and fail with it: a forgotten `await` must not cut it off. */
  track<T>(work: Promise<T>): Promise<T> {
    this.#pending.add(work);
    const settle = () => void this.#pending.delete(work);
    work.then(settle, (error: unknown) => {
      settle();
      this.#failure ??= { error };
    });
    return work;
  }

  /** Resolves when nothing that was begun is under way. Rejects if something that nobody waited for has failed. */
  async tracked(): Promise<void> {
    if (this.#pending.size === 0) return;
    this.#failure = undefined;
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
    // The one before was thrown where it was waited for, or was meant to be passed over.
    const failure = this.#failure as { readonly error: unknown } | undefined;
    if (failure !== undefined) throw failure.error;
  }

  /** What still waits on its signal is let go. */
  end(): void {
    if (this.#isShown || this.#abort.isWaitedFor) this.abort(ended);
  }

  record(end: {
    readonly outcome: ReconcileOutcome;
    readonly durationMs: number;
    readonly requeueAfterMs: number | undefined;
    readonly error: unknown;
  }): ReconcileRecord {
    const { outcome, durationMs, requeueAfterMs, error } = end;
    const { key, reconcileID, attempt, priority, reasons } = this;
    const since = reasons.reduce((earliest, { atMs }) => Math.min(earliest, atMs), this.startedMs);
    return {
      ...{ controller: this.#controller, key, reconcileID, attempt, priority, reasons, outcome, durationMs },
      startedAt: this.#startedAt,
      queuedMs: this.startedMs - since,
      ...(requeueAfterMs !== undefined && { requeueAfterMs }),
      ...(error !== undefined && { error: describeError(error) }),
      writes: [...this.#writes],
    };
  }
}
