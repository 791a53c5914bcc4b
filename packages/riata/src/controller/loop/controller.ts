import type { WorkItem } from '../../queue/queue-entry.js';
import { refuseUnknownOptions } from '../../runtime/option-names.js';
import { type Runtime, resolveRuntime } from '../../runtime/runtime.js';
import { onAbort } from '../../runtime/signals.js';
import { isLostLease, isStopReason, Removed, Shutdown, type StopReason } from '../../runtime/stop-reasons.js';
import { takeRejections } from '../../runtime/take-rejections.js';
import { TimeSlice } from '../../runtime/time/time-slice.js';
import { CallMemory } from '../calls/call-memory.js';
import { containedCall } from '../calls/contained-call.js';
import { ClusterShares } from '../cluster/cluster-shares.js';
import type { Source, SourceOptions } from '../source/source.js';
import { SourceFailures } from '../source/source-failures.js';
import type { ActiveReconcile } from './active-reconcile.js';
import type { ControllerHealth, ControllerPhase } from './controller-health.js';
import { ControllerMetrics } from './controller-metrics.js';
import {
  type ControllerOptions,
  type ControllerSettings,
  type ControllerWork,
  controllerNumbers,
  controllerWorkOptionNames,
} from './controller-options.js';
import { ControllerSources } from './controller-sources.js';
import { KeyAdmission } from './key-admission.js';
import { type ControllerQueue, makeControllerQueue } from './make-controller-queue.js';
import { type Outcome, Outcomes } from './outcomes.js';
import type { ReconcileRecord } from './reconcile-record.js';
import { reconcileFunction } from './reconciler.js';
import type { Cause, Request, RequestQueue } from './request.js';
import { refuseFixedOptions } from './restart-required-error.js';
import type { Result } from './result.js';
import { RunningReconciles, type SlowReconcile } from './running-reconciles.js';
import { SelfWakeBackoff } from './self-wake-backoff.js';
import { Workers } from './workers.js';

type Item = WorkItem<Request, readonly Cause[]>;

/**
 * The loop that turns keys into reconciles (`controller.Controller`; `controller.New`, `NewUnmanaged`): sources enqueue
 * keys, workers pass each key to the reconciler. It is what `control` definitions are run by, and works without a Manager.
 *
 * Guarantees: a key never runs twice at once. Nothing runs before all sources are synced and have enqueued what they know.
 * A key that failed is retried with backoff until it succeeds, throws a `TerminalError` or is given up; after a success,
 * failures are counted from zero. Nothing that a reconciler does, throws or returns ends the controller.
 */
export class Controller {
  readonly name: string;
  readonly queue: RequestQueue;
  readonly #reconciler: (reconcile: ActiveReconcile) => Result | Promise<Result>;
  readonly #runtime: Runtime;
  readonly #settings: ControllerSettings;
  readonly #metrics: ControllerMetrics;
  readonly #calls: CallMemory;
  readonly #sources: ControllerSources;
  readonly #sourceFailures: SourceFailures;
  readonly #workers: Workers;
  readonly #slice: TimeSlice;
  readonly #admission: KeyAdmission;
  readonly #running: RunningReconciles;
  readonly #outcomes: Outcomes;
  readonly #queueParts: ControllerQueue;
  readonly #selfWake: SelfWakeBackoff;
  readonly #shares: ClusterShares | undefined;
  readonly #stop = new AbortController();
  #clusters: readonly string[] = [];
  #phase: ControllerPhase = 'idle';
  #ran = false;
  #isHurried = false;
  #warm: Promise<void> | undefined;
  #draining: Disposable | undefined;

