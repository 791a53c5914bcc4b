import type { WorkItem } from '../../queue/queue-entry.js';
import { refuseUnknownOptions } from '../../runtime/option-names.js';
import { type Runtime, resolveRuntime } from '../../runtime/runtime.js';
import { onAbort } from '../../runtime/signals.js';
import { isLostLease, isStopReason, Removed, Shutdown, type StopReason } from '../../runtime/stop-reasons.js';
import { takeRejections } from '../../runtime/take-rejections.js';
import { TimeSlice } from '../../runtime/time/time-slice.js';
import { CallMemory } from '../calls/call-memory.js';
import { containedCall } from '../calls/contained-call.js';
import type { ClusterLimiters } from '../cluster/cluster-limiters.js';
import { ClusterShares } from '../cluster/cluster-shares.js';
import type { Source } from '../source/source.js';
import { SourceFailures } from '../source/source-failures.js';
import type { ActiveReconcile } from './active-reconcile.js';
import type { ControllerHealth, ControllerPhase } from './controller-health.js';
import { ControllerMetrics } from './controller-metrics.js';
import {
  type ControllerNumbers,
  type ControllerWork,
  controllerNumbers,
  controllerWorkOptionNames,
} from './controller-options.js';
import { KeyAdmission } from './key-admission.js';
import { makeControllerQueue } from './make-controller-queue.js';
import { type Outcome, Outcomes } from './outcomes.js';
import type { ReconcileRecord } from './reconcile-record.js';
import { reconcileFunction } from './reconciler.js';
import type { Cause, Request, RequestQueue } from './request.js';
import type { Result } from './result.js';
import { RunningReconciles, type SlowReconcile } from './running-reconciles.js';
import { SelfWakeBackoff } from './self-wake-backoff.js';
import { startSources } from './start-sources.js';
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
  readonly #numbers: ControllerNumbers;
  readonly #metrics: ControllerMetrics;
  readonly #calls: CallMemory;
  readonly #sources: Source[] = [];
  readonly #unsynced = new Set<string>();
  readonly #sourceFailures: SourceFailures;
  readonly #workers: Workers;
  readonly #slice: TimeSlice;
  readonly #admission: KeyAdmission;
  readonly #running: RunningReconciles;
  readonly #outcomes: Outcomes;
  readonly #limiters: ClusterLimiters | undefined;
  readonly #stop = new AbortController();
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
    this.#numbers = controllerNumbers(name, work);
    this.#calls = work.calls ?? new CallMemory();
    const [runtime, numbers, calls] = [this.#runtime, this.#numbers, this.#calls];
    const { clock, log } = runtime;
    const metrics = new ControllerMetrics(runtime.metrics, name, numbers.concurrency);
    this.#metrics = metrics;
    this.#slice = TimeSlice.of(clock);
    this.#workers = new Workers(numbers.concurrency, (isNeeded) => this.#runWorker(isNeeded));
    this.#sourceFailures = new SourceFailures(name, runtime);
    const { queue, limiters } = makeControllerQueue(name, work, runtime, this.#sourceFailures);
    this.queue = queue;
    this.#limiters = limiters;
    const call = containedCall(name, log);
    const selfWake = new SelfWakeBackoff(name, runtime, { isSlowing: work.selfWakeBackoff ?? true });
    const shares = work.perCluster ? new ClusterShares(numbers.concurrency, queue) : undefined;
    const outcomes = new Outcomes({ controller: name, options: work, queue, clock, metrics, selfWake, calls, call });
    this.#outcomes = outcomes;
    this.#admission = new KeyAdmission({ queue, work, selfWake, shares, outcomes, metrics });
    this.#running = new RunningReconciles({ controller: name, runtime, numbers, metrics, calls, call });
  }

  /**
   * Finished reconciles, oldest first: why each ran, how long it took, what it wrote. Then objects that led to none, as a
   * predicate, map function or the like fails for them (`not_enqueued`).
   */
  get explain(): readonly ReconcileRecord[] {
    return [...this.#running.records, ...this.#sourceFailures.records];
  }

  get health(): ControllerHealth {
    return {
      name: this.name,
      phase: this.#phase,
      waitingFor: [...this.#unsynced],
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

  /** Adds a source. A running controller starts it at once, and processes its keys as they come (`Watch`). */
  async watch(source: Source): Promise<void> {
    const { signal } = this.#stop;
    if (this.#phase === 'idle') this.#sources.push(source);
    else await source.start(this.queue, { signal, runtime: this.#runtime, failures: this.#sourceFailures });
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
      const { concurrency } = this.#numbers;
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
    await startSources({
      ...{ controller: this.name, sources: this.#sources, queue: this.queue, unsynced: this.#unsynced },
      ...{ numbers: this.#numbers, runtime: this.#runtime, failures: this.#sourceFailures },
      signal: this.#stop.signal,
    });
    if (this.#phase === 'syncing') this.#phase = 'warm';
  }

  /** Takes keys off the queue and reconciles them, one after the other. */
  async #runWorker(isNeeded: () => boolean): Promise<void> {
    const worker = {};
    while (isNeeded()) {
      // A reconcile that finds nothing to do awaits no I/O: without a pause, a thousand of them would be one turn of the loop.
      const pause = this.#slice.pass(worker);
      if (pause !== undefined) await pause;
      const item = this.queue.tryGet() ?? (await this.#nextItem(worker));
      if (item === undefined) return;
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
    const most = this.#numbers.concurrency * Math.max(1, clusters.length);
    this.#limiters?.keep(clusters);
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
    return this.#running.stopMatching(atOnce ? 0 : this.#numbers.drainMs, reason, matches);
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
    this.#drain(isLostLease(why) || this.#isHurried ? 0 : this.#numbers.drainMs, why);
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
