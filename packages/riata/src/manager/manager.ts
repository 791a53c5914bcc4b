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
import { abortable, onAbort } from '../runtime/signals.js';
import { Shutdown } from '../runtime/stop-reasons.js';
import { takeRejections } from '../runtime/take-rejections.js';
import type { WebhookRecord } from '../webhook/webhook-route.js';
import type { Cluster, ClusterSet } from './clusters/cluster.js';
import { Clusters } from './clusters/clusters.js';
import { assertDashboardGuarded } from './debug/dashboard-options.js';
import { debugSource } from './debug/debug-source.js';
import { maskText } from './debug/masking/mask-text.js';
import { SecretValues } from './debug/masking/secret-values.js';
import { WriteLog } from './debug/write-log.js';
import { Leadership } from './election/leadership.js';
import { EventBroadcaster } from './events/event-broadcaster.js';
import type { EventRecorder } from './events/event-recorder.js';
import { gracefulStop } from './graceful-stop.js';
import { ManagedControllers, type ReplaceOptions } from './managed-controllers.js';
import type { ExitCause, ManagerExit } from './manager-exit.js';
import { checkManagerOptions, type ManagerOptions } from './manager-options.js';
import { warnMissingConversions } from './missing-conversions.js';
import { addManagerChecks } from './probes/add-manager-checks.js';
import { type HealthCheck, HealthChecks } from './probes/health-checks.js';
import type { HttpEndpoint } from './probes/http-endpoint.js';
import { LoopMonitor } from './probes/loop-monitor.js';
import { assertDebugGuarded, endpointsFor } from './probes/manager-endpoints.js';
import { loadPromMetrics, type PromRegistry } from './probes/prom-metrics.js';
import { assertRunnable, type Runnable, type RunnableStage } from './runnable.js';
import { makeGroups, type RunnableGroups } from './runnable-group.js';
import { ManagerShards } from './sharding/manager-shards.js';
import type { ShardRing } from './sharding/shard-ring.js';
import { type ManagedWebhooks, webhooksExtension } from './webhook-options.js';

/** What was added to a manager. */
export interface Added {
  /** Stops it, and resolves when it has ended; the rest continues. A reconciler cannot await the removal of its own controller. */
  remove(): Promise<void>;
}

/** A controller that was added to a manager. */
export interface AddedController extends Added {
  /**
   * Swaps its code while it runs: what differs between the definitions changes, everything else stays. No kind that both
   * use is listed or watched again; keys in the queue with their delays and retries, leases, shards and timers stay.
   *
   * Resolves when the new code runs: what it watches or reads that the old one did not is synced by then. A reconcile in
   * flight ends with the old code, and its key runs again with the new one, never both at once. Rejects, with the old code
   * running, if the new definition cannot be started; with a `RestartRequiredError` if it differs in its kind or in an option
   * that is fixed from the start. If it is called again before it resolves, the newest definition that can be started wins.
   */
  replace(next: ControllerDefinition, options?: ReplaceOptions): Promise<void>;
}

/** A value that adds itself to a manager, in its own way: a webhook, for instance. */
export interface Addable {
  addTo(manager: Manager): Added;
}

