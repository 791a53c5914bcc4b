import { Cache } from '../cache/cache.js';
import { type ConnectedClient, createClient } from '../client/create-client.js';
import { delegatingClient } from '../client/delegating-client.js';
import type { Client, Reader } from '../client/interfaces.js';
import type { KubeClient } from '../client/kube-client.js';
import { trackedConnection, trackedReader } from '../controller/calls/tracked-client.js';
import { UnownedCalls } from '../controller/calls/unowned-calls.js';
import type { ControllerDefinition } from '../controller/define/controller-definition.js';
import type { ControllerHealth } from '../controller/loop/controller-health.js';
import { failureFields } from '../controller/loop/failure-fields.js';
import type { ReconcileRecord } from '../controller/loop/reconcile-record.js';
import { durationMs } from '../object/duration.js';
import type { Scheme } from '../object/scheme.js';
import { loadConfig } from '../rest/config/load-config.js';
import type { RestConfig } from '../rest/config/rest-config.js';
import { type Runtime, resolveRuntime } from '../runtime/runtime.js';
import { abortable, link, onAbort } from '../runtime/signals.js';
import { isLostLease, Shutdown } from '../runtime/stop-reasons.js';
import { takeRejections } from '../runtime/unhandled-rejections.js';
import type { Cluster, ClusterSet } from './clusters/cluster.js';
import { Clusters } from './clusters/clusters.js';
import { LeaderElector } from './election/leader-elector.js';
import { LeaseLock } from './election/lease-lock.js';
import { EventBroadcaster } from './events/event-broadcaster.js';
import type { EventRecorder } from './events/event-recorder.js';
import { ManagedControllers } from './managed-controllers.js';
import type { ExitCause, ManagerExit } from './manager-exit.js';
import { checkManagerOptions, type ManagerOptions } from './manager-options.js';
import { type HealthCheck, HealthChecks } from './probes/health-checks.js';
import type { HttpEndpoint } from './probes/http-endpoint.js';
import { LoopMonitor, type LoopMonitorParts } from './probes/loop-monitor.js';
import { addManagerChecks } from './probes/manager-checks.js';
import { assertDebugGuarded, endpointsFor } from './probes/manager-endpoints.js';
import { loadPromMetrics, type PromRegistry } from './probes/prom-metrics.js';
import { assertRunnable, type Runnable, type RunnableStage, startOrder } from './runnable.js';
import { RunnableGroup } from './runnable-group.js';
import { ManagerShards } from './sharding/manager-shards.js';
import type { ShardRing } from './sharding/shard-ring.js';
import { watchStopping } from './stopping.js';

/** When so much of the time for stopping is over, reconciles are not left to end by themselves any more. */
const hurriedShare = 2 / 3;

/** For those whose turn to stop did not come in time. */
const lastMomentMs = 500;

/** What was added to a manager. */
export interface Added {
  /** Stops it, and resolves when it has ended; the rest goes on. Who is part of it, a reconciler say, cannot wait for that. */
  remove(): Promise<void>;
}

/**
 * All that an operator process needs, started and stopped in order (`manager.Manager`): one connection, one cache for all
 * controllers, leader election, probes and metrics.
 *
 * @example
 * await using manager = await Manager.create({ leaderElection: { namespace: 'shop', name: 'carts' } });
 * manager.add(carts);
 * const exit = await manager.run({ signal });
 */
