import { keyId } from '../../object/key.js';
import type { WorkItem } from '../../queue/queue-entry.js';
import { WorkQueue } from '../../queue/work-queue.js';
import { describeError } from '../../runtime/log/describe-error.js';
import { refuseUnknownOptions } from '../../runtime/option-names.js';
import { type Runtime, resolveRuntime } from '../../runtime/runtime.js';
import { onAbort } from '../../runtime/signals.js';
import { isLostLease, isStopReason, Removed, Shutdown, type StopReason, Timeout } from '../../runtime/stop-reasons.js';
import { TimeSlice } from '../../runtime/time/time-slice.js';
import { takeRejections } from '../../runtime/unhandled-rejections.js';
import { CallMemory } from '../calls/call-memory.js';
import { type ContainedCall, containedCall } from '../calls/contained-call.js';
import { ClusterLimiters } from '../cluster/cluster-limiters.js';
import { ClusterShares } from '../cluster/cluster-shares.js';
import type { Source } from '../source/source.js';
import { type FailingSourceObject, SourceFailures } from '../source/source-failures.js';
import { ActiveReconcile, type ActiveReconcileInfo } from './active-reconcile.js';
import { ControllerMetrics } from './controller-metrics.js';
import {
  type ControllerNumbers,
  type ControllerOptions,
  controllerNumbers,
  controllerOptionNames,
} from './controller-options.js';
import { EndingReconciles } from './ending-reconciles.js';
import { readableError } from './failure-fields.js';
import { judgeFailure } from './judge-failure.js';
import type { KeyGate } from './key-gate.js';
import { QueueFunctions } from './queue-functions.js';
import { type ReconcileOutcome, type ReconcileRecord, Ring } from './reconcile-record.js';
import { beginSpan, endSpan } from './reconcile-span.js';
import { type Reconciler, reconcileWith } from './reconciler.js';
import { type Cause, mergeCauses, type Request, type RequestQueue } from './request.js';
import { RestlessKeys } from './restless-keys.js';
import { requeueOf } from './result.js';
import { type SlowReconcile, SlowReconciles } from './slow-reconciles.js';
import { startSources } from './start-sources.js';
import { Workers } from './workers.js';

/** How a controller is doing, at the moment it was asked: a plain snapshot. */
export interface ControllerHealth {
  readonly name: string;
  readonly phase: ControllerPhase;
  /** Sources that are not synced yet; of a running one, added clusters that are not, as `cluster` and the name. */
  readonly waitingFor: readonly string[];
  readonly queued: number;
  /** Keys that wait for their time, and objects in `failing` that wait for a retry. */
  readonly delayed: number;
  /** Until the first of those is due, 0 if it is overdue; undefined if none waits. */
  readonly nextDelayedMs: number | undefined;
  readonly active: readonly ActiveReconcileInfo[];
  /** Objects that a predicate, map function or the like fails for, each retried while all others pass; the first 100. */
  readonly failing: readonly FailingSourceObject[];
}

/** What a {@link Controller} is made of. */
export interface ControllerWork extends ControllerOptions {
  readonly reconcile: Reconciler<ActiveReconcile>;
  /** Which keys are this replica's; others are dropped before they run. @default all */
  readonly gate?: Pick<KeyGate, 'admits'>;
  /** Asked right before each reconcile: true if the key is not to run now, and whoever says so sees to it. @default none */
  readonly setAside?: (item: WorkItem<Request, readonly Cause[]>) => boolean;
  /** Whether `concurrency` and `rateLimiter` are for each cluster; see {@link Controller.spread}. @default false */
  readonly perCluster?: boolean;
  /** Knows whose the calls of user code are. @default one of its own */
  readonly calls?: CallMemory;
}

export const controllerWorkOptionNames = controllerOptionNames.and<ControllerWork>({
  reconcile: true,
  gate: true,
  setAside: true,
  perCluster: true,
  calls: true,
});

/** `syncing`: waits for what it watches. `warm`: need not any more, and waits to be run. `running`: reconciles. */
export type ControllerPhase = 'idle' | 'syncing' | 'warm' | 'running' | 'stopping' | 'stopped';

