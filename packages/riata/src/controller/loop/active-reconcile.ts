import { formatKey } from '../../object/key.js';
import type { WorkItem } from '../../queue/queue-entry.js';
import type { Logger } from '../../runtime/log/logger.js';
import type { Runtime } from '../../runtime/runtime.js';
import { AbortSource } from '../../runtime/signals.js';
import { isStopReason, Removed } from '../../runtime/stop-reasons.js';
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
  /** It runs past its timeout, or ignores its aborted signal. */
  readonly isOverdue: boolean;
}

const mostWrites = 64;
/** One for all reconciles: a stack says nothing here, and collecting it takes longer than all the rest of an end. */
const ended = new Removed('the reconcile has ended');

/** A write as it is recorded; formatted when it is read. */
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
  readonly requeueAfterMs?: number | undefined;
  /** What it threw, as text. */
  readonly error?: string | undefined;
}

/** One reconcile, from the moment a worker has its key until it has ended, and then its record. */
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
  #timedOut = false;
  #ignoresAbort = false;
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

  /** The same for calls of the framework itself, which it awaits. */
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

  get isTimedOut(): boolean {
    return this.#timedOut;
  }

  /** Its signal has aborted by a shutdown or the like: it did not fail. A timeout is a failure. */
  get wasStopped(): boolean {
    const { signal } = this.#abort;
    return signal.aborted && isStopReason(signal.reason) && !this.#timedOut;
  }

  /** It runs past its timeout, or ignores its aborted signal. */
  get isOverdue(): boolean {
    return this.#timedOut || this.#ignoresAbort;
  }

  /** It still runs long after its signal has aborted. */
  ignoresAbort(): void {
    this.#ignoresAbort = true;
  }

  get info(): ActiveReconcileInfo {
    const { key, reconcileID, isOverdue } = this;
    return { key, reconcileID, isOverdue, runningMs: this.clock.monotonic() - this.startedMs };
  }

  abort(reason: unknown): void {
    this.#abort.abort(reason);
  }

  timeOut(reason: unknown): void {
    this.#timedOut = true;
    this.abort(reason);
  }

  /** Records a write, for `explain`. */
  wrote(write: NotedWrite): void {
    this.#writes ??= [];
    if (this.#writes.length < mostWrites) this.#writes.push(write);
  }

  get hasWritten(): boolean {
    return this.#writes !== undefined;
  }

  /** Its first 64 writes. */
  get noted(): readonly NotedWrite[] {
    return this.#writes ?? [];
  }

  /** The same, formatted. */
  get written(): readonly ReconcileWrite[] {
    return (this.#writes ?? []).map(describeWrite);
  }

  /** The calls that user code makes through what it was given. */
  get calls(): TrackedCalls {
    this.#calls ??= this.callsOf('reconciler', this);
    if (this.#end !== undefined) this.#calls.end();
    return this.#calls;
  }

  /** Calls of one of several user functions that run in this reconcile. */
  callsOf(caller: string, from: { readonly log: Logger }): TrackedCalls {
    return new TrackedCalls({ memory: this.#memory, clock: this.clock, log: () => from.log, caller });
  }

  /** Whether it has left calls behind that are pending, or failed with their promise unused. */
  get hasOpenCalls(): boolean {
    return this.#calls?.isOpen === true;
  }

  /** Whether any call is pending. */
  get isPending(): boolean {
    return this.#calls?.isPending === true;
  }

  /** Frees what still waits on its signal. */
  end(end: ReconcileEnd): void {
    this.#end = end;
    this.#calls?.end();
    this.#abort.unfollow();
    if (this.#isShown || this.#abort.isWaitedFor) this.abort(ended);
  }

  /** One debug line for each reconcile. */
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

  /** Its record, once it has ended. */
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
