import { Cache } from '../cache/cache.js';
import type { CachedKind, CacheOptions, KindCacheOptions } from '../cache/cache-options.js';
import type { ConnectedClient } from '../client/create-client.js';
import { formatGvk, type GroupVersionResource } from '../object/gvk.js';
import type { KindRef } from '../object/kind.js';
import type { KubeObject, TypeMeta } from '../object/meta.js';
import { optionNames, refuseUnknownOptions } from '../runtime/option-names.js';
import { type Runtime, resolveRuntime } from '../runtime/runtime.js';
import { link } from '../runtime/signals.js';
import { SharedCache } from './shared-cache.js';
import { SharedClientFactory } from './shared-client-factory.js';

/** How often the server is asked whether it is there. */
const pingMs = 1_000;

/** Options of a {@link SharedCacheFactory}. */
export interface SharedCacheFactoryOptions {
  /** For kinds that say nothing themselves (`DefaultResync`, `DefaultNamespace`). Without effect on a given `cache`. */
  readonly defaults?: Pick<CacheOptions, 'namespaces' | 'resyncPeriod' | 'silence'>;
  /** How single kinds are held (`KindResync`, `KindNamespace`, `KindTweakList`), each made by `cached`. @default none */
  readonly kinds?: readonly CachedKind[];
  /** One that runs elsewhere, such as a Manager's: what it holds already is not watched again. @default one of its own */
  readonly cache?: Cache;
  /** Told of every try to reach the server before caches start (`HealthCallback`). @default nobody */
  readonly healthCallback?: (healthy: boolean) => void;
  readonly runtime?: Partial<Runtime>;
}

export const sharedCacheFactoryOptionNames = optionNames<SharedCacheFactoryOptions>({
  defaults: true,
  kinds: true,
  cache: true,
  healthCallback: true,
  runtime: true,
});

/** One informer for each kind, shared by all who ask (`SharedCacheFactory`). */
export class SharedCacheFactory implements AsyncDisposable {
  readonly clients: SharedClientFactory;
  /** What holds all kinds. */
  readonly cache: Cache;
  readonly #options: SharedCacheFactoryOptions;
  readonly #runtime: Runtime;
  readonly #ownsCache: boolean;
  readonly #caches = new Map<string, SharedCache>();
  readonly #stop = new AbortController();
  #healthy: Promise<void> | undefined;
  #running: Promise<void> | undefined;
  #startsAll = false;

  constructor(client: ConnectedClient | SharedClientFactory, options: SharedCacheFactoryOptions = {}) {
    refuseUnknownOptions('SharedCacheFactory', options, sharedCacheFactoryOptionNames);
    this.clients = client instanceof SharedClientFactory ? client : new SharedClientFactory(client);
    this.#options = options;
    this.#runtime = resolveRuntime(options.runtime);
    this.#ownsCache = options.cache === undefined;
    this.cache = options.cache ?? new Cache(this.clients.client, { ...options.defaults, runtime: this.#runtime });
  }

  /** The cache of a kind (`ForKind`): always the same one. */
  forKind<R extends KubeObject>(kind: KindRef<R>): SharedCache<R> {
    const id = idOf(kind);
    const known = this.#caches.get(id);
    if (known !== undefined) return known as unknown as SharedCache<R>;
    const made = new SharedCache<R>(kind, this.cache, this.#optionsOf(kind), () => {
      if (this.#startsAll) this.#begin(kind);
    });
    this.#caches.set(id, made as unknown as SharedCache);
    return made;
  }

  /** Of the kind that an object says it is (`ForObject`). Asks the server if the scheme does not know it. */
  async forObject(object: TypeMeta): Promise<SharedCache> {
    return this.forKind(await this.clients.kindOf(object));
  }

  /** By the name of the resource (`ForResource`). Asks the server if the scheme does not know it. */
  async forResource(gvr: GroupVersionResource): Promise<SharedCache> {
    return this.forKind(await this.clients.kindForResource(gvr));
  }

  /** By all its names, without asking anybody (`ForResourceKind`). */
  forResourceKind(gvr: GroupVersionResource, kind: string, namespaced: boolean): SharedCache {
    return this.forKind(this.clients.resourceKind(gvr, kind, namespaced));
  }

  /**
   * Waits until the server answers, and starts all that is used; what is used later starts by itself (`Start`). Resolves
   * when all have begun; {@link waitForCacheSync} waits for the rest. Ends, with all watches, when the signal aborts;
   * rejects with its reason if that is before the server has answered.
   */
  async start({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    await this.#run(signal);
    this.#startsAll = true;
    for (const { kind, isUsed } of this.#caches.values()) if (isUsed) this.#begin(kind);
  }

  /** As {@link start}, for one kind alone (`StartGVK`). */
  async startKind(kind: KindRef, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    void this.forKind(kind).informer;
    await this.#run(signal);
    this.#begin(kind);
  }

  /**
   * Waits for all kinds that were started, and tells for each whether it is synced (`WaitForCacheSync`): not those that
   * the server refuses, nor those that were not ready when the signal aborted. By `apps/v1, Kind=Deployment`.
   */
  async waitForCacheSync({ signal }: { readonly signal?: AbortSignal } = {}): Promise<ReadonlyMap<string, boolean>> {
    const used = [...this.#caches.values()].filter(({ isUsed }) => isUsed);
    const synced = used.map(async ({ kind, informer }): Promise<readonly [string, boolean]> => {
      const isSynced = informer.synced({ signal }).then(
        () => true,
        () => false,
      );
      return [formatGvk(kind.gvk), await isSynced];
    });
    return new Map(await Promise.all(synced));
  }

  /** Forgets a kind; its watch ends unless others use it. */
  async remove(kind: KindRef): Promise<void> {
    const known = this.#caches.get(idOf(kind));
    this.#caches.delete(idOf(kind));
    await known?.release();
  }

  /** Ends the watches, or, of a cache that was given, its use. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    if (this.#ownsCache) await this.cache.close();
    else await Promise.all([...this.#caches.values()].map((cache) => cache.release()));
    await this.#running;
  }

  async #run(signal: AbortSignal): Promise<void> {
    if (!this.#ownsCache) return;
    this.#healthy ??= this.#waitForServer(signal);
    await this.#healthy;
    this.#running ??= this.cache.run({ signal: link(signal, this.#stop.signal).signal });
  }

  async #waitForServer(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#runtime;
    const { healthCallback } = this.#options;
    for (;;) {
      signal.throwIfAborted();
      const isHealthy = await this.clients.isHealthy({ signal });
      signal.throwIfAborted();
      healthCallback?.(isHealthy);
      if (isHealthy) return;
      log.warn('waiting for the server to answer');
      await clock.sleep(pingMs, { signal });
    }
  }

  /** Has a kind listed that waits for its first use. */
  #begin(kind: KindRef): void {
    this.cache.startKind(kind);
  }

  #optionsOf<R extends KubeObject>(kind: KindRef<R>): KindCacheOptions<R> {
    const given = this.#options.kinds?.find((cached) => idOf(cached.kind) === idOf(kind))?.options ?? {};
    return { ...given, ...(this.#ownsCache && { start: 'when-told' }) } as KindCacheOptions<R>;
  }
}

function idOf({ gvk, gvr, projection }: KindRef): string {
  return `${formatGvk(gvk)} ${gvr.resource} ${projection ?? ''}`;
}