/**
 * The loop that turns keys into reconciles (`controller.Controller`; `controller.New`, `NewUnmanaged`): sources put keys
 * into its queue, workers hand each to the reconciler. Below what `control` defines, and usable without a Manager.
 *
 * What may be relied on: a key never runs twice at once. Nothing runs before every source that can be synced is, and has
 * put what it knew into the queue. After a failure of any kind a key runs again, later each time, until it succeeds,
 * throws a `TerminalError` or is given up; after a success the count starts anew. Nothing that a reconciler does, throws
 * or returns ends the controller.
 */
export class Controller {
  readonly name: string;
  readonly queue: RequestQueue;
  readonly #options: ControllerWork;
  readonly #runtime: Runtime;
  readonly #metrics: ControllerMetrics;
  readonly #numbers: ControllerNumbers;
  readonly #sources: Source[] = [];
  readonly #unsynced = new Set<string>();
  readonly #active = new Set<ActiveReconcile>();
  /** Called whenever a reconcile has ended. */
  readonly #onEnded = new Set<() => void>();
  readonly #history: Ring<ActiveReconcile>;
  readonly #restless: RestlessKeys;
  readonly #slow = new SlowReconciles();
  readonly #call: ContainedCall;
  readonly #calls: CallMemory;
  readonly #slice: TimeSlice;
  readonly #workers: Workers;
  readonly #shares: ClusterShares | undefined;
  readonly #limiters: ClusterLimiters | undefined;
  readonly #sourceFailures: SourceFailures;
  /** By key id, in a row. */
  readonly #failures = new Map<string, number>();
  readonly #stop = new AbortController();
  #phase: ControllerPhase = 'idle';
  #ran = false;
  #isHurried = false;
  #warm: Promise<void> | undefined;
  #end: Disposable | undefined;

