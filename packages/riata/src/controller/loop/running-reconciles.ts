import { formatKey, keyId } from '../../object/key.js';
import type { WorkItem } from '../../queue/queue-entry.js';
import type { Runtime } from '../../runtime/runtime.js';
import { type StopReason, Timeout } from '../../runtime/stop-reasons.js';
import type { Timer } from '../../runtime/time/clock.js';
import type { CallMemory } from '../calls/call-memory.js';
import type { ContainedCall } from '../calls/contained-call.js';
import { ActiveReconcile, type ActiveReconcileInfo } from './active-reconcile.js';
import type { ControllerMetrics } from './controller-metrics.js';
import type { ControllerSettings } from './controller-options.js';
import { FinishedReconcile } from './finished-reconcile.js';
import type { Outcome } from './outcomes.js';
import { ReconcileHistory } from './reconcile-history.js';
import type { ReconcileRecord } from './reconcile-record.js';
import { type Cause, describeCause, type Request } from './request.js';

/** A reconcile that took long, or still does. */
export interface SlowReconcile {
  readonly key: Request;
  readonly durationMs: number;
}

/** A reconcile that ignores its aborted signal for this long is reported. */
const patienceMs = 5_000;
/** Shorter reconciles are not kept as slow ones. */
const slowMs = 250;
const mostSlow = 16;

/** What {@link RunningReconciles} need. */
export interface RunningReconcilesParts {
  readonly controller: string;
  readonly runtime: Runtime;
  readonly settings: Pick<ControllerSettings, 'numbers'>;
  readonly metrics: ControllerMetrics;
  readonly calls: CallMemory;
  readonly call: ContainedCall;
}

/** The reconciles of one controller: those in flight, how they are stopped, and a history of those that ended. */
export class RunningReconciles {
  readonly #parts: RunningReconcilesParts;
  /** With the timer of its timeout. */
  readonly #active = new Map<ActiveReconcile, Timer | undefined>();
  readonly #history: ReconcileHistory;
  /** The last few that took long: a reconcile that has blocked the event loop is among them, though it has ended. */
  readonly #slow: (SlowReconcile & { readonly endedMs: number })[] = [];
  /** Where keys of reconciles that start are noted, by their ids. */
  readonly #noting = new Set<Map<string, Request>>();
  /** Called whenever a reconcile has ended. */
  readonly #onEnded = new Set<() => void>();
  readonly #listeners = new Set<(record: ReconcileRecord) => void>();

  constructor(parts: RunningReconcilesParts) {
    this.#parts = parts;
    const { controller, settings } = parts;
    this.#history = new ReconcileHistory({ controller, size: settings.numbers.history });
  }

  /** How many are in flight. */
  get size(): number {
    return this.#active.size;
  }

