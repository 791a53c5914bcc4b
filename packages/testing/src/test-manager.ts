import type { Client } from 'riata';
import type { Cache } from 'riata/cache';
import type {
  ControllerDefinition,
  ControllerHealth,
  ReconcileRecord,
  ReconcileRun,
  Reconciler,
  RequestQueue,
} from 'riata/controller';
import {
  type Addable,
  type Added,
  type AddedController,
  Manager,
  type ManagerExit,
  type ManagerOptions,
  type Runnable,
  type RunnableStage,
} from 'riata/manager';
import { type ClusterKey, clusterKey, type KindRef, keyOf, objectKey } from 'riata/object';
import { abortable, onAbort, optionNames, type Runtime, refuseUnknownOptions } from 'riata/runtime';
import { SharedControllerFactory } from 'riata/shared';
import {
  type AddedWebhook,
  addWebhook,
  type WebhookDefinition,
  type WebhookListener,
  type WebhookServer,
} from 'riata/webhook';
import { clustersOf } from './clusters-of.js';
import type { WebhookFaults } from './faults/webhook-faults.js';
import type { Identity } from './identity.js';
import type { TestConnection } from './test-connection.js';
import type { TestTime } from './test-time.js';
import { ledTo } from './webhooks/led-to.js';

/** Options of `TestEnvironment.startManager`: those of a `Manager`, whose connection and runtime are the environment's. */
export interface TestManagerOptions extends Omit<ManagerOptions, 'config' | 'client' | 'runtime'> {
  /** Its name in the record of requests. @default 'manager-1', 'manager-2', … */
  readonly name?: string;
  /** The controllers and webhooks to run. More can be added later. @default none */
  readonly run?: readonly (ControllerDefinition | Runnable | Addable)[];
  /** Whom it acts as, subject to RBAC. @default the administrator */
  readonly as?: Identity;
}

export const testManagerOptionNames = optionNames<TestManagerOptions>({
  name: true,
  run: true,
  as: true,
  metrics: true,
  webhooks: true,
  health: true,
  events: true,
  cache: true,
  clientOptions: true,
  uncached: true,
  controllers: true,
  leaderElection: true,
  sharding: true,
  clusterProvider: true,
  gracefulTimeout: true,
  loopMonitor: true,
  dashboard: true,
});

/** Registers shared handlers; `signal` aborts when they are to end. */
export type RegisterHandlers = (factory: SharedControllerFactory, options: { readonly signal: AbortSignal }) => unknown;

/** Finished reconciles to be looked at, for each controller. */
const history = 10_000;
/** `settle` finds endless work, which would take hours of virtual time with a backoff. */
const selfWakeBackoff = false;
/** The cause of the keys in a second pass. */
export const secondPass = 'second pass';

/** A controller that a second pass is made over. */
interface Watched {
  readonly name: string;
  readonly kind: KindRef;
  /** Where it works; one that is for added ones begins when a cluster is added. */
  readonly clusters: 'own' | 'added' | 'all';
  /** It runs on every replica. */
  readonly isEverywhere: boolean;
  /** Undefined while it has not begun. */
  queue: RequestQueue | undefined;
}

/** A `Manager` in a test, made by `TestEnvironment.run` or `startManager`: it runs until it is stopped, or the environment ends. */
export class TestManager implements AsyncDisposable {
  readonly name: string;
  readonly manager: Manager;
  /** Resolves when it has ended, to why: that it was stopped, that it has lost its lease, or what has failed. */
  readonly ended: Promise<ManagerExit>;
  readonly #connection: TestManagerParts['connection'];
  readonly #time: TestTime;
  readonly #work: RunBudget;
  readonly #faults: WebhookFaults;
  readonly #needsLease: boolean;
  readonly #watched = new Set<Watched>();
  readonly #factories = new Set<SharedControllerFactory>();
  readonly #stop = new AbortController();
  #exit: ManagerExit | undefined;
  #isElected = false;
  /** Once it serves webhooks. */
  #webhooks: WebhookServer | undefined;
  #closed: Promise<void> | undefined;