export class Manager implements AsyncDisposable {
  /** Reads declared kinds from the cache, with own writes; writes to the server (`GetClient`). */
  readonly client: Client;
  /** Reads from the server, always (`GetAPIReader`). */
  readonly apiReader: Reader;
  /** What all controllers read from (`GetCache`); its `indexField` adds field indexes (`GetFieldIndexer`). */
  readonly cache: Cache;
  /** The connection that everything uses: for what is built over it, such as a `SharedControllerFactory`. */
  readonly connection: ConnectedClient;
  readonly #connection: ConnectedClient;
  readonly #calls: UnownedCalls;
  readonly #ownsConnection: boolean;
  readonly #options: ManagerOptions;
  readonly #runtime: Runtime;
  readonly #gracefulMs: number;
  readonly #registry: PromRegistry | undefined;
  readonly #endpoints: HttpEndpoint[] = [];
  readonly #groups: Readonly<Record<RunnableStage, RunnableGroup>>;
  readonly #controllers: ManagedControllers;
  readonly #clusters: Clusters;
  readonly #events: EventBroadcaster;
  readonly #healthz = new HealthChecks();
  readonly #readyz = new HealthChecks();
  readonly #elector: LeaderElector | undefined;
  readonly #shards: ManagerShards | undefined;
  readonly #stop = new AbortController();
  readonly #elected: { readonly promise: Promise<void>; resolve(): void };
  #hasLed = false;
  #cause: ExitCause | undefined;
  #ran: Promise<ManagerExit> | undefined;
  #phase: 'idle' | 'starting' | 'running' | 'stopping' | 'stopped' = 'idle';

