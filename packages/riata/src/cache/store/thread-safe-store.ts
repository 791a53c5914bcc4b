import { resourceVersionOf } from './key-func.js';
import { type IndexErrorFunc, type Indexers, StoreIndex } from './store-index.js';

const none: readonly string[] = [];

/** One write out of several, by key (`cache.ThreadSafeStoreTransaction`). */
export type KeyedTransaction<T> =
  | { readonly type: 'Add' | 'Update'; readonly key: string; readonly object: T }
  | { readonly type: 'Delete'; readonly key: string; readonly object?: unknown };

/**
 * Objects by key, with indexes (`cache.ThreadSafeStore`): the base of `createStore` and `createIndexer`, for callers
 * that make keys themselves. There is one thread, so being safe means: every returned list is a copy, so that the store
 * may change while one is read, and a write that fails in an index function changes nothing.
 *
 * Objects are stored and returned as they are. Changing one breaks the indexes.
 */
export class ThreadSafeStore<T> {
  #items = new Map<string, T>();
  /** Few: found by a linear search, and all visited on every write. */
  #indexes: readonly StoreIndex<T>[] = [];
  #resourceVersion = '';

  readonly #onIndexError: IndexErrorFunc<T> | undefined;

  /** `onIndexError`: called when an index function fails; the object is not in that index then. @default a write throws */
  constructor(indexers: Indexers<T> = {}, onIndexError?: IndexErrorFunc<T>) {
    this.#onIndexError = onIndexError;
    this.addIndexers(indexers);
  }

  /** How many objects there are. */
  get size(): number {
    return this.#items.size;
  }

  /** The same as {@link update}. */
  add(key: string, obj: T): void {
    this.update(key, obj);
  }

  /** Puts the object in, or in the place of the one that has the key. Throws, unchanged, if an index function does. */
  update(key: string, obj: T): void {
    this.#set(key, obj);
    this.#saw(obj);
  }

  /**
   * Takes an object out. With its final state (`DeleteWithObject`), the resourceVersion of that counts as seen.
   * Never fails.
   */
  delete(key: string, finalState?: unknown): void {
    this.#remove(key);
    this.#saw(finalState);
  }

  get(key: string): T | undefined {
    return this.#items.get(key);
  }

  has(key: string): boolean {
    return this.#items.has(key);
  }