  get keys(): readonly Request[] {
    return [...this.#active.keys()].map(({ key }) => key);
  }

  get infos(): readonly ActiveReconcileInfo[] {
    return [...this.#active.keys()].map(({ info }) => info);
  }

  /** Ended reconciles, oldest first. */
  get records(): readonly ReconcileRecord[] {
    return this.#history.records;
  }

  /** Reconciles that have taken this long: in flight, or ended within the last `withinMs`. */
  lasting(durationMs: number, withinMs: number): readonly SlowReconcile[] {
    const nowMs = this.#parts.runtime.clock.monotonic();
    const ended = this.#slow.filter(({ endedMs }) => endedMs >= nowMs - withinMs);
    const active = [...this.#active.keys()].map(({ key, startedMs }) => ({ key, durationMs: nowMs - startedMs }));
    return [...ended, ...active].filter((each) => each.durationMs >= durationMs);
  }

  /** Calls a listener with each reconcile that ends, until the answer is disposed of. Without one, nothing is made. */
  onRecord(listener: (record: ReconcileRecord) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Begins a reconcile; the caller runs it, and calls {@link ended}. */
  start(item: WorkItem<Request, readonly Cause[]>, attempt: number): ActiveReconcile {
    const { controller, runtime, settings, metrics, calls, call } = this.#parts;
    const { timeout, timeoutMs } = settings.numbers;
    const { clock, tracer } = runtime;
    const reconcile = new ActiveReconcile(item, controller, attempt, runtime, calls);
    metrics.started();
    if (tracer.enabled) {
      const { key, reconcileID, priority } = reconcile;
      const place = { controller, key: formatKey(key), ...(key.cluster && { cluster: key.cluster }) };
      const attributes = { ...place, reconcileID, attempt, priority };
      reconcile.span = call('tracer', () => tracer.span('reconcile', attributes)) ?? reconcile.span;
    }
    const hasTimeout = timeoutMs !== Number.POSITIVE_INFINITY;
    const onTimeout = () => this.#timedOut(reconcile, timeout);
    this.#active.set(reconcile, hasTimeout ? clock.after(timeoutMs, onTimeout, { background: true }) : undefined);
    for (const keys of this.#noting) keys.set(keyId(reconcile.key), reconcile.key);
    return reconcile;
  }

  /** Records how a reconcile ended. */
  ended(reconcile: ActiveReconcile, outcome: Outcome): void {
    const { runtime, metrics, call } = this.#parts;
    this.#active.get(reconcile)?.cancel();
    this.#active.delete(reconcile);
    if (reconcile.isOverdue) this.#countOverdue();
    const endedMs = runtime.clock.monotonic();
    const durationMs = endedMs - reconcile.startedMs;
    metrics.ended(durationMs);
    if (durationMs >= slowMs) {
      if (this.#slow.length === mostSlow) this.#slow.shift();
      this.#slow.push({ key: reconcile.key, durationMs, endedMs });
    }
    reconcile.end();
    call('tracer', () => {
      reconcile.span.set({ outcome: outcome.outcome });
      reconcile.span.end();
    });
    this.#history.add(reconcile, outcome, durationMs);
    this.#logEnd(reconcile, outcome, durationMs);
    if (this.#listeners.size > 0) this.#publish(reconcile, outcome, durationMs);
    for (const notify of this.#onEnded) notify();
  }

  /**
   * Stops reconciles: after `drainMs`, in which they may finish, their signal aborts with `reason`. Those that ignore
   * it are reported. Dispose the result to cancel what has not happened yet.
   */
  stop(drainMs: number, reason: StopReason, isMeant: (reconcile: ActiveReconcile) => boolean = () => true): Disposable {
    const { clock } = this.#parts.runtime;
    const meant = () => [...this.#active.keys()].filter(isMeant);
    let timer: Timer | undefined;
    const abort = () => {
      for (const reconcile of meant()) reconcile.abort(reason);
      timer = clock.after(patienceMs, () => this.#reportIgnored(meant(), reason), { background: true });
    };
    if (drainMs === 0) abort();
    else timer = clock.after(drainMs, abort, { background: true });
    return { [Symbol.dispose]: () => timer?.cancel() };
  }

  /** As {@link stop}, for those in flight now whose keys match; resolves when they have ended. */
  async stopMatching(drainMs: number, reason: StopReason, matches: (key: Request) => boolean): Promise<void> {
    const meant = new Set([...this.#active.keys()].filter(({ key }) => matches(key)));
    if (meant.size === 0) return;
    using _ = this.stop(drainMs, reason, (reconcile) => meant.has(reconcile));
    await this.#ends(meant);
  }

  /** Resolves when the reconciles in flight now have ended. */
  async settled(): Promise<void> {
    if (this.#active.size > 0) await this.#ends(new Set(this.#active.keys()));
  }

  /** Notes the keys of reconciles in flight, and of those that start until the answer is disposed of. */
  noteKeys(): Disposable & { readonly keys: Iterable<Request> } {
    const noted = new Map(this.keys.map((key) => [keyId(key), key]));
    this.#noting.add(noted);
    const stop = () => void this.#noting.delete(noted);
    return { keys: { [Symbol.iterator]: () => noted.values() }, [Symbol.dispose]: stop };
  }

  /** Keys of reconciles that have ended, each once, the newest first. */
  get recentKeys(): Iterable<Request> {
    const keys = this.records.map(({ key }) => [keyId(key), key] as const);
    return new Map(keys.reverse()).values();
  }

  /** Keeps this many records. */
  keep(size: number): void {
    this.#history.keep(size);
  }

  #ends(meant: ReadonlySet<ActiveReconcile>): Promise<void> {
    return new Promise<void>((resolve) => {
      const check = () => {
        for (const reconcile of meant) if (this.#active.has(reconcile)) return;
        this.#onEnded.delete(check);
        resolve();
      };
      this.#onEnded.add(check);
    });
  }

  /** One debug line for each reconcile. */
  #logEnd(reconcile: ActiveReconcile, outcome: Outcome, durationMs: number): void {
    const { controller, runtime } = this.#parts;
    if (!runtime.log.enabled('debug')) return;
    const finished = new FinishedReconcile(reconcile, outcome, durationMs).describe(controller);
    const { queuedMs, attempt, requeueAfterMs, reasons, writes } = finished;
    reconcile.log.debug('reconciled', {
      ...{ outcome: outcome.outcome, durationMs: Math.round(durationMs), queuedMs: Math.round(queuedMs), attempt },
      ...(requeueAfterMs !== undefined && { requeueAfterMs }),
      reasons: reasons.map(describeCause),
      writes: writes.map(({ verb, object }) => `${verb} ${object}`),
    });
  }

  #publish(reconcile: ActiveReconcile, outcome: Outcome, durationMs: number): void {
    const { controller, call } = this.#parts;
    const record = new FinishedReconcile(reconcile, outcome, durationMs).describe(controller);
    for (const listener of this.#listeners) call('listener of reconciles', () => listener(record));
  }

  #timedOut(reconcile: ActiveReconcile, after: string): void {
    reconcile.timeOut(new Timeout(`the reconcile took longer than ${after}`));
    this.#parts.metrics.timedOut();
    this.#countOverdue();
    reconcile.log.warn('reconcile exceeded its timeout, aborted; its key waits until it has ended', { after });
  }

  #reportIgnored(reconciles: readonly ActiveReconcile[], reason: StopReason): void {
    for (const reconcile of reconciles) {
      reconcile.ignoresAbort();
      const fields = { reason: reason.message };
      reconcile.log.warn('reconcile ignored its abort signal; its key waits until it has ended', fields);
    }
    this.#countOverdue();
  }

  #countOverdue(): void {
    let count = 0;
    for (const reconcile of this.#active.keys()) if (reconcile.isOverdue) count += 1;
    this.#parts.metrics.overdue(count);
  }
}
