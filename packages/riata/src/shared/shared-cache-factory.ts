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

/** Interval between requests until the server answers. */
const pingMs = 1_000;

/** Options of a {@link SharedCacheFactory}. */
export interface SharedCacheFactoryOptions {
  /** Defaults for all kinds (`DefaultResync`, `DefaultNamespace`). Without effect on a given `cache`. */
  readonly defaults?: Pick<CacheOptions, 'namespaces' | 'resyncPeriod' | 'silence'>;
  /** Options of single kinds (`KindResync`, `KindNamespace`, `KindTweakList`), each made by `cached`. @default none */
  readonly kinds?: readonly CachedKind[];
  /** A cache to share, such as a Manager's: its kinds are not watched twice. @default its own */
  readonly cache?: Cache;
  /** Called with the result of each attempt to reach the server before caches start (`HealthCallback`). @default none */
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

/** One shared informer for each kind (`SharedCacheFactory`). */
export class SharedCacheFactory implements AsyncDisposable {
  readonly clients: SharedClientFactory;
  /** The cache of all kinds. */
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

  /** The cache of a kind (`ForKind`), the same on every call. */
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

  /** The cache of an object's kind (`ForObject`). Runs discovery if the scheme does not have the kind. */
  async forObject(object: TypeMeta): Promise<SharedCache> {
    return this.forKind(await this.clients.kindOf(object));
  }

  /** By resource (`ForResource`). Runs discovery if the scheme does not have the kind. */
  async forResource(gvr: GroupVersionResource): Promise<SharedCache> {
    return this.forKind(await this.clients.kindForResource(gvr));
  }

  /** By resource and kind, without discovery (`ForResourceKind`). */
  forResourceKind(gvr: GroupVersionResource, kind: string, namespaced: boolean): SharedCache {
    return this.forKind(this.clients.resourceKind(gvr, kind, namespaced));
  }

  /**
   * Waits until the server answers, and starts all caches in use; others start on first use (`Start`). Resolves when all
   * have started; {@link waitForCacheSync} waits until they are synced. All watches stop when the signal aborts. Rejects
   * with its reason if it aborts before the server has answered.
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
   * Waits for all started kinds and resolves to whether each is synced, by `apps/v1, Kind=Deployment` (`WaitForCacheSync`).
   * False: the server refused the kind, or the signal aborted first.
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

  /** Removes a kind; its watch stops unless it has other users. */
  async remove(kind: KindRef): Promise<void> {
    const known = this.#caches.get(idOf(kind));
    this.#caches.delete(idOf(kind));
    await known?.release();
  }

  /** Stops the watches; of a cache that was passed in, releases its kinds. */
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

  /** Starts the informer of a kind. */
  #begin(kind: KindRef): void {
    this.cache.startKind(kind);
  }

  #optionsOf<R extends KubeObject>(kind: KindRef<R>): KindCacheOptions<R> {
    const given = this.#options.kinds?.find((cached) => idOf(cached.kind) === idOf(kind))?.options ?? {};
    return { ...given, ...(this.#ownsCache && { start: 'explicit' }) } as KindCacheOptions<R>;
  }
}

function idOf({ gvk, gvr, projection }: KindRef): string {
  return `${formatGvk(gvk)} ${gvr.resource} ${projection ?? ''}`;
}