  /** @internal */
  constructor(manager: Manager, parts: TestManagerParts) {
    const { name, connection, time, options } = parts;
    this.name = name;
    this.manager = manager;
    this.#connection = connection;
    this.#time = time;
    this.#work = parts.work;
    this.#faults = parts.webhookFaults;
    this.#needsLease = options.leaderElection !== undefined;
    for (const each of options.run ?? []) this.add(each);
    void manager.elected.then(() => {
      this.#isElected = true;
    });
    this.ended = manager.run({ signal: this.#stop.signal }).then((exit) => {
      this.#exit = exit;
      return exit;
    });
  }

  /** @internal */
  static async start(parts: TestManagerParts): Promise<TestManager> {
    const { connection, options, runtime } = parts;
    refuseUnknownOptions('startManager', options, testManagerOptionNames);
    const { run: _, name: __, as: ___, ...given } = options;
    const manager = await Manager.create({
      ...given,
      loopMonitor: !parts.time.isVirtual,
      // Replicas of a test share a machine: each takes a port that is free.
      webhooks: { port: 0, ...(isOverHttps(given.webhooks) ? {} : { listener: parts.listener }), ...given.webhooks },
      controllers: { history, selfWakeBackoff, ...given.controllers },
      config: connection.config,
      runtime,
    });
    try {
      return new TestManager(manager, parts);
    } catch (error) {
      // Two controllers of one name, for instance.
      await manager[Symbol.asyncDispose]();
      await connection.close();
      throw error;
    }
  }

  /** Reads from its cache, own writes included; writes are recorded as those of its controllers. */
  get client(): Client {
    return this.manager.client;
  }

