import { fieldIndex } from '../cache/cache-selection.js';
import type { IndexFunc } from '../cache/store/store-index.js';
import type { Key } from '../client/interfaces.js';
import type { CallOptions, Selection } from '../client/options.js';
import type { Scope } from '../object/kind.js';
import type { KubeObject } from '../object/meta.js';
import type { SharedCache } from '../shared/shared-cache.js';

/**
 * The cached objects of one kind (`generic.CacheInterface`, `generic.NonNamespacedCacheInterface`): reads send no request
 * and include this process's own writes. They wait for the first list. Objects are frozen.
 */
export class TypedCache<R extends KubeObject = KubeObject, S extends Scope = Scope> {
  readonly #cache: SharedCache<R>;
  readonly #indexes = new Set<string>();

  constructor(cache: SharedCache<R>) {
    this.#cache = cache;
  }

  /** The object; rejects with an error that `isNotFound` recognizes if it does not exist (`Get`). */
  async get(key: Key<S>, options?: CallOptions): Promise<R> {
    void this.#cache.informer;
    return this.#cache.cache.get(this.#cache.kind, key as Key<never>, options);
  }

  /** The object, or undefined if it does not exist. */
  async find(key: Key<S>, options?: CallOptions): Promise<R | undefined> {
    void this.#cache.informer;
    return this.#cache.cache.find(this.#cache.kind, key as Key<never>, options);
  }

  /** The objects that match, in any order (`List`). */
  async list(selection: Omit<Selection, 'fieldSelector'> & CallOptions = {}): Promise<readonly R[]> {
    return (await this.#cache.list(selection)).items;
  }

  /**
   * Adds an index for {@link getByIndex} (`AddIndexer`), at any time, also while the informer runs. Throws if the index is
   * already registered.
   */
  addIndexer(name: string, values: IndexFunc<R>): void {
    if (!/^[\w.-]+$/.test(name)) {
      throw new TypeError(`index ${JSON.stringify(name)}: expected a name of letters, digits, ".", "-" and "_"`);
    }
    this.#cache.informer.addIndexers({ [fieldIndex(fieldOf(name))]: values });
    this.#indexes.add(name);
  }

  /** The objects with this value in an index (`GetByIndex`). Rejects if the index is not registered. */
  async getByIndex(name: string, value: string, options?: CallOptions): Promise<readonly R[]> {
    if (!this.#indexes.has(name)) {
      const known = [...this.#indexes].join(', ') || 'none';
      throw new Error(
        `index ${JSON.stringify(name)} is not registered; call addIndexer first; known indexes are ${known}`,
      );
    }
    return (await this.#cache.list({ ...options, fieldSelector: { [fieldOf(name)]: value } })).items;
  }
}

/** Cannot be the name of a field. */
function fieldOf(name: string): string {
  return `index/${name}`;
}