  constructor(name: string, options: ControllerWork) {
    refuseUnknownOptions(`controller "${name}"`, options, controllerWorkOptionNames);
    const { fairness, priority = true, rateLimiter, newQueue = (given) => new WorkQueue(given) } = options;
    this.name = name;
    this.#options = options;
    this.#calls = options.calls ?? new CallMemory();
    this.#numbers = controllerNumbers(name, options);
    this.#runtime = resolveRuntime(options.runtime);
    const { clock, random, metrics, log } = this.#runtime;
    this.#metrics = new ControllerMetrics(metrics, name, this.#numbers.concurrency);
    this.#history = new Ring(this.#numbers.history);
    this.#restless = new RestlessKeys(name, this.#runtime, { isSlowing: options.selfWakeBackoff ?? true });
    this.#call = containedCall(name, log);
    this.#slice = TimeSlice.of(clock);
    const { concurrency } = this.#numbers;
    this.#workers = new Workers(concurrency, (isWanted) => this.#work(isWanted));
    this.#shares = options.perCluster ? new ClusterShares(concurrency, () => this.queue) : undefined;
    this.#sourceFailures = new SourceFailures(name, this.#runtime);
    const functions = new QueueFunctions(this.#runtime, this.#sourceFailures);
    // What makes none is refused by the queue.
    const isLimited = rateLimiter === undefined || typeof rateLimiter === 'function';
    const limited = typeof rateLimiter === 'function' ? functions.rateLimiter(rateLimiter) : rateLimiter;
    this.#limiters = options.perCluster && isLimited ? new ClusterLimiters(limited) : undefined;
    this.queue = newQueue({
      ...{ name, id: keyId, merge: mergeCauses, priority, clock, random, metrics, log },
      rateLimiter: this.#limiters?.make ?? limited,
      fairness:
        fairness === 'namespace'
          ? ({ cluster, namespace = '' }) => keyId({ cluster, name: namespace })
          : fairness && functions.fairness(fairness),
    });
  }

  /**
   * Finished reconciles, oldest first: why each ran, how long it took, what it wrote. Then objects that led to none, as a
   * predicate, map function or the like fails for them (`not_enqueued`).
   */
  get explain(): readonly ReconcileRecord[] {
    return [...this.#history.items().map(({ record }) => record), ...this.#sourceFailures.records];
  }

  get health(): ControllerHealth {
    return {
      name: this.name,
      phase: this.#phase,
      waitingFor: [...this.#unsynced],
      queued: this.queue.len() + (this.#shares?.waiting ?? 0),
      delayed: this.queue.delayed() + this.#sourceFailures.retrying,
      nextDelayedMs: earlier(this.queue.nextDelayedMs(), this.#sourceFailures.nextRetryMs),
      active: [...this.#active].map((reconcile) => reconcile.info),
      failing: this.#sourceFailures.list,
    };
  }

  /** What is being reconciled. */
  *activeKeys(): Iterable<Request> {
    for (const { key } of this.#active) yield key;
  }

  /** Reconciles that last for so long, or did and have ended no longer than `withinMs` ago. */
  lasting(durationMs: number, withinMs: number): readonly SlowReconcile[] {
    const nowMs = this.#runtime.clock.monotonic();
    const active = [...this.#active].map(({ key, startedMs }) => ({ key, durationMs: nowMs - startedMs }));
    const slow = active.filter((each) => each.durationMs >= durationMs);
    return [...this.#slow.since(nowMs - withinMs, durationMs), ...slow];
  }

  /** Adds a source; of a running controller it is started at once, and its keys are worked on as they come (`Watch`). */
  async watch(source: Source): Promise<void> {
    if (this.#phase === 'idle') this.#sources.push(source);
    else {
      const { signal } = this.#stop;
      await source.start(this.queue, { signal, runtime: this.#runtime, failures: this.#sourceFailures });
    }
  }

  /**
   * Starts the sources, waits for them, and reconciles until the signal aborts (`Start`). Resolves when the last reconcile
   * has ended. Rejects, with nothing left running, if a source cannot be started or synced. Runs once.
   */
  async run({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    if (this.#ran) throw new Error(`controller "${this.name}" runs once: make another one`);
    this.#ran = true;
    using _stopping = onAbort(signal, () => this.#stopNow(signal.reason));
    using _contained = takeRejections(this.#calls.take);
    try {
      await this.warmUp();
      if (this.#stop.signal.aborted) return;
      this.#phase = 'running';
      const { concurrency } = this.#numbers;
      this.#runtime.log.info('controller runs', { controller: this.name, concurrency });
      await this.#workers.run();
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#stopNow(new Removed(`controller "${this.name}" has ended`));
      this.#end?.[Symbol.dispose]();
      this.#phase = 'stopped';
    }
  }

  /**
   * Starts the sources and waits until they are synced, without reconciling: `run` then begins at once (`Warmup`). The
   * signal ends the sources if it aborts before `run` was called.
   */
  async warmUp({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    onAbort(signal, () => {
      if (this.#ran) return;
      this.#stopNow(signal?.reason);
      this.#phase = 'stopped';
    });
    if (this.#warm === undefined && !this.#stop.signal.aborted) {
      this.#phase = 'syncing';
      this.#warm = this.#startSources();
    }
    return this.#warm;
  }

  /** Has workers for these clusters, each of which may take up `concurrency` of them; `''` is the one without a name. */
  spread(clusters: readonly string[]): void {
    const most = this.#numbers.concurrency * Math.max(1, clusters.length);
    this.#limiters?.keep(clusters);
    this.#workers.wanted = most;
    this.#metrics.most(most);
  }

  /**
   * Resolves when no reconcile runs of the keys that are meant. Those that do get `drain` to end by themselves, none if
   * it is to be `atOnce`, then their signal aborts with `reason`. That no others begin is up to the gate.
   */
  async endReconciles(
    isMeant: (key: Request) => boolean,
    reason: StopReason,
    { atOnce = false }: { readonly atOnce?: boolean } = {},
  ): Promise<void> {
    const meant = new Set([...this.#active].filter(({ key }) => isMeant(key)));
    if (meant.size === 0) return;
    const running = () => [...meant].filter((reconcile) => this.#active.has(reconcile));
    using _ = this.#ending(atOnce ? 0 : this.#numbers.drainMs, reason, running);
    await new Promise<void>((resolve) => {
      const look = () => {
        for (const reconcile of meant) if (this.#active.has(reconcile)) return;
        this.#onEnded.delete(look);
        resolve();
      };
      this.#onEnded.add(look);
    });
  }

  async #startSources(): Promise<void> {
    const { syncTimeoutMs } = this.#numbers;
    await startSources({
      ...{ controller: this.name, sources: this.#sources, queue: this.queue, unsynced: this.#unsynced },
      ...{ syncTimeout: this.#options.syncTimeout ?? '2m', syncTimeoutMs },
      ...{ signal: this.#stop.signal, runtime: this.#runtime, failures: this.#sourceFailures },
    });
    if (this.#phase === 'syncing') this.#phase = 'warm';
  }

  #stopNow(reason: unknown): void {
    if (this.#stop.signal.aborted) return;
    this.#phase = 'stopping';
    const why = isStopReason(reason) ? reason : new Shutdown('the controller was stopped', { cause: reason });
    this.#stop.abort(why);
    this.queue.shutDown();
    // What is ready is left: whoever comes next lists everything anyway.
    while (this.queue.tryGet() !== undefined);
    if (this.#active.size === 0) return;
    // A lost lease ends the right to write; otherwise those that run may end well.
    this.#endActive(isLostLease(why) || this.#isHurried ? 0 : this.#numbers.drainMs, why);
  }

  /** What is told to stop, or will be, is not given time to end by itself any more: its signal aborts. */
  hurry(): void {
    this.#isHurried = true;
    const { aborted, reason } = this.#stop.signal;
    if (aborted && this.#active.size > 0) this.#endActive(0, reason as StopReason);
  }

  #endActive(drainMs: number, why: StopReason): void {
    this.#end?.[Symbol.dispose]();
    this.#end = this.#ending(drainMs, why, () => this.#active);
  }

  #ending(drainMs: number, reason: StopReason, running: () => Iterable<ActiveReconcile>): EndingReconciles {
    const onDefiant = (reconcile: ActiveReconcile) => {
      reconcile.defy();
      this.#metrics.overdue(this.#countOverdue());
      reconcile.log.warn('was told to stop and goes on: its key waits until it has ended', { reason: reason.message });
    };
    return new EndingReconciles({ clock: this.#runtime.clock, drainMs, reason, running, onDefiant });
  }

  async #work(isWanted: () => boolean): Promise<void> {
    const worker = {};
    while (isWanted()) {
      // A reconcile that finds nothing to do awaits no I/O: without a pause, a thousand of them would be one turn of the loop.
      const pause = this.#slice.pass(worker);
      if (pause !== undefined) await pause;
      const item = this.queue.tryGet() ?? (await this.#nextItem(worker));
      if (item === undefined) return;
      if (this.#stop.signal.aborted) this.queue.done(item.key);
      else if (this.#options.gate?.admits(item.key) === false) this.#drop(item.key, () => this.#metrics.notInShard());
      else if (this.#options.setAside?.(item)) this.#drop(item.key);
      else if (this.#putOff(item)) continue;
      else await this.#processOrKeep(item);
    }
  }

  /** What has to wait for others of its cluster comes back by itself; how often it has failed stays. */
  #processOrKeep(item: WorkItem<Request, readonly Cause[]>): Promise<void> | void {
    const admitted = this.#shares === undefined ? item : this.#shares.admit(item);
    if (admitted !== undefined) return this.#process(admitted);
    this.queue.done(item.key);
  }

  /** A change may wake up the workers of a thousand controllers at once, so that each has to ask again. */
  async #nextItem(worker: object): Promise<WorkItem<Request, readonly Cause[]> | undefined> {
    const item = await this.queue.get();
    const pause = this.#slice.pass(worker);
    if (pause !== undefined) await pause;
    return item;
  }

  /** Leaves a key, which is no reconcile; if it comes back, it starts anew. */
  #drop(key: Request, count?: () => void): void {
    this.queue.forget(key);
    this.#failures.delete(keyId(key));
    count?.();
    this.queue.done(key);
    this.#shares?.next(key);
  }

  /** Has a key wait that wakes itself up. What others ask for meanwhile runs at once. */
  #putOff({ key, note = [], priority }: WorkItem<Request, readonly Cause[]>): boolean {
    const waitMs = this.#restless.waitMs(keyId(key), note);
    if (waitMs === 0) return false;
    this.queue.addAfter(key, waitMs, { note, priority });
    this.queue.done(key);
    this.#shares?.next(key);
    return true;
  }

  async #process(item: WorkItem<Request, readonly Cause[]>): Promise<void> {
    const { clock } = this.#runtime;
    const id = keyId(item.key);
    const failures = this.#failures.get(id) ?? 0;
    const reconcile = new ActiveReconcile(item, this.name, failures + 1, this.#runtime, this.#calls);
    this.#active.add(reconcile);
    this.#metrics.started();
    const { tracer } = this.#runtime;
    if (tracer.enabled) {
      reconcile.span = this.#call('tracer', () => beginSpan(tracer, this.name, reconcile)) ?? reconcile.span;
    }
    const { timeoutMs } = this.#numbers;
    const overdue =
      timeoutMs === Number.POSITIVE_INFINITY
        ? undefined
        : clock.after(timeoutMs, () => this.#overdue(reconcile), { background: true });
    let outcome: ReconcileOutcome = 'success';
    let error: string | undefined;
    let requeueAfterMs: number | undefined;
    try {
      const requeue = requeueOf(await reconcileWith(this.#options.reconcile, reconcile));
      if (requeue === 'rate-limited') {
        outcome = 'requeue';
        this.queue.addRateLimited(item.key, this.#again('requeue', item, 0));
      } else {
        this.queue.forget(item.key);
        this.#failures.delete(id);
        if (requeue !== 'none') {
          outcome = 'requeue_after';
          requeueAfterMs = requeue.afterMs;
          if (Number.isFinite(requeue.afterMs)) {
            this.queue.addAfter(item.key, requeue.afterMs, this.#again('requeueAfter', item, requeue.afterMs));
          }
        }
      }
      this.#metrics.result(outcome as 'success');
      this.#restless.succeeded(id, reconcile);
    } catch (thrown) {
      error = describeError(thrown);
      const readable = readableError(thrown);
      this.#calls.nameCaller(readable);
      this.#call('tracer', () => reconcile.span.error(thrown));
      outcome = this.#failed(item, id, failures + 1, readable, reconcile);
    } finally {
      // What a failed reconcile had begun is waited for, too: its key must not run again meanwhile.
      if (reconcile.isPending) await reconcile.calls.drain();
      overdue?.cancel();
      this.#active.delete(reconcile);
      if (reconcile.isDefiant) this.#metrics.overdue(this.#countOverdue());
      const endedMs = clock.monotonic();
      const durationMs = endedMs - reconcile.startedMs;
      this.#metrics.ended(durationMs);
      this.#slow.ended(reconcile, durationMs, endedMs);
      this.queue.done(item.key);
      this.#shares?.ended(item.key);
      reconcile.end({ outcome, durationMs, requeueAfterMs, error });
      this.#call('tracer', () => endSpan(reconcile.span, outcome));
      this.#history.add(reconcile);
      reconcile.logEnd();
      for (const ended of this.#onEnded) ended();
    }
  }

  /** Says when to try again, if at all. */
  #failed(
    item: WorkItem<Request, readonly Cause[]>,
    id: string,
    attempt: number,
    error: unknown,
    reconcile: ActiveReconcile,
  ): ReconcileOutcome {
    const { innerSignal: signal, log } = reconcile;
    // What was told to stop did not fail; a timeout did.
    if (signal.aborted && isStopReason(signal.reason) && !reconcile.isOverdue) return 'stopped';
    const [options, metrics, call] = [this.#options, this.#metrics, this.#call];
    const parts = { key: item.key, controller: this.name, options, metrics, log, call };
    const verdict = judgeFailure(error, attempt, parts);
    if (verdict.outcome !== 'error') {
      this.queue.forget(item.key);
      this.#failures.delete(id);
      return verdict.outcome;
    }
    this.#failures.set(id, attempt);
    const { retryAfterMs } = verdict;
    if (retryAfterMs === undefined) this.queue.addRateLimited(item.key, this.#again('retry', item, 0));
    else this.queue.addAfter(item.key, retryAfterMs, this.#again('retry', item, retryAfterMs));
    return 'error';
  }

  #again(source: string, item: WorkItem<Request, readonly Cause[]>, afterMs: number) {
    const atMs = this.#runtime.clock.monotonic() + afterMs;
    return { note: [{ source, count: 1, atMs }], priority: item.priority };
  }

  #overdue(reconcile: ActiveReconcile): void {
    const after = this.#options.timeout;
    reconcile.timeOut(new Timeout(`the reconcile took longer than ${after}`));
    this.#metrics.timedOut();
    this.#metrics.overdue(this.#countOverdue());
    reconcile.log.warn('the reconcile takes longer than allowed: aborted; its key waits until it has ended', { after });
  }

  #countOverdue(): number {
    let count = 0;
    for (const reconcile of this.#active) if (reconcile.isDefiant) count += 1;
    return count;
  }
}

function earlier(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Math.min(a, b);
}
