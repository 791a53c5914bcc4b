import { fieldIndex } from '../cache/cache-selection.js';
import type { IndexFunc } from '../cache/store/store-index.js';
import type { Key } from '../client/interfaces.js';
import type { CallOptions, Selection } from '../client/options.js';
import type { Scope } from '../object/kind.js';
import type { KubeObject } from '../object/meta.js';
import type { SharedCache } from '../shared/shared-cache.js';

/**
 * Objects of one kind at hand (`generic.CacheInterface`, `generic.NonNamespacedCacheInterface`): reads cost no request,
 * and show what this process has written. They wait for the first list; what they give is frozen.
 */
export class TypedCache<R extends KubeObject = KubeObject, S extends Scope = Scope> {
  readonly #cache: SharedCache<R>;
  readonly #indexes = new Set<string>();

  constructor(cache: SharedCache<R>) {
    this.#cache = cache;
  }

  /** Rejects with an error that `isNotFound` knows if there is none (`Get`). */
  async get(key: Key<S>, options?: CallOptions): Promise<R> {
    void this.#cache.informer;
    return this.#cache.cache.get(this.#cache.kind, key as Key<never>, options);
  }

  /** The object, or undefined if there is none. */
  async find(key: Key<S>, options?: CallOptions): Promise<R | undefined> {
    void this.#cache.informer;
    return this.#cache.cache.find(this.#cache.kind, key as Key<never>, options);
  }

  /** Those that match, in no promised order (`List`). */
  async list(selection: Omit<Selection, 'fieldSelector'> & CallOptions = {}): Promise<readonly R[]> {
    return (await this.#cache.list(selection)).items;
  }

  /**
   * Has {@link getByIndex} find objects by what `values` says of them; at any time, also while it runs (`AddIndexer`).
   * Throws if there is an index of that name.
   */
  addIndexer(name: string, values: IndexFunc<R>): void {
    if (!/^[\w.-]+$/.test(name)) {
      throw new TypeError(`index ${JSON.stringify(name)}: expected a name of letters, digits, ".", "-" and "_"`);
    }
    this.#cache.informer.addIndexers({ [fieldIndex(fieldOf(name))]: values });
    this.#indexes.add(name);
  }

  /** The objects for which an index gives this value (`GetByIndex`). Rejects if there is no such index. */
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

/** No field of an object is called so. */
function fieldOf(name: string): string {
  return `index/${name}`;
}
