import type { Cache } from '../cache/cache.js';
import { type CachedKind, cached, type KindCacheOptions } from '../cache/cache-options.js';
import { type ClientOptions, type ConnectedClient, createClient } from '../client/create-client.js';
import { trackedClient } from '../controller/calls/tracked-client.js';
import { UnownedCalls } from '../controller/calls/unowned-calls.js';
import { assertKind } from '../controller/define/assert-kind.js';
import type { ControllerHealth } from '../controller/loop/controller-health.js';
import type { ReconcileRecord } from '../controller/loop/reconcile-record.js';
import type { ControllerGroup } from '../manager/debug/controller-group.js';
import type { Manager } from '../manager/manager.js';
import { watchStopping } from '../manager/watch-stopping.js';
import { formatGvk, type GroupVersionResource } from '../object/gvk.js';
import { formatKey } from '../object/key.js';
import type { KindRef } from '../object/kind.js';
import type { KubeObject, TypeMeta } from '../object/meta.js';
import type { RestConfig } from '../rest/config/rest-config.js';
import { refuseUnknownOptions } from '../runtime/option-names.js';
import { type Runtime, resolveRuntime } from '../runtime/runtime.js';
import { onAbort } from '../runtime/signals.js';
import { Shutdown } from '../runtime/stop-reasons.js';
import { takeRejections } from '../runtime/take-rejections.js';
import { KeyedController, type StartOptions, startOptionNames } from './keyed-controller.js';
import { type KeyedOptions, keyedOptionNames } from './keyed-options.js';
import { SharedCacheFactory, type SharedCacheFactoryOptions } from './shared-cache-factory.js';
import { SharedClientFactory } from './shared-client-factory.js';
import { SharedController } from './shared-controller.js';
import type { SharedControllerHandler } from './shared-controller-handler.js';

/** Options of one kind. */
export interface SharedKindOptions<R extends KubeObject = KubeObject> extends KeyedOptions {
  /** Keys handled at once (`KindWorkers`); takes precedence over `workers` of `start`. */
  readonly workers?: number;
  /** How the kind is cached. */
  readonly cache?: KindCacheOptions<R>;
}

export const sharedKindOptionNames = keyedOptionNames.and<SharedKindOptions<KubeObject>>({
  workers: true,
  cache: true,
});

/** A kind and its options; made by {@link sharedKind}. */
export interface SharedKind {
  readonly kind: KindRef;
  readonly options: SharedKindOptions;
}

/** Options of a kind, for `kinds` of a factory. */
export function sharedKind<R extends KubeObject>(kind: KindRef<R>, options: SharedKindOptions<R>): SharedKind {
  refuseUnknownOptions(`sharedKind(${kind.kind})`, options, sharedKindOptionNames);
  return { kind, options: options as unknown as SharedKindOptions };
}

/** Options of a {@link SharedControllerFactory} (`SharedControllerFactoryOptions`). */
export interface SharedControllerFactoryOptions extends KeyedOptions {
  /** Keys handled at once, for each kind, unless `start` sets it (`DefaultWorkers`). @default 5 */
  readonly workers?: number;
  /** Options of single kinds, each made by `sharedKind`. @default none */
  readonly kinds?: readonly SharedKind[];
  /** Cache defaults for all kinds. */
  readonly cacheDefaults?: SharedCacheFactoryOptions['defaults'];
  /** A cache to share: its kinds are not watched twice. @default its own */
  readonly cache?: Cache;
  /** Called with the result of each attempt to reach the server at startup (`HealthCallback`). @default none */
  readonly healthCallback?: (healthy: boolean) => void;
}

export const sharedControllerFactoryOptionNames = keyedOptionNames.and<SharedControllerFactoryOptions>({
  workers: true,
  kinds: true,
  cacheDefaults: true,
  cache: true,
  healthCallback: true,
});

/**
 * Makes one controller for each kind, shared by all its handlers (`SharedControllerFactory`, `NewSharedControllerFactory`).
 * A program has one factory, with its own connection or with those of a Manager: {@link SharedControllerFactory.fromManager}.
 *
 * @example
 * await using factory = await SharedControllerFactory.fromConfig(config);
 * const deployments = factory.forKind(Deployment); // nothing is listed or watched yet
 * deployments.registerHandler('my-handler', async (key, deployment, ctx) => deployment, { signal });
 * await factory.start({ workers: 5, signal });
 */