  /** Finished reconciles and runs of shared handlers, oldest first: why each ran and, for reconciles, what it wrote. */
  get explain(): readonly ReconcileRecord[] {
    if (this.#factories.size === 0) return this.manager.explain;
    const shared = [...this.#factories].flatMap(({ explain }) => explain);
    return [...this.manager.explain, ...shared].sort((a, b) => a.startedAt - b.startedAt);
  }

  /** Why it ended; undefined while it runs. */
  get exit(): ManagerExit | undefined {
    return this.#exit;
  }

  /** As `Manager.add`. Controllers that are added to `manager` itself run too, but no second pass is made over them. */
  add(what: ControllerDefinition, options?: { readonly stage?: RunnableStage }): AddedController;
  add(what: WebhookDefinition, options?: { readonly stage?: RunnableStage }): AddedWebhook;
  add(what: ControllerDefinition | Runnable | Addable, options?: { readonly stage?: RunnableStage }): Added;
  add(what: ControllerDefinition | Runnable | Addable, options: { readonly stage?: RunnableStage } = {}): Added {
    if (isWebhook(what)) return this.#addWebhook(what);
    if (!('reconciler' in what)) return this.manager.add(what, options);
    const { clusters = 'own', everyReplica = false } = what.options;
    const isEverywhere = options.stage === undefined ? everyReplica : options.stage !== 'leader';
    const watched: Watched = { name: what.name, kind: what.kind, clusters, isEverywhere, queue: undefined };
    // It may work on several clusters, which come and go.
    let places = 0;
    const source = {
      name: secondPass,
      start: async (queue: RequestQueue, { signal }: { readonly signal: AbortSignal }) => {
        watched.queue = queue;
        places += 1;
        this.#watched.add(watched);
        onAbort(signal, () => {
          places -= 1;
          if (places === 0) this.#watched.delete(watched);
        });
      },
      adopt: () => () => {},
    };
    const observed = (definition: ControllerDefinition): ControllerDefinition => ({
      ...this.#counted(definition),
      watches: [...definition.watches, { through: 'source', make: () => ({ ...source }) }],
    });
    const added = this.manager.add(observed(what), options);
    this.#watched.add(watched);
    const replace: AddedController['replace'] = (next, given) =>
      this.#time.drive(added.replace(observed(next), given), `the replacement of ${what.name}`);
    const remove = async () => {
      this.#watched.delete(watched);
      await this.#time.drive(added.remove(), `the removal of ${what.name}`);
    };
    return { replace, remove } as AddedController;
  }

  #addWebhook(definition: WebhookDefinition): AddedWebhook {
    const around = (each: WebhookDefinition) => this.#faults.around(each, this.name);
    const added = addWebhook(this.manager, around(definition));
    this.#webhooks = added.server;
    return {
      server: added.server,
      replace: (next) => added.replace(around(next)),
      remove: () => this.#time.drive(added.remove(), `the removal of ${definition.name}`),
    };
  }

  /**
   * Installs webhook configurations as manifests have them (`envtest.WebhookInstallOptions`), leading to the webhooks that
   * it serves: each entry keeps the path that its Service or URL names, and gets the manager's address. Start the manager
   * with `webhooks: { install: false }`, or it writes its own beside them. They go with the next reset.
   *
   * @example
   * const manager = await env.startManager({ run: [siteRules], webhooks: { install: false } });
   * await manager.installWebhooks(await objectsFromYaml(await readFile('config/webhook/manifests.yaml', 'utf8')));
   */
  async installWebhooks(configurations: readonly object[]): Promise<void> {
    const server = this.#webhooks;
    if (server === undefined) throw new Error(`installWebhooks: ${this.name} serves no webhooks; give it one to run`);
    const made = configurations.map((each) => ledTo(each, (path) => server.clientConfig(path)));
    for (const each of made) await this.#time.drive(this.client.create(each), 'installWebhooks');
  }

  /**
   * Runs shared handlers, and typed controllers over them, on its caches: `register` is given a factory that starts when
   * all are registered. They run where this replica leads, as controllers do.
   */
  async addHandlers(register: RegisterHandlers): Promise<Added> {
    const everywhere = !this.#needsLease;
    const factory = SharedControllerFactory.fromManager(this.manager, { everywhere, history, selfWakeBackoff });
    await register(factory, { signal: factory.stopping });
    const added = this.manager.add(factory, { stage: everywhere ? 'others' : 'leader' });
    this.#factories.add(factory);
    const remove = async () => {
      this.#factories.delete(factory);
      await this.#time.drive(added.remove(), 'the removal of shared handlers');
    };
    return { remove };
  }

  /** Stops it as SIGTERM would, and resolves to why it ended: time moves as far as that needs. */
  async stop(): Promise<ManagerExit> {
    this.#stop.abort();
    const exit = await this.#time.drive(this.ended, `the end of ${this.name}`);
    await this.#close();
    return exit;
  }

  /** Ends it as a crash would: no request leaves any more, and no lease is given up. */
  async kill(): Promise<void> {
    await this.#connection.close();
    this.#connection.cut();
    await this.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** @internal Whether it may reconcile: it leads, or need not. */
  get isLeading(): boolean {
    return this.#exit === undefined && (this.#isElected || !this.#needsLease);
  }

  /** @internal Of controllers and of shared handlers. */
  get controllers(): readonly ControllerHealth[] {
    return [...this.manager.controllers, ...[...this.#factories].flatMap(({ health }) => health)];
  }

  /** @internal Whether it serves webhooks, at an address that the environment knows to be reachable. */
  get hasWebhooks(): boolean {
    const { url, service } = this.manager.options.webhooks ?? {};
    return this.#webhooks !== undefined && url === undefined && service === undefined;
  }

  /** @internal Throws while the API server does not reach its webhooks, or is not known to. */
  checkWebhooks(): void {
    if (this.#exit === undefined) this.#webhooks?.check();
  }

  /** @internal Names of controllers that should work, and do not yet. */
  get notStarted(): readonly string[] {
    if (this.#exit !== undefined) return [];
    const { isLeading } = this;
    const shared = [...(isLeading ? this.#factories : [])].flatMap((factory) =>
      factory.controllers.filter(({ isUsed, health }) => isUsed && health === undefined),
    );
    const hasNone = this.manager.clusters.names.length === 0;
    return [...this.#watched]
      .filter(({ isEverywhere }) => isLeading || isEverywhere)
      .filter(({ queue, clusters }) => queue === undefined && !(clusters === 'added' && hasNone))
      .map(({ name }) => name)
      .concat(shared.map(({ name }) => name));
  }

  /** @internal Reconciles every object of every controller again; returns how many. */
  async passAgain(): Promise<number> {
    let count = 0;
    for (const factory of this.#factories) count += await factory.enqueueAll();
    for (const { kind, queue, clusters } of this.#watched) {
      if (queue === undefined) continue;
      if (clusters !== 'added') count += await this.#passOver(this.manager.cache, kind, queue);
      for (const { name, cache } of clusters === 'own' ? [] : clustersOf(this.manager)) {
        count += await this.#passOver(cache, kind, queue, name);
      }
    }
    return count;
  }

  async #passOver(cache: Cache, kind: KindRef, queue: RequestQueue, cluster?: string): Promise<number> {
    if (!cache.holds(kind)) return 0;
    const { items } = await cache.list(kind);
    const note = [{ source: secondPass, count: 1, atMs: this.#time.clock.monotonic() }];
    for (const object of [...items].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))) {
      queue.add(clusterKey({ cluster, ...objectKey(object) }), { note });
    }
    return items.length;
  }

  /** The same, and one that would go on without end stands still. */
  #counted(definition: ControllerDefinition): ControllerDefinition {
    const count =
      <C extends ReconcileRun>(reconciler: Reconciler<C>) =>
      (context: C) => {
        if (!this.#work.allowsRun({ controller: definition.name, key: context.key })) {
          return abortable(new Promise<void>(() => {}), context.signal);
        }
        return typeof reconciler === 'function' ? reconciler(context) : reconciler.reconcile(context);
      };
    const { finalize, reconciler } = definition;
    return {
      ...definition,
      reconciler: count(reconciler as Reconciler<ReconcileRun>) as Reconciler<never>,
      ...(finalize !== undefined && { finalize: { ...finalize, run: count(finalize.run) } }),
    };
  }

  #close(): Promise<void> {
    this.#closed ??= (async () => {
      await this.#time.drive(this.manager[Symbol.asyncDispose](), `the end of ${this.name}`);
      await this.#connection.close();
    })();
    return this.#closed;
  }
}

/** @internal Decides whether a controller may run a key again: a test that runs one without end has to fail. */
export interface RunBudget {
  allowsRun(run: { readonly controller: string; readonly key: ClusterKey }): boolean;
}

/** @internal What a {@link TestManager} is made of. */
export interface TestManagerParts {
  readonly name: string;
  readonly connection: Pick<TestConnection, 'config' | 'cut' | 'close'>;
  readonly time: TestTime;
  readonly work: RunBudget;
  readonly webhookFaults: WebhookFaults;
  /** How the server reaches webhooks without a socket; undefined where it uses one. */
  readonly listener: WebhookListener | undefined;
  readonly runtime: Partial<Runtime>;
  readonly options: TestManagerOptions;
}

/** Whether options ask for a socket, where none is needed: webhooks are called in process by default. */
function isOverHttps(options: ManagerOptions['webhooks'] = {}): boolean {
  return socketOptions.some((name) => options[name] !== undefined);
}

const socketOptions = ['host', 'port', 'url', 'service', 'certificates', 'clientCaFile'] as const;

function isWebhook(what: object): what is WebhookDefinition {
  return 'bind' in what && 'targets' in what;
}
