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
import type { NotedWrite } from './reconcile-record.js';
import type { ReconcileRun } from './reconciler.js';
import type { Cause, Request } from './request.js';

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

/** One reconcile, from the moment a worker has its key until it has ended. */
export class ActiveReconcile implements ReconcileRun {
  readonly key: Request;
  /** Drawn at the start: to read it later must not take from the randomness that others draw from. */
  readonly reconcileID: string;
  readonly attempt: number;
  readonly priority: number;
  readonly reasons: readonly Cause[];
  readonly clock: Scheduler;
  /** On the monotonic clock. */
  readonly startedMs: number;
  /** Wall time, in milliseconds since the epoch. */
  readonly startedAt: number;
  span: Span = noSpan;
  readonly #controller: string;
  readonly #runtime: Pick<Runtime, 'clock' | 'log' | 'random'>;
  readonly #memory: CallMemory;
  readonly #abort = new AbortSource({ mayFollow: true });
  #isShown = false;
  #writes: NotedWrite[] | undefined;
  #calls: TrackedCalls | undefined;
  #log: Logger | undefined;
  #timedOut = false;
  #ignoresAbort = false;
  #hasEnded = false;

  constructor(
    item: WorkItem<Request, readonly Cause[]>,
    controller: string,
    attempt: number,
    runtime: Pick<Runtime, 'clock' | 'log' | 'random'>,
    memory = new CallMemory(),
  ) {
    const { clock, random } = runtime;
    this.reconcileID = random.uuid();
    this.#memory = memory;
    this.key = item.key;
    this.priority = item.priority;
    this.reasons = item.note ?? none;
    this.attempt = attempt;
    this.clock = clock;
    this.startedMs = clock.monotonic();
    this.#controller = controller;
    this.#runtime = runtime;
    this.startedAt = clock.now();
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
    return this.#writes ?? noWrites;
  }

  /** The calls that user code makes through what it was given. */
  get calls(): TrackedCalls {
    this.#calls ??= this.callsOf('reconciler', this);
    if (this.#hasEnded) this.#calls.end();
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
  end(): void {
    this.#hasEnded = true;
    this.#calls?.end();
    this.#abort.unfollow();
    if (this.#isShown || this.#abort.isWaitedFor) this.abort(ended);
  }
}

const none: readonly Cause[] = [];
const noWrites: readonly NotedWrite[] = [];