  list(): T[] {
    return [...this.#items.values()];
  }

  listKeys(): string[] {
    return [...this.#items.keys()];
  }

  /** Takes over `items` in place of everything. Throws, unchanged, if an index function does. */
  replace(items: Map<string, T>, resourceVersion: string): void {
    const indexes = this.#indexes.map(({ name, func }) => filled(this.#newIndex(name, func), items));
    this.#items = items;
    this.#indexes = indexes;
    this.#resourceVersion = resourceVersion;
  }

  /** Carries all of them out, in order; gives the failures by place, and nothing if there was none. */
  transaction(transactions: readonly KeyedTransaction<T>[]): Map<number, unknown> | undefined {
    let failures: Map<number, unknown> | undefined;
    for (const [at, transaction] of transactions.entries()) {
      try {
        if (transaction.type === 'Delete') this.delete(transaction.key, transaction.object);
        else this.update(transaction.key, transaction.object);
      } catch (error) {
        failures ??= new Map();
        failures.set(at, error);
      }
    }
    return failures;
  }

  /** Reports that nothing changed up to this resourceVersion. */
  bookmark(resourceVersion: string): void {
    this.#resourceVersion = resourceVersion;
  }

  /** The resourceVersion of what came last: an object, a list or a bookmark; `''` if nothing did. */
  lastStoreSyncResourceVersion(): string {
    return this.#resourceVersion;
  }

  /** Objects that share a value with `obj` in the index, each once. `obj` need not be in the store. */
  index(indexName: string, obj: T): T[] {
    const index = this.#indexNamed(indexName);
    const values = index.valuesOf(obj, 'asked for');
    if (values.length === 1) return this.byIndex(indexName, values[0] ?? '');
    const keys = new Set<string>();
    for (const value of values) for (const key of index.keys(value)) keys.add(key);
    return this.#pick(keys);
  }

  /** Objects that have this value in the index. */
  byIndex(indexName: string, indexedValue: string): T[] {
    return this.#pick(this.#indexNamed(indexName).keys(indexedValue));
  }

  /** Keys of the objects that have this value in the index. */
  indexKeys(indexName: string, indexedValue: string): string[] {
    return [...this.#indexNamed(indexName).keys(indexedValue)];
  }

  /** Every value in the index that at least one object has. */
  listIndexFuncValues(indexName: string): string[] {
    return this.#indexNamed(indexName).values();
  }

  /** Whether an object is in the store, and not in the index as the function failed for it. */
  isUnindexed(indexName: string, key: string): boolean {
    return this.#items.has(key) && this.#indexes.some((index) => index.name === indexName && index.isUnindexed(key));
  }

  /** Calls an index function for an object again. */
  reindex(indexName: string, key: string): void {
    const obj = this.#items.get(key);
    const index = this.#indexNamed(indexName);
    if (obj !== undefined) index.move(key, obj, index.valuesFor(obj, key));
  }

  /** A copy. */
  getIndexers(): Indexers<T> {
    return Object.fromEntries(this.#indexes.map(({ name, func }) => [name, func]));
  }

  /**
   * Adds indexes; stored objects are indexed, too. Throws, with nothing added, if a name is taken or a function fails.
   */
  addIndexers(indexers: Indexers<T>): void {
    const taken = Object.keys(indexers).filter((name) => this.#indexes.some((index) => index.name === name));
    if (taken.length > 0) {
      throw new Error(`index ${taken.map(quoted).join(', ')} already exists; choose another name`);
    }
    const added = Object.entries(indexers).map(([name, func]) => filled(this.#newIndex(name, func), this.#items));
    this.#indexes = [...this.#indexes, ...added];
  }

  /** As {@link addIndexers}, in place of an index that has the name, if there is one. */
  setIndexer(name: string, func: Indexers<T>[string]): void {
    const made = filled(this.#newIndex(name, func), this.#items);
    this.#indexes = [...this.#indexes.filter((index) => index.name !== name), made];
  }

  removeIndexer(name: string): void {
    this.#indexes = this.#indexes.filter((index) => index.name !== name);
  }

  #set(key: string, obj: T): void {
    const indexes = this.#indexes;
    // All values first: once the first index has changed, nothing may fail.
    const values: (readonly string[] | undefined)[] = [];
    for (let at = 0; at < indexes.length; at += 1) values.push(indexes[at]?.valuesFor(obj, key));
    const old = this.#items.get(key);
    this.#items.set(key, obj);
    for (let at = 0; at < indexes.length; at += 1) indexes[at]?.move(key, old, values[at]);
  }

  #newIndex(name: string, func: Indexers<T>[string]): StoreIndex<T> {
    return new StoreIndex(name, func, this.#onIndexError);
  }

  #remove(key: string): void {
    const old = this.#items.get(key);
    if (old === undefined) return;
    this.#items.delete(key);
    for (const index of this.#indexes) index.move(key, old, none);
  }

  #saw(obj: unknown): void {
    const version = resourceVersionOf(obj);
    if (version !== undefined) this.#resourceVersion = version;
  }

  #pick(keys: Iterable<string>): T[] {
    const found: T[] = [];
    for (const key of keys) {
      const obj = this.#items.get(key);
      if (obj !== undefined) found.push(obj);
    }
    return found;
  }

  #indexNamed(name: string): StoreIndex<T> {
    const index = this.#indexes.find((index) => index.name === name);
    if (index !== undefined) return index;
    const known = this.#indexes.map(({ name }) => quoted(name)).join(', ') || 'none';
    throw new Error(`index ${quoted(name)} not found, known: ${known}; add it with addIndexers`);
  }
}

function filled<T>(index: StoreIndex<T>, items: ReadonlyMap<string, T>): StoreIndex<T> {
  for (const [key, obj] of items) index.move(key, undefined, index.valuesFor(obj, key));
  return index;
}

function quoted(name: string): string {
  return JSON.stringify(name);
}