export class SharedControllerFactory implements AsyncDisposable {
  /** For a Manager: its name as a `Runnable`. */
  readonly name = 'shared controllers';
  readonly clients: SharedClientFactory;
  /** `SharedCacheFactory` */
  readonly caches: SharedCacheFactory;
  readonly #options: SharedControllerFactoryOptions;
  readonly #runtime: Runtime;
  readonly #calls: UnownedCalls;
  /** In order of creation. */
  readonly #controllers = new Map<string, SharedController>();
  readonly #dedicated = new Set<KeyedController>();
  readonly #stop = new AbortController();
  readonly #listeners = new Map<(record: ReconcileRecord) => void, Disposable[]>();
  readonly #group: ControllerGroup;
  #asked: Disposable | undefined;
  #rejections: Disposable | undefined;
  #owned: ConnectedClient | undefined;
  #running: { readonly workers: number | undefined } | undefined;

  constructor(client: ConnectedClient | SharedClientFactory, options: SharedControllerFactoryOptions = {}) {
    refuseUnknownOptions('SharedControllerFactory', options, sharedControllerFactoryOptionNames);
    this.#options = options;
    this.#runtime = resolveRuntime(options.runtime);
    const clients = client instanceof SharedClientFactory ? client : new SharedClientFactory(client);
    // Handlers may call them without being given them: whose calls they are is not known.
    this.#calls = new UnownedCalls(this.#runtime, () => this.#inFlight);
    this.clients = clients.wrapped((each) => trackedClient(each, this.#calls.track));
    this.caches = new SharedCacheFactory(this.clients, {
      ...{ defaults: options.cacheDefaults, cache: options.cache, healthCallback: options.healthCallback },
      kinds: cachedKinds(options.kinds ?? []),
      runtime: this.#runtime,
    });
    this.#group = this.#makeGroup();
  }

  /** With its own connection (`NewSharedControllerFactoryFromConfig`), which is closed on disposal. */
  static async fromConfig(
    config: RestConfig,
    { scheme, ...options }: SharedControllerFactoryOptions & Pick<ClientOptions, 'scheme'> = {},
  ): Promise<SharedControllerFactory> {
    const client = createClient(config, { scheme, runtime: options.runtime });
    const factory = new SharedControllerFactory(client, options);
    factory.#owned = client;
    return factory;
  }

  /**
   * With the connection and caches of a Manager: kinds that its controllers watch are not watched twice. Add the factory to
   * the Manager to run it: `manager.add(factory, { stage: 'leader' })`. Handlers' clients write only while this replica
   * leads; with `everywhere`, for `manager.add(factory)`, on all replicas.
   */
  static fromManager(
    manager: Pick<Manager, 'connection' | 'leaderClient' | 'cache' | 'runtime'>,
    {
      everywhere = false,
      ...options
    }: Omit<SharedControllerFactoryOptions, 'cache' | 'cacheDefaults'> & { readonly everywhere?: boolean } = {},
  ): SharedControllerFactory {
    const { connection, leaderClient, cache, runtime } = manager;
    const clients = new SharedClientFactory(connection, everywhere ? connection : leaderClient);
    return new SharedControllerFactory(clients, { runtime, ...options, cache });
  }

  /** All controllers, in the order of the first request for each. */
  get controllers(): readonly SharedController[] {
    return [...this.#controllers.values()];
  }

  /** The health of the controllers that were started. */
  get health(): readonly ControllerHealth[] {
    return this.#all.flatMap(({ health }) => health ?? []);
  }

  /** Finished runs of all of them: why each ran, and how it ended. Oldest first. */
  get explain(): readonly ReconcileRecord[] {
    return this.#all.flatMap(({ explain }) => explain).sort((a, b) => a.startedAt - b.startedAt);
  }

  /** Its controllers, as the debug endpoints of a Manager show them. */
  get controllerGroup(): ControllerGroup {
    return this.#group;
  }

  /** Enqueues all objects of all controllers in use. Resolves to their number once they are queued. */
  async enqueueAll(): Promise<number> {
    const counts = await Promise.all(this.#all.map((each) => (each.isUsed ? each.enqueueAll() : 0)));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** Aborts when the factory stops. */
  get stopping(): AbortSignal {
    return this.#stop.signal;
  }

  get isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  /** The controller of a kind (`ForKind`), the same on every call. Sends no request. */
  forKind<R extends KubeObject>(kind: KindRef<R>): SharedController<R> {
    assertKind('SharedControllerFactory.forKind', kind);
    const id = idOf(kind);
    const known = this.#controllers.get(id);
    if (known !== undefined) return known as unknown as SharedController<R>;
    const made: SharedController<R> = new SharedController<R>(
      nameOf(kind),
      {
        cache: this.caches.forKind(kind),
        client: this.clients.forKind(kind),
        connection: this.clients.client,
        onFirstUse: () => this.#startLate(made as unknown as KeyedController),
      },
      this.#optionsOf(kind),
    );
    this.#controllers.set(id, made as unknown as SharedController);
    this.#listenTo(made as unknown as KeyedController);
    return made;
  }

  /** The controller of an object's kind (`ForObject`). Runs discovery if the scheme does not have the kind. */
  async forObject(object: TypeMeta): Promise<SharedController> {
    return this.forKind(await this.clients.kindOf(object));
  }

  /** By resource (`ForResource`). Runs discovery if the scheme does not have the kind. */
  async forResource(gvr: GroupVersionResource): Promise<SharedController> {
    return this.forKind(await this.clients.kindForResource(gvr));
  }

  /** By resource and kind, without discovery (`ForResourceKind`). */
  forResourceKind(gvr: GroupVersionResource, kind: string, namespaced: boolean): SharedController {
    return this.forKind(this.clients.resourceKind(gvr, kind, namespaced));
  }

  /** A controller with its own queue on the shared cache (`controller.New`). */
  dedicated<R extends KubeObject>(
    name: string,
    kind: KindRef<R>,
    handler: SharedControllerHandler<R>,
    options: KeyedOptions = {},
  ): KeyedController<R> {
    refuseUnknownOptions(`controller "${name}"`, options, keyedOptionNames);
    const parts = {
      ...{ cache: this.caches.forKind(kind), client: this.clients.forKind(kind), handler },
      connection: this.clients.client,
    };
    const made = new KeyedController<R>(name, parts, { ...this.#optionsOf(kind), ...options });
    this.#dedicated.add(made as unknown as KeyedController);
    this.#listenTo(made as unknown as KeyedController);
    this.#startLate(made as unknown as KeyedController);
    return made;
  }

  /**
   * Starts the caches, waits until they are synced, and starts each controller in use (`Start`). Others start on first use.
   * Workers: the kind's, else `workers`, else the factory's. All stop when the signal aborts. Rejects if the server refuses
   * a kind; does not wait for one that is not served yet.
   */
  async start(options: StartOptions): Promise<void> {
    refuseUnknownOptions('SharedControllerFactory.start', options, startOptionNames);
    const { workers, signal } = options;
    this.#asked ??= onAbort(signal, () => this.#stop.abort(signal.reason));
    this.#takeRejections();
    await this.caches.start({ signal });
    await this.caches.waitForCacheSync({ signal });
    signal.throwIfAborted();
    this.#running = { workers };
    const desired = this.#all.filter(({ isUsed }) => isUsed);
    await Promise.all(desired.map((controller) => this.#startOne(controller)));
  }

  /** {@link start}, and resolves when the signal has aborted and the last handler has returned: for `manager.add`. */
  async run(options: StartOptions): Promise<void> {
    refuseUnknownOptions('SharedControllerFactory.run', options, startOptionNames);
    const { workers, signal } = options;
    try {
      await this.start({ workers, signal });
      await new Promise<void>((resolve) => void onAbort(signal, resolve));
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#stop.abort(signal.reason);
      // Who stops a Manager hears it from that.
      using _ = this.#options.cache === undefined ? this.#watchStopping() : undefined;
      await this.#ended();
    }
  }

  /** Stops the controller of a kind, and its watch unless it has other users; {@link forKind} then makes a new one. */
  async remove(kind: KindRef): Promise<void> {
    const known = this.#controllers.get(idOf(kind));
    if (known === undefined) return;
    this.#controllers.delete(idOf(kind));
    await known.stop();
    await this.caches.remove(kind);
  }

  /** Stops all controllers; closes the connection if the factory opened it. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#asked?.[Symbol.dispose]();
    this.#stop.abort(new Shutdown());
    await this.#ended();
    await this.caches[Symbol.asyncDispose]();
    await this.#owned?.close();
  }

  #makeGroup(): ControllerGroup {
    const used = () => this.#all.filter(({ isUsed }) => isUsed);
    const [health, explain] = [() => this.health, () => this.explain];
    return {
      get health() {
        return health();
      },
      get explain() {
        return explain();
      },
      get kinds() {
        return used().map(({ name, kind }) => ({ name, kind }));
      },
      pending: (name, most) => this.#all.find((each) => each.name === name)?.pending(most) ?? [],
      onReconciled: (listener) => {
        const ends = this.#all.map((each) => each.onReconciled(listener));
        this.#listeners.set(listener, ends);
        return {
          [Symbol.dispose]: () => {
            this.#listeners.delete(listener);
            for (const end of ends) end[Symbol.dispose]();
          },
        };
      },
    };
  }

  #listenTo(controller: KeyedController): void {
    for (const [listener, ends] of this.#listeners) ends.push(controller.onReconciled(listener));
  }

  #watchStopping(): Disposable {
    const active = () => ({ reconciles: this.#inFlight, runnables: [] });
    return watchStopping(this.#runtime, active, 'as long as they take');
  }

  get #inFlight(): readonly string[] {
    return this.health.flatMap(({ name, active }) => active.map(({ key }) => `${name} ${formatKey(key)}`));
  }

  /** Until the last handler has returned, an unhandled failure of a call must not end the process. */
  #takeRejections(): void {
    if (this.#rejections !== undefined) return;
    const rejections = takeRejections(this.#calls.take);
    this.#rejections = rejections;
    onAbort(this.#stop.signal, () => void this.#ended().finally(() => rejections[Symbol.dispose]()));
  }

  async #ended(): Promise<void> {
    await Promise.all(this.#all.map(({ ended }) => ended));
  }

  get #all(): readonly KeyedController[] {
    return [...this.#controllers.values(), ...this.#dedicated];
  }

  #startOne(controller: KeyedController): Promise<void> {
    const own = this.#ofKind(controller.kind)?.workers;
    const workers = own ?? this.#running?.workers ?? this.#options.workers ?? 5;
    return controller.start({ workers, signal: this.#stop.signal });
  }

  #startLate(controller: KeyedController): void {
    if (this.#running === undefined || this.#stop.signal.aborted) return;
    this.#startOne(controller).catch((error: unknown) => {
      this.#runtime.log.error('cannot start controller', { controller: controller.name, error });
    });
  }

  #ofKind(kind: KindRef): SharedKindOptions | undefined {
    return this.#options.kinds?.find((given) => idOf(given.kind) === idOf(kind))?.options;
  }

  #optionsOf(kind: KindRef): KeyedOptions {
    const { rateLimiter, syncOnlyChangedObjects, retry, metricsContext } = this.#options;
    const { timeout, drain, history, selfWakeBackoff } = this.#options;
    const { workers: _, cache: __, ...own } = this.#ofKind(kind) ?? {};
    const defaults = {
      ...{ rateLimiter, syncOnlyChangedObjects, retry, metricsContext },
      ...{ timeout, drain, history, selfWakeBackoff },
    };
    return { ...defaults, runtime: this.#runtime, ...own };
  }
}

function cachedKinds(kinds: readonly SharedKind[]): CachedKind[] {
  return kinds.flatMap(({ kind, options }) => (options.cache === undefined ? [] : [cached(kind, options.cache)]));
}

function idOf({ gvk, gvr, projection }: KindRef): string {
  return `${formatGvk(gvk)} ${gvr.resource} ${projection ?? ''}`;
}

/** `deployments.v1.apps`, as kubectl takes it. */
function nameOf({ gvr, projection }: KindRef): string {
  const { group, version, resource } = gvr;
  const name = group === '' ? `${resource}.${version}` : `${resource}.${version}.${group}`;
  return projection === undefined ? name : `${name} (${projection})`;
}
