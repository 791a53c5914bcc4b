import type { Cache, CacheUse } from '../cache/cache.js';
import type { KindCacheOptions } from '../cache/cache-options.js';
import type { Informer } from '../cache/informer.js';
import type { Key } from '../client/interfaces.js';
import type { CallOptions, ListOptions } from '../client/options.js';
import { keyOf, splitKey } from '../object/key.js';
import type { KindRef } from '../object/kind.js';
import type { KubeList, KubeObject } from '../object/meta.js';

/**
 * One kind of a `SharedCacheFactory` (`cache.Cache` of lasso). It lists and watches nothing before the informer is requested
 * or an object is read, and the factory, or the Manager that owns the cache, runs.
 */
export class SharedCache<R extends KubeObject = KubeObject> {
  readonly kind: KindRef<R>;
  /** The cache of all kinds. */
  readonly cache: Cache;
  readonly #options: KindCacheOptions<R>;
  readonly #onUse: () => void;
  #use: CacheUse<R> | undefined;

  constructor(kind: KindRef<R>, cache: Cache, options: KindCacheOptions<R>, onUse: () => void) {
    this.kind = kind;
    this.cache = cache;
    this.#options = options;
    this.#onUse = onUse;
  }

  /** True once the informer was requested or an object was read. */
  get isUsed(): boolean {
    return this.#use !== undefined;
  }

  /** The shared informer; requesting it starts the watch (`SharedIndexInformer`). */
  get informer(): Informer<R> {
    if (this.#use === undefined) {
      this.#use = this.cache.use(this.kind, this.#options);
      this.#onUse();
    }
    return this.#use.informer;
  }

  /** The cached object, own writes included; undefined if it does not exist. Waits for the first list. */
  async find(key: string, options?: CallOptions): Promise<R | undefined> {
    void this.informer;
    return this.cache.find(this.kind, splitKey(key) as Key<never>, options);
  }

  /** The cached objects. Waits for the first list. */
  async list(options?: ListOptions): Promise<KubeList<R>> {
    void this.informer;
    return this.cache.list(this.kind, options);
  }

  /** Keys of all objects. Waits for the first list. */
  async keys(options?: CallOptions): Promise<string[]> {
    return (await this.list(options)).items.map(keyOf);
  }

  /** Releases the kind; the watch stops with its last user. It can be used again. */
  async release(): Promise<void> {
    const use = this.#use;
    this.#use = undefined;
    await use?.release();
  }
}