/**
 * Runs everything that an operator process needs, started and stopped in order (`manager.Manager`): one connection, one
 * cache for all controllers, leader election, probes and metrics.
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
  /** The cache that all controllers read from (`GetCache`); its `indexField` adds field indexes (`GetFieldIndexer`). */
  readonly cache: Cache;
  /** The connection that everything uses: for what is built over it, such as a `SharedControllerFactory`. */
  readonly connection: ConnectedClient;
  /** The same as `connection`, for the framework's own calls. */
  readonly #connection: ConnectedClient;
  readonly #ownsConnection: boolean;
  /** Calls of the clients above. */
  readonly #calls: UnownedCalls;
  readonly #options: ManagerOptions;
  readonly #runtime: Runtime;
  readonly #registry: PromRegistry | undefined;
  readonly #gracefulMs: number;
  readonly #writes: WriteLog | undefined;
  readonly #secrets: SecretValues | undefined;
  readonly #groups: RunnableGroups;
  readonly #endpoints: HttpEndpoint[] = [];
  readonly #events: EventBroadcaster;
  readonly #controllers: ManagedControllers;
  readonly #clusters: Clusters;
  readonly #leadership: Leadership;
  readonly #shards: ManagerShards | undefined;
  readonly #healthz = new HealthChecks();
  readonly #readyz = new HealthChecks();
  readonly #stop = new AbortController();
  readonly #extensions = new Map<symbol, unknown>();
  #phase: 'idle' | 'starting' | 'running' | 'stopping' | 'stopped' = 'idle';
  #cause: ExitCause | undefined;
  #ran: Promise<ManagerExit> | undefined;

  /** `registry`: what `/metrics` serves, if `runtime.metrics` are your own. @default a new one */
  constructor(options: ManagerOptions, registry?: PromRegistry) {
    checkManagerOptions(options);
    const { config, client, sharding, uncached, metrics } = options;
    if (config === undefined && client === undefined) {
      throw new TypeError('Manager: requires a config or a client; use Manager.create to find a config');
    }
    if (metrics !== undefined) assertDebugGuarded(metrics);
    assertDashboardGuarded(options.dashboard);
    this.#options = options;
    const isCounted = metrics === undefined || registry !== undefined || options.runtime?.metrics !== undefined;
    const prom = isCounted ? undefined : loadPromMetrics();
    this.#registry = registry ?? prom?.registry;
    const runtime = resolveRuntime({ ...options.runtime, ...(prom && { metrics: prom.metrics }) });
    this.#runtime = runtime;
    this.#gracefulMs = durationMs(options.gracefulTimeout ?? '30s', 'Manager: gracefulTimeout');

    this.#calls = new UnownedCalls(runtime, () => this.#controllers.inFlight);
    const { track } = this.#calls;
    this.#ownsConnection = client === undefined;
    const connection = client ?? createClient(config as RestConfig, { ...options.clientOptions, runtime });
    this.#connection = connection;
    this.connection = trackedConnection(connection, track);
    this.apiReader = this.connection;
    // Before the cache follows the connection: afterwards, it would show each write before the log does.
    const isShown = Boolean(options.dashboard || metrics?.debug);
    this.#writes = isShown ? new WriteLog(runtime.clock) : undefined;
    this.#writes?.follow(connection, () => this.cache);
    this.#secrets = isShown ? new SecretValues(runtime.clock) : undefined;
    this.#secrets?.follow(connection, () => this.cache);
    this.cache = new Cache(connection, { ...options.cache, runtime });
    const cacheReader = trackedReader(this.cache, track);
    this.client = delegatingClient({ cacheReader, client: this.connection, uncached });

    this.#groups = makeGroups(({ name }, error) => this.#fail(name, error));
    this.#events = new EventBroadcaster(connection, { ...options.events, runtime });
    this.#controllers = new ManagedControllers({
      ...{ client: connection, cache: this.cache, uncached, events: this.#events },
      ...{ defaults: options.controllers, runtime, clusters: () => this.#clusters },
    });
    const onAdd = (cluster: Cluster) => {
      this.#writes?.follow(cluster.client, () => cluster.cache, cluster.name);
      this.#secrets?.follow(cluster.client, () => cluster.cache, cluster.signal);
      this.#controllers.clusterAdded(cluster);
    };
    this.#clusters = new Clusters({ runtime, options, track, onAdd });
    this.#leadership = new Leadership({
      ...{ options: options.leaderElection, client: connection, runtime, group: this.#groups.leader },
      stopping: this.#stop.signal,
      onLost: (error) => this.#end({ reason: 'lost-lease', error }),
      onFailed: (error) => this.#fail('leader election', error),
    });
    this.#shards = sharding && new ManagerShards(sharding, connection, runtime);
    if (this.#shards !== undefined) this.#groups.others.add(this.#shards);
    addManagerChecks({
      ...{ healthz: this.#healthz, readyz: this.#readyz, cache: this.cache, clusters: this.#clusters },
      ...{ elector: this.#leadership.elector, ring: this.#shards?.ring, controllers: this.#controllers },
    });
  }

  /** As the constructor; without config and client, with the config that `loadConfig` finds. */
  static async create(options: ManagerOptions = {}): Promise<Manager> {
    const isPlaced = options.config !== undefined || options.client !== undefined;
    return new Manager(isPlaced ? options : { ...options, config: await loadConfig() });
  }

  /** The URLs of probes, metrics and webhooks, by the name of the server, while it runs. */
  get urls(): Readonly<Record<string, string | undefined>> {
    const webhooks = this.#webhooks;
    const servers = [...this.#endpoints, ...(webhooks === undefined ? [] : [{ name: 'webhooks', url: webhooks.url }])];
    return Object.fromEntries(servers.map(({ name, url }) => [name, url]));
  }

  /** The same connection for what runs on the leader alone: writes start only while this replica leads. */
  get leaderClient(): KubeClient {
    const { elector } = this.#leadership;
    return elector === undefined ? this.connection : this.connection.wrap(elector.fence);
  }

  /** The clock, randomness, log and metrics of everything that it runs. */
  get runtime(): Runtime {
    return this.#runtime;
  }

  /** The connection's (`GetScheme`). */
  get scheme(): Scheme {
    return this.#connection.scheme;
  }

  /** The options that it was made with. */
  get options(): ManagerOptions {
    return this.#options;
  }

  /** The config that it was given; undefined if it was given a client (`GetConfig`). */
  get config(): RestConfig | undefined {
    return this.#options.config;
  }

  /** Resolves when this replica leads, at once without leader election (`Elected`). */
  get elected(): Promise<void> {
    return this.#leadership.elected;
  }

  /** How replicas share the work of sharded controllers; undefined without `sharding`. */
  get shards(): ShardRing | undefined {
    return this.#shards?.ring;
  }

  /** Clusters other than its own, which may be added and removed at any time; see `ControlOptions.clusters`. */
  get clusters(): ClusterSet {
    return this.#clusters;
  }

  /** Emits events about objects, in the name of a component (`GetEventRecorderFor`). */
  eventRecorder(name: string): EventRecorder {
    return this.#events.recorder(name);
  }

  /** The state of its controllers. */
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

  /** Finished calls of webhooks: what they decided, for whom, how long it took. Oldest first, the last 1,000. */
  get webhookCalls(): readonly WebhookRecord[] {
    return this.#webhooks?.calls ?? [];
  }

  get #webhooks(): ManagedWebhooks | undefined {
    return this.#extensions.get(webhooksExtension) as ManagedWebhooks | undefined;
  }

  /**
   * Adds a controller or another runnable, at any time (`Add`). Controllers run on the leader, except for those that are
   * sharded or for every replica; other runnables run on every replica. `stage`, here or in the runnable, overrides that.
   */
  add(what: ControllerDefinition, options?: { readonly stage?: RunnableStage }): AddedController;
  add<A extends Added>(what: { addTo(manager: Manager): A }, options?: { readonly stage?: RunnableStage }): A;
  add(what: ControllerDefinition | Runnable | Addable, options?: { readonly stage?: RunnableStage }): Added;
  add(what: ControllerDefinition | Runnable | Addable, options: { readonly stage?: RunnableStage } = {}): Added {
    if (this.#phase === 'stopping' || this.#phase === 'stopped') {
      throw new Error('the manager has stopped: nothing can be added');
    }
    if (isAddable(what)) return what.addTo(this);
    if (typeof what === 'object' && 'reconciler' in what) {
      const { sharded, everyReplica } = what.options;
      const isEverywhere = everyReplica || (this.#shards !== undefined && sharded);
      return this.#addController(what, options.stage ?? (isEverywhere ? 'others' : 'leader'));
    }
    assertRunnable(what);
    const remove = this.#groups[options.stage ?? what.stage ?? 'others'].add(what);
    return { remove: this.#controllers.groups.addUntil(what.controllerGroup, remove) };
  }

  /** What there is once for each manager, made at its first use: for values that add themselves, as webhooks do. */
  extension<T>(key: symbol, make: () => T): T {
    if (!this.#extensions.has(key)) this.#extensions.set(key, make());
    return this.#extensions.get(key) as T;
  }

  #addController(definition: ControllerDefinition, stage: RunnableStage): AddedController {
    const isLeader = stage === 'leader';
    const guard = isLeader ? this.#leadership.elector : undefined;
    const shards = definition.options.sharded && !isLeader ? this.#shards : undefined;
    const { runnable, replace, end } = this.#controllers.add(definition, { guard, shards });
    const remove = this.#groups[stage].add(runnable);
    return {
      replace,
      remove: async () => {
        await remove();
        end();
      },
    };
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
   * Runs everything until the signal aborts, a runnable fails, or the lease is lost; then stops all in reverse order, and
   * resolves to the reason (`Start`). It leaves no open connection, and its client still works. Rejects only if it was run
   * before.
   */
  async run(options: { readonly signal: AbortSignal }): Promise<ManagerExit> {
    if (this.#phase !== 'idle') throw new Error('a manager cannot run twice; make another one');
    this.#phase = 'starting';
    this.#ran = this.#run(options);
    return this.#ran;
  }

  /** The life of a manager: start in order, lead, wait for a reason to stop, stop in reverse order. */
  async #run({ signal }: { readonly signal: AbortSignal }): Promise<ManagerExit> {
    const stopping = this.#stop.signal;
    using _stopped = onAbort(signal, () => this.#end({ reason: 'stopped' }));
    using _rejections = takeRejections(this.#calls.take);
    using _loop = this.#monitorLoop();
    try {
      await abortable(this.#start(), stopping);
      this.#phase = 'running';
      this.#leadership.start();
      await new Promise<void>((resolve) => void onAbort(stopping, resolve));
    } catch (error) {
      if (!stopping.aborted) this.#fail('start', error);
    }
    this.#phase = 'stopping';
    const unfinished = await gracefulStop(stopping.reason, {
      ...{ groups: this.#groups, clusters: this.#clusters, controllers: this.#controllers, runtime: this.#runtime },
      ...{ leadership: this.#leadership, shards: this.#shards },
      ...{ timeout: this.#options.gracefulTimeout ?? '30s', timeoutMs: this.#gracefulMs },
    });
    this.#phase = 'stopped';
    // The client still works; idle connections were kept for renewals of the lease.
    if (this.#ownsConnection) this.#connection.rest.closeIdle();
    return { ...(this.#cause ?? { reason: 'stopped' }), unfinished } as ManagerExit;
  }

  /** Starts the groups in their order, all but the leader's. */
  async #start(): Promise<void> {
    const { servers, webhooks, caches, others, leader } = this.#groups;
    warnMissingConversions(this, this.#controllers.definitions, this.#runtime.log);
    this.#endpoints.push(
      ...(await endpointsFor(this.#options, {
        ...{ healthz: this.#healthz, readyz: this.#readyz, client: this.#connection, runtime: this.#runtime },
        ...{ registry: this.#registry, manager: this },
        ...{ writes: this.#writes, source: this.#debugSource() },
      })),
    );
    for (const endpoint of this.#endpoints) servers.add(endpoint);
    // Stopped with the servers, last of all, so that events which others emit until their end are still written.
    servers.add(this.#events);
    servers.start();
    webhooks.start();
    caches.add({ name: 'cache', run: (options) => this.cache.run(options) });
    caches.start();
    await this.cache.waitForCacheSync({ signal: this.#stop.signal });
    const { clusterProvider } = this.#options;
    if (clusterProvider !== undefined) {
      const name = `clusters ${clusterProvider.name}`;
      others.add({ name, run: ({ signal }) => clusterProvider.run({ signal, clusters: this.#clusters }) });
    }
    others.start();
    leader.warmUp();
  }

  #debugSource() {
    const { elector } = this.#leadership;
    return debugSource(this, {
      ...{ controllers: this.#controllers, elector, client: this.#connection },
      webhooks: () => this.#webhooks,
      mask: this.#secrets?.mask ?? maskText,
    });
  }

  #monitorLoop(): Disposable | undefined {
    if (this.#options.loopMonitor === false) return undefined;
    return new LoopMonitor({ ...this.#runtime, lasting: (...times) => this.#controllers.lasting(...times) }).start();
  }

  #fail(runnable: string, error: unknown): void {
    if (this.#cause === undefined) {
      this.#runtime.log.error('a runnable failed, the manager stops', { runnable, ...failureFields(error) });
    }
    this.#end({ reason: 'failed', error, runnable });
  }

  /** The first cause counts. */
  #end(cause: ExitCause): void {
    if (this.#cause !== undefined) return;
    this.#cause = cause;
    const isLost = cause.reason === 'lost-lease';
    this.#stop.abort(isLost && 'error' in cause ? cause.error : new Shutdown('the manager stops'));
  }

  /** Stops it, in order, and waits for that; then closes the connection, if the manager made it. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#end({ reason: 'stopped' });
    await this.#ran;
    await this.#clusters.close();
    await this.cache.close();
    if (this.#ownsConnection) await this.#connection.close();
  }
}

/** Whether a value adds itself to a manager. */
export function isAddable(given: unknown): given is Addable {
  return typeof given === 'object' && given !== null && typeof (given as Partial<Addable>).addTo === 'function';
}