  /** `registry`: what `/metrics` shows, for those who count by `runtime.metrics` of their own. @default one of its own */
  constructor(options: ManagerOptions, registry?: PromRegistry) {
    checkManagerOptions(options);
    const { config, client } = options;
    this.#options = options;
    const isCounted = options.metrics === undefined || registry !== undefined || options.runtime?.metrics !== undefined;
    const prom = isCounted ? undefined : loadPromMetrics();
    this.#registry = registry ?? prom?.registry;
    this.#runtime = resolveRuntime({ ...options.runtime, ...(prom && { metrics: prom.metrics }) });
    this.#gracefulMs = durationMs(options.gracefulTimeout ?? '30s', 'Manager: gracefulTimeout');
    if (options.metrics !== undefined) assertDebugGuarded(options.metrics);
    if (config === undefined && client === undefined) {
      throw new TypeError('Manager: give a config or a client, or use Manager.create, which looks for a config');
    }
    this.#ownsConnection = client === undefined;
    this.#connection =
      client ?? createClient(config as RestConfig, { ...options.clientOptions, runtime: this.#runtime });
    this.cache = new Cache(this.#connection, { ...options.cache, runtime: this.#runtime });
    this.#calls = new UnownedCalls(this.#runtime, () => this.#controllers.inFlight);
    const { track } = this.#calls;
    this.connection = trackedConnection(this.#connection, track);
    this.apiReader = this.connection;
    const cacheReader = trackedReader(this.cache, track);
    this.client = delegatingClient({ cacheReader, client: this.connection, uncached: options.uncached });
    this.#events = new EventBroadcaster(this.#connection, { ...options.events, runtime: this.#runtime });
    const onFailure = (runnable: Runnable, error: unknown) => this.#fail(runnable.name, error);
    this.#groups = Object.fromEntries(
      startOrder.map((stage) => [stage, new RunnableGroup(onFailure)]),
    ) as unknown as Readonly<Record<RunnableStage, RunnableGroup>>;
    let resolve = () => {};
    const promise = new Promise<void>((done) => {
      resolve = done;
    });
    this.#elected = { promise, resolve };
    this.#controllers = new ManagedControllers({
      ...{ client: this.#connection, cache: this.cache, uncached: options.uncached, events: this.#events },
      ...{ defaults: options.controllers, runtime: this.#runtime, clusters: () => this.#clusters },
    });
    const onAdd = (cluster: Cluster) => this.#controllers.clusterAdded(cluster);
    this.#clusters = new Clusters({ runtime: this.#runtime, options, track, onAdd });
    this.#elector = this.#makeElector();
    const { sharding } = options;
    this.#shards = sharding && new ManagerShards(sharding, this.#connection, this.#runtime);
    if (this.#shards !== undefined) this.#groups.others.add(this.#shards);
    const [elector, ring] = [this.#elector, this.#shards?.ring];
    const asked = { healthz: this.#healthz, readyz: this.#readyz, cache: this.cache, clusters: this.#clusters };
    const controllers = () => this.#controllers.health;
    addManagerChecks({ ...asked, elector, ring, controllers, active: () => this.#controllers.active });
  }

  /** As the constructor, with a config that is looked for where programs look: `KUBECONFIG`, in the cluster, at home. */
  static async create(options: ManagerOptions = {}): Promise<Manager> {
    const isPlaced = options.config !== undefined || options.client !== undefined;
    return new Manager(isPlaced ? options : { ...options, config: await loadConfig() });
  }

  /** Where probes and metrics are served, by the name of the server; once it runs. */
  get urls(): Readonly<Record<string, string | undefined>> {
    return Object.fromEntries(this.#endpoints.map(({ name, url }) => [name, url]));
  }

  /** The same connection for what runs on the leader alone: writes start only while this replica leads. */
  get leaderClient(): KubeClient {
    return this.#elector === undefined ? this.connection : this.connection.wrap(this.#elector.fence);
  }

  /** Clock, chance, log and metrics that all of it goes by. */
  get runtime(): Runtime {
    return this.#runtime;
  }

  /** The connection's (`GetScheme`). */
  get scheme(): Scheme {
    return this.#connection.scheme;
  }

  /** What it was given; undefined if it was given a client (`GetConfig`). */
  get config(): RestConfig | undefined {
    return this.#options.config;
  }

  /** Resolves when this replica leads, at once without leader election (`Elected`). */
  get elected(): Promise<void> {
    return this.#elected.promise;
  }

  /** How the work of sharded controllers is shared; undefined without `sharding`. */
  get shards(): ShardRing | undefined {
    return this.#shards?.ring;
  }

  /** Clusters beside its own, which come and go; see `ControlOptions.clusters` for who works on them. */
  get clusters(): ClusterSet {
    return this.#clusters;
  }

  /** Tells of what happens to objects, in the name of a component (`GetEventRecorderFor`). */
  eventRecorder(name: string): EventRecorder {
    return this.#events.recorder(name);
  }

  /** Controllers, and how they are doing. */
  get controllers(): readonly ControllerHealth[] {
    return this.#controllers.health;
  }

  /**
   * Finished reconciles of all controllers: why each ran, how long it took, what it wrote. Oldest first. Among them objects
   * that led to no reconcile, as a predicate, map function or the like fails for them (`not_enqueued`).
   */
  get explain(): readonly ReconcileRecord[] {
    return this.#controllers.explain;
  }

  /**
   * Adds a controller, or anything else that is to run, at any time (`Add`). Controllers run on the replica that leads,
   * those that are sharded or for every replica, and all the rest, on every one, unless `stage` says otherwise: here, or
   * as part of a runnable.
   */
  add(what: ControllerDefinition | Runnable, options: { readonly stage?: RunnableStage } = {}): Added {
    if (this.#phase === 'stopping' || this.#phase === 'stopped') {
      throw new Error('the manager has stopped: nothing can be added any more');
    }
    if (typeof what === 'object' && 'reconciler' in what) {
      const { sharded, everyReplica } = what.options;
      const isEverywhere = everyReplica || (this.#shards !== undefined && sharded);
      return this.#addController(what, options.stage ?? (isEverywhere ? 'others' : 'leader'));
    }
    assertRunnable(what);
    return { remove: this.#groups[options.stage ?? what.stage ?? 'others'].add(what) };
  }

  /** A check of `/healthz`: while it throws, this process should be restarted (`AddHealthzCheck`). */
  addHealthzCheck(name: string, check: HealthCheck): void {
    this.#healthz.add(name, check);
  }

  /** A check of `/readyz`: while it throws, this process is not ready (`AddReadyzCheck`). */
  addReadyzCheck(name: string, check: HealthCheck): void {
    this.#readyz.add(name, check);
  }

  /**
   * Runs everything until the signal aborts, something fails, or the lease is lost; then stops all in reverse order, and
   * resolves to the reason (`Start`). No connection stays open then, and the client still works. Rejects only if it was run before.
   */
  async run(options: { readonly signal: AbortSignal }): Promise<ManagerExit> {
    if (this.#phase !== 'idle') throw new Error('a manager runs once: make another one');
    this.#phase = 'starting';
    this.#ran = this.#run(options);
    return this.#ran;
  }

  async #run({ signal }: { readonly signal: AbortSignal }): Promise<ManagerExit> {
    using _asked = onAbort(signal, () => this.#end({ reason: 'stopped' }));
    const lasting: LoopMonitorParts['lasting'] = (...times) => this.#controllers.lasting(...times);
    const loop = new LoopMonitor({ ...this.#runtime, lasting });
    using _loop = this.#options.loopMonitor === false ? undefined : loop.start();
    using _rejections = takeRejections(this.#calls.take);
    const endElection = new AbortController();
    const abandon = new AbortController();
    let election: Promise<unknown> = Promise.resolve();
    try {
      const stopped = this.#stop.signal;
      await abortable(this.#startUp(), stopped);
      this.#phase = 'running';
      election = this.#lead(endElection.signal, abandon.signal);
      await new Promise<void>((resolve) => void onAbort(stopped, resolve));
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#fail('start', error);
    }
    const exit = await this.#shutDown(endElection, abandon, election);
    // The client is still good for whoever has it; what it kept for the next renewal of the lease, nobody needs.
    if (this.#ownsConnection) this.#connection.rest.closeIdle();
    return exit;
  }

  /** Stops it if it runs, in order, and waits for that; then frees the connection, if it is the manager's own. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#end({ reason: 'stopped' });
    await this.#ran;
    await this.#clusters.close();
    await this.cache.close();
    if (this.#ownsConnection) await this.#connection.close();
  }

  async #startUp(): Promise<void> {
    const { signal } = this.#stop;
    const groups = this.#groups;
    const asked = { healthz: this.#healthz, readyz: this.#readyz, client: this.#connection, runtime: this.#runtime };
    const registry = this.#registry;
    for (const endpoint of endpointsFor(this.#options, { ...asked, registry, manager: this })) {
      groups.servers.add(endpoint);
      this.#endpoints.push(endpoint);
    }
    groups.servers.start();
    groups.webhooks.start();
    groups.caches.add({ name: 'cache', run: (options) => this.cache.run(options) });
    // Of the first stages, so that what others have to say until their end is still written.
    groups.servers.add(this.#events);
    groups.caches.start();
    await this.cache.waitForCacheSync({ signal });
    const { clusterProvider: provider } = this.#options;
    if (provider !== undefined) {
      const run = (options: { readonly signal: AbortSignal }) => provider.run({ ...options, clusters: this.#clusters });
      groups.others.add({ name: `clusters ${provider.name}`, run });
    }
    groups.others.start();
    groups.leader.warmUp();
  }

  /** Runs what only the leader runs. */
  #lead(signal: AbortSignal, abandon: AbortSignal): Promise<void> {
    const start = () => {
      this.#hasLed = true;
      this.#elected.resolve();
      this.#groups.leader.start();
    };
    if (this.#elector === undefined) {
      start();
      return Promise.resolve();
    }
    this.#onElected = start;
    return this.#elector.run({ signal, abandon }).then(
      (outcome) => {
        if (outcome.outcome === 'lost') this.#end({ reason: 'lost-lease', error: outcome.reason });
      },
      (error: unknown) => this.#fail('leader election', error),
    );
  }

  #onElected: () => void = () => {};

  #makeElector(): LeaderElector | undefined {
    const options = this.#options.leaderElection;
    if (options === undefined) return undefined;
    const { leaseDuration, renewDeadline, retryPeriod, releaseOnStop, ...lock } = options;
    return new LeaderElector({
      ...{ leaseDuration, renewDeadline, retryPeriod, releaseOnStop, runtime: this.#runtime },
      lock: new LeaseLock(this.#connection, { ...lock, random: this.#runtime.random }),
      onStartedLeading: async (signal) => {
        if (this.#stop.signal.aborted) return;
        this.#onElected();
        const lost = new Promise<void>((resolve) => void onAbort(signal, resolve));
        const stopping = new Promise<void>((resolve) => void onAbort(this.#stop.signal, resolve));
        await Promise.race([lost, stopping]);
        if (isLostLease(signal.reason)) {
          this.#end({ reason: 'lost-lease', error: signal.reason });
          await this.#groups.leader.stop(signal.reason);
          return;
        }
        // The lease is kept until all that the leader runs has ended.
        await this.#groups.leader.stop(this.#stop.signal.reason);
      },
    });
  }

  #addController(definition: ControllerDefinition, stage: RunnableStage): Added {
    const { name, options } = definition;
    const isLeader = stage === 'leader';
    const guard = isLeader ? this.#elector : undefined;
    const shards = options.sharded && !isLeader ? this.#shards : undefined;
    const remove = this.#groups[stage].add(this.#controllers.add(definition, { guard, shards }));
    return {
      remove: async () => {
        await remove();
        this.#controllers.remove(name);
      },
    };
  }

  #fail(runnable: string, error: unknown): void {
    if (this.#cause === undefined)
      this.#runtime.log.error('the manager stops: something it runs has failed', {
        ...{ runnable, ...failureFields(error) },
      });
    this.#end({ reason: 'failed', error, runnable });
  }

  #end(cause: ExitCause): void {
    if (this.#cause !== undefined) return;
    this.#cause = cause;
    const isLost = cause.reason === 'lost-lease';
    this.#stop.abort(isLost && 'error' in cause ? cause.error : new Shutdown('the manager stops'));
  }

  /** In reverse order; the lease is given up when all the rest has ended. */
  async #shutDown(
    endElection: AbortController,
    abandon: AbortController,
    election: Promise<unknown>,
  ): Promise<ManagerExit> {
    this.#phase = 'stopping';
    const { clock, log } = this.#runtime;
    const atMost = this.#options.gracefulTimeout ?? '30s';
    const timeoutMs = this.#gracefulMs;
    let runnables: () => readonly string[] = () => [];
    const active = () => ({ reconciles: this.#controllers.active, runnables: runnables() });
    using _stopping = watchStopping(this.#runtime, active, atMost);
    const { reason } = this.#stop.signal;
    // Who does not lead by now must not begin to: others would wait for one that goes.
    if (!this.#hasLed) endElection.abort(reason);
    const stopAll = async () => {
      for (const stage of [...startOrder].reverse()) {
        runnables = () => this.#groups[stage].running;
        await this.#groups[stage].stop(reason);
        if (stage === 'others') await this.#clusters.close();
      }
      runnables = () => ['leader election'];
      endElection.abort(reason);
      await election;
    };
    // Those that heed their signal shall have heard of it in time, whatever their `drain`.
    using _hurry = clock.after(timeoutMs * hurriedShare, () => this.#controllers.hurry(), { background: true });
    using patience = link({ timeoutMs, clock });
    await abortable(stopAll(), patience.signal).catch((error: unknown) => {
      if (!patience.signal.aborted) throw error;
      // The lease is left to run out: what does not end may still write.
      abandon.abort(reason);
      this.#shards?.abandon(reason);
    });
    // What was kept from stopping by what does not end: all at once now, and for a moment.
    using moment = link({ timeoutMs: lastMomentMs, clock });
    const rest = Promise.all(startOrder.map((stage) => this.#groups[stage].stop(reason)));
    await abortable(rest, moment.signal).catch(() => {});
    const unfinished = startOrder.flatMap((stage) => this.#groups[stage].running);
    if (unfinished.length > 0) log.warn('the manager ends without waiting any longer', { unfinished });
    this.#phase = 'stopped';
    return { ...(this.#cause ?? { reason: 'stopped' }), unfinished } as ManagerExit;
  }
}