  constructor(name: string, work: ControllerWork) {
    refuseUnknownOptions(`controller "${name}"`, work, controllerWorkOptionNames);
    this.name = name;
    this.#reconciler = reconcileFunction(work.reconcile);
    this.#runtime = resolveRuntime(work.runtime);
    const settings = { work, numbers: controllerNumbers(name, work) };
    this.#settings = settings;
    this.#calls = work.calls ?? new CallMemory();
    const [runtime, { numbers }, calls] = [this.#runtime, settings, this.#calls];
    const { clock, log } = runtime;
    const metrics = new ControllerMetrics(runtime.metrics, name, numbers.concurrency);
    this.#metrics = metrics;
    this.#slice = TimeSlice.of(clock);
    this.#workers = new Workers(numbers.concurrency, (isNeeded) => this.#runWorker(isNeeded));
    this.#sourceFailures = new SourceFailures(name, runtime);
    this.#queueParts = makeControllerQueue(name, work, runtime, this.#sourceFailures);
    const { queue } = this.#queueParts;
    this.queue = queue;
    const [failures, { signal }] = [this.#sourceFailures, this.#stop];
    this.#sources = new ControllerSources({ controller: name, queue, settings, signal, runtime, failures });
    const call = containedCall(name, log);
    const selfWake = new SelfWakeBackoff(name, runtime, { isSlowing: work.selfWakeBackoff ?? true });
    const shares = work.perCluster ? new ClusterShares(numbers.concurrency, queue) : undefined;
    this.#selfWake = selfWake;
    this.#shares = shares;
    const outcomes = new Outcomes({ controller: name, settings, queue, clock, metrics, selfWake, calls, call });
    this.#outcomes = outcomes;
    this.#admission = new KeyAdmission({ queue, work, selfWake, shares, outcomes, metrics });
    this.#running = new RunningReconciles({ controller: name, runtime, settings, metrics, calls, call });
  }

  /**
   * Finished reconciles, oldest first: why each ran, how long it took, what it wrote. Then objects that led to none, as a
   * predicate, map function or the like fails for them (`not_enqueued`).
   */
  get explain(): readonly ReconcileRecord[] {
    return [...this.#running.records, ...this.#sourceFailures.records];
  }

  /**
   * Calls `listener` with the record of each reconcile as it ends, until the answer is disposed of. Records are made only
   * while there is a listener; one that throws is logged.
   */
  onReconciled(listener: (record: ReconcileRecord) => void): Disposable {
    return this.#running.onRecord(listener);
  }

  get health(): ControllerHealth {
    return {
      name: this.name,
      phase: this.#phase,
      waitingFor: this.#sources.unsynced,
      queued: this.queue.len() + this.#admission.waiting,
      delayed: this.queue.delayed() + this.#sourceFailures.retrying,
      nextDelayedMs: earlier(this.queue.nextDelayedMs(), this.#sourceFailures.nextRetryMs),
      active: this.#running.infos,
      failing: this.#sourceFailures.list,
    };
  }

  /** Keys of the reconciles in flight. */
  get activeKeys(): readonly Request[] {
    return this.#running.keys;
  }

  /** Reconciles that have taken this long: in flight, or ended within the last `withinMs`. */
  lasting(durationMs: number, withinMs: number): readonly SlowReconcile[] {
    return this.#running.lasting(durationMs, withinMs);
  }

  /** Aborts when it stops. */
  get stopping(): AbortSignal {
    return this.#stop.signal;
  }

  /** Adds a source. A running controller starts it at once, and processes its keys as they come (`Watch`). */
  async watch(source: Source, options: Pick<SourceOptions, 'takesEffect'> = {}): Promise<void> {
    await this.#sources.add(source, options);
  }

  /** Stops a source; keys that came from it stay in the queue. */
  unwatch(source: Source): void {
    this.#sources.remove(source);
  }

  /**
   * Resolves when these sources, which were added to a running controller, are synced. One that is not running yet waits
   * for them by itself.
   */
  async synced(sources: readonly Source[], options: { readonly signal: AbortSignal }): Promise<void> {
    if (this.#phase === 'warm' || this.#phase === 'running') await this.#sources.synced(sources, options);
  }

  /**
   * How it continues with other options: call the answer when they are to count. Throws for invalid ones, and a
   * `RestartRequiredError` for those that cannot change while it runs.
   */
  reconfigure(options: ControllerOptions): () => void {
    const { work } = this.#settings;
    const { reconcile, gate, setAside, perCluster, calls } = work;
    const next: ControllerWork = { ...options, reconcile, gate, setAside, perCluster, calls };
    refuseUnknownOptions(`controller "${this.name}"`, next, controllerWorkOptionNames);
    refuseFixedOptions(this.name, work, next);
    const numbers = controllerNumbers(this.name, next);
    const setQueue = this.#queueParts.replace(next);
    return () => {
      this.#settings.work = next;
      this.#settings.numbers = numbers;
      setQueue();
      this.#selfWake.isSlowing = next.selfWakeBackoff ?? true;
      this.#running.keep(numbers.history);
      if (this.#shares !== undefined) this.#shares.most = numbers.concurrency;
      this.spread(this.#clusters);
    };
  }

  /** Notes the keys of reconciles in flight, and of those that start until the answer is disposed of. */
  noteKeys(): Disposable & { readonly keys: Iterable<Request> } {
    return this.#running.noteKeys();
  }

  /** Resolves when the reconciles in flight now have ended. */
  settled(): Promise<void> {
    return this.#running.settled();
  }

  /** Keys to try first with new code: those that failed, and those that were reconciled last. Their failures are forgotten. */
  takeRecentKeys(): readonly Request[] {
    const failing = this.#outcomes.failing;
    for (const key of failing) this.#outcomes.forget(key);
    return [...failing, ...this.#running.recentKeys];
  }

  /**
   * Starts the sources, waits until they are synced, and reconciles until the signal aborts (`Start`). Resolves when the
   * last reconcile has ended. Rejects, with nothing left running, if a source cannot be started or synced. Runs once.
   */
  async run({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    if (this.#ran) throw new Error(`controller "${this.name}" cannot run twice; make another one`);
    this.#ran = true;
    using _stopping = onAbort(signal, () => this.#shutDown(signal.reason));
    using _contained = takeRejections(this.#calls.take);
    try {
      await this.warmUp();
      if (this.#stop.signal.aborted) return;
      this.#phase = 'running';
      const { concurrency } = this.#settings.numbers;
      this.#runtime.log.info('controller started', { controller: this.name, concurrency });
      await this.#workers.run();
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#shutDown(new Removed(`controller "${this.name}" has ended`));
      this.#draining?.[Symbol.dispose]();
      this.#phase = 'stopped';
    }
  }

  /**
   * Starts the sources and waits until they are synced, without reconciling: `run` then starts at once (`Warmup`). The
   * signal stops the sources if it aborts before `run` is called.
   */
  async warmUp({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    onAbort(signal, () => {
      if (this.#ran) return;
      this.#shutDown(signal?.reason);
      this.#phase = 'stopped';
    });
    if (this.#warm === undefined && !this.#stop.signal.aborted) {
      this.#phase = 'syncing';
      this.#warm = this.#startSources();
    }
    return this.#warm;
  }

  async #startSources(): Promise<void> {
    await this.#sources.start();
    if (this.#phase === 'syncing') this.#phase = 'warm';
  }

  /** Takes keys off the queue and reconciles them, one after the other. */
  async #runWorker(isNeeded: () => boolean): Promise<void> {
    const worker = {};
    while (isNeeded()) {
      // A reconcile that finds nothing to do awaits no I/O: without a pause, a thousand of them would be one turn of the loop.
      const pause = this.#slice.pass(worker);
      if (pause !== undefined) await pause;
      const ready = this.queue.tryGet();
      const item = ready ?? (await this.#nextItem(worker));
      if (item === undefined) return;
      // Fewer may be allowed than when it began to wait.
      if (ready === undefined && !isNeeded()) return this.#putBack(item);
      if (this.#stop.signal.aborted) {
        this.queue.done(item.key);
        continue;
      }
      const admitted = this.#admission.admit(item);
      if (admitted !== undefined) await this.#reconcile(admitted);
    }
  }

  /** A change may wake up the workers of a thousand controllers at once, so each of them passes the slice again. */
  async #nextItem(worker: object): Promise<Item | undefined> {
    const item = await this.queue.get();
    const pause = this.#slice.pass(worker);
    if (pause !== undefined) await pause;
    return item;
  }

  #putBack({ key, note, priority }: Item): void {
    this.queue.add(key, { note, priority });
    this.queue.done(key);
  }

  /** The life of one reconcile, from its key to its record. */
  async #reconcile(item: Item): Promise<void> {
    const reconcile = this.#running.start(item, this.#outcomes.attemptOf(item.key));
    let outcome: Outcome;
    try {
      const result = await this.#reconciler(reconcile);
      outcome = this.#outcomes.succeeded(reconcile, result);
    } catch (error) {
      outcome = this.#outcomes.failed(reconcile, error);
    }
    // The key must not run again while calls that the reconciler did not await are pending.
    if (reconcile.isPending) await reconcile.calls.drain();
    this.#admission.ended(item.key);
    this.#running.ended(reconcile, outcome);
  }

  /** Sets the clusters that it works on: each may take up `concurrency` workers; `''` is the one without a name. */
  spread(clusters: readonly string[]): void {
    const most = this.#settings.numbers.concurrency * Math.max(1, clusters.length);
    this.#clusters = clusters;
    this.#queueParts.keepClusters(clusters);
    this.#workers.target = most;
    this.#metrics.most(most);
  }

  /**
   * Stops the reconciles in flight whose keys match, and resolves when they have ended. They have the time of `drain` to
   * end by themselves, unless `atOnce`; then their signal aborts with `reason`. The gate has to keep others from starting.
   */
  endReconciles(
    matches: (key: Request) => boolean,
    reason: StopReason,
    { atOnce = false }: { readonly atOnce?: boolean } = {},
  ): Promise<void> {
    return this.#running.stopMatching(atOnce ? 0 : this.#settings.numbers.drainMs, reason, matches);
  }

  /** Reconciles that are stopping, now or later, get no more time: their signal aborts. */
  hurry(): void {
    this.#isHurried = true;
    const { aborted, reason } = this.#stop.signal;
    if (aborted) this.#drain(0, reason as StopReason);
  }

  #shutDown(reason: unknown): void {
    if (this.#stop.signal.aborted) return;
    this.#phase = 'stopping';
    const why = isStopReason(reason) ? reason : new Shutdown('the controller was stopped', { cause: reason });
    this.#stop.abort(why);
    this.queue.shutDown();
    // Keys that are ready are dropped: the next replica, or the next start, lists everything.
    while (this.queue.tryGet() !== undefined);
    // A lost lease ends the right to write at once.
    this.#drain(isLostLease(why) || this.#isHurried ? 0 : this.#settings.numbers.drainMs, why);
  }

  #drain(drainMs: number, why: StopReason): void {
    if (this.#running.size === 0) return;
    this.#draining?.[Symbol.dispose]();
    this.#draining = this.#running.stop(drainMs, why);
  }
}

function earlier(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Math.min(a, b);
}
