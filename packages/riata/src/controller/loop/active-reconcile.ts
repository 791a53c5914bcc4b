import { formatKey } from '../../object/key.js';
import type { WorkItem } from '../../queue/queue-entry.js';
import type { Logger } from '../../runtime/log/logger.js';
import type { Runtime } from '../../runtime/runtime.js';
import { AbortSource } from '../../runtime/signals.js';
import { Removed } from '../../runtime/stop-reasons.js';
import type { Scheduler } from '../../runtime/time/clock.js';
import { noSpan, type Span } from '../../runtime/tracing.js';
import { CallMemory } from '../calls/call-memory.js';
import { TrackedCalls } from '../calls/tracked-calls.js';
import type { ReconcileOutcome, ReconcileRecord, ReconcileWrite } from './reconcile-record.js';
import type { ReconcileRun } from './reconciler.js';
import { type Cause, describeCause, type Request } from './request.js';

/** A reconcile that is running, as health shows it. */
export interface ActiveReconcileInfo {
  readonly key: Request;
  readonly reconcileID: string;
  readonly runningMs: number;
  /** Its time is over, or it was told to stop, and it goes on. */
  readonly isOverdue: boolean;
}

const mostWrites = 64;
/** One for all: the stack of each would say nothing, and takes longer to collect than all the rest of an end. */
const ended = new Removed('the reconcile has ended');

/** A write as it is noted; described when somebody looks. */
export interface NotedWrite {
  readonly verb: string;
  readonly kind: string;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly subresource: string | undefined;
  readonly resourceVersion: string | undefined;
}

/** How a reconcile ended. */
export interface ReconcileEnd {
  readonly outcome: ReconcileOutcome;
  readonly durationMs: number;
  readonly requeueAfterMs: number | undefined;
  /** What it threw, in words. */
  readonly error: string | undefined;
}

/** One reconcile, from the moment a worker has its key until it has ended, and then what is known of it. */
export class ActiveReconcile implements ReconcileRun {
  readonly key: Request;
  readonly attempt: number;
  readonly priority: number;
  readonly reasons: readonly Cause[];
  readonly clock: Scheduler;
  /** On the monotonic clock. */
  readonly startedMs: number;
  span: Span = noSpan;
  readonly #controller: string;
  readonly #runtime: Pick<Runtime, 'clock' | 'log' | 'random'>;
  readonly #startedAt: number;
  readonly #memory: CallMemory;
  readonly #abort = new AbortSource({ mayFollow: true });
  #id: string | undefined;
  #isShown = false;
  #writes: NotedWrite[] | undefined;
  #calls: TrackedCalls | undefined;
  #log: Logger | undefined;
  #overdue = false;
  #defiant = false;
  #end: ReconcileEnd | undefined;
  #record: ReconcileRecord | undefined;

  constructor(
    item: WorkItem<Request, readonly Cause[]>,
    controller: string,
    attempt: number,
    runtime: Pick<Runtime, 'clock' | 'log' | 'random'>,
    memory = new CallMemory(),
  ) {
    const { clock } = runtime;
    this.#memory = memory;
    this.key = item.key;
    this.priority = item.priority;
    this.reasons = item.note ?? none;
    this.attempt = attempt;
    this.clock = clock;
    this.startedMs = clock.monotonic();
    this.#controller = controller;
    this.#runtime = runtime;
    this.#startedAt = clock.now();
  }

  get reconcileID(): string {
    this.#id ??= this.#runtime.random.uuid();
    return this.#id;
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
    this.#log ??= this.#runtime.log.child({
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

  /** Its time is over, or it was told to stop, and it goes on. */
  get isDefiant(): boolean {
    return this.#overdue || this.#defiant;
  }

  /** It was told to stop, and goes on. */
  defy(): void {
    this.#defiant = true;
  }

  get info(): ActiveReconcileInfo {
    const { key, reconcileID, isDefiant: isOverdue } = this;
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
  wrote(write: NotedWrite): void {
    this.#writes ??= [];
    if (this.#writes.length < mostWrites) this.#writes.push(write);
  }

  get hasWritten(): boolean {
    return this.#writes !== undefined;
  }

  /** What it wrote: the first 64 of it. */
  get noted(): readonly NotedWrite[] {
    return this.#writes ?? [];
  }

  /** What it wrote, for people. */
  get written(): readonly ReconcileWrite[] {
    return (this.#writes ?? []).map(describeWrite);
  }

  /** The calls that user code makes through what it was given. */
  get calls(): TrackedCalls {
    this.#calls ??= this.callsOf('reconciler', this);
    if (this.#end !== undefined) this.#calls.end();
    return this.#calls;
  }

  /** Calls of one of several functions of the user's that run in this reconcile. */
  callsOf(caller: string, from: { readonly log: Logger }): TrackedCalls {
    return new TrackedCalls({ memory: this.#memory, clock: this.clock, log: () => from.log, caller });
  }

  /** Whether it has left calls behind that are pending, or have failed unseen. */
  get hasOpenCalls(): boolean {
    return this.#calls?.isOpen === true;
  }

  /** Whether any call is pending. */
  get isPending(): boolean {
    return this.#calls?.isPending === true;
  }

  /** What still waits on its signal is let go. */
  end(end: ReconcileEnd): void {
    this.#end = end;
    this.#calls?.end();
    this.#abort.unfollow();
    if (this.#isShown || this.#abort.isWaitedFor) this.abort(ended);
  }

  /** One line for each reconcile, where that is wanted. */
  logEnd(): void {
    if (!this.#runtime.log.enabled('debug')) return;
    const { outcome, durationMs, queuedMs, attempt, requeueAfterMs, reasons, writes } = this.record;
    this.log.debug('reconciled', {
      ...{ outcome, durationMs: Math.round(durationMs), queuedMs: Math.round(queuedMs), attempt },
      ...(requeueAfterMs !== undefined && { requeueAfterMs }),
      reasons: reasons.map(describeCause),
      writes: writes.map(({ verb, object }) => `${verb} ${object}`),
    });
  }

  /** What there is to say of it once it has ended. */
  get record(): ReconcileRecord {
    this.#record ??= this.#describe();
    return this.#record;
  }

  #describe(): ReconcileRecord {
    const { outcome, durationMs, requeueAfterMs, error } = this.#end as ReconcileEnd;
    const { key, reconcileID, attempt, priority, reasons } = this;
    const since = reasons.reduce((earliest, { atMs }) => Math.min(earliest, atMs), this.startedMs);
    return {
      ...{ controller: this.#controller, key, reconcileID, attempt, priority, reasons, outcome, durationMs },
      startedAt: this.#startedAt,
      queuedMs: this.startedMs - since,
      ...(requeueAfterMs !== undefined && { requeueAfterMs }),
      ...(error !== undefined && { error }),
      writes: this.written,
    };
  }
}

const none: readonly Cause[] = [];

function describeWrite({ verb, kind, namespace, name, subresource, resourceVersion }: NotedWrite): ReconcileWrite {
  const place = subresource === undefined ? '' : `/${subresource}`;
  return {
    verb,
    object: `${kind} ${formatKey({ namespace, name })}${place}`,
    ...(resourceVersion && { resourceVersion }),
  };
}
