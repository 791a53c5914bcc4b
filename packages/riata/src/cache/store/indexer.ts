import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import type { DeletedFinalStateUnknown } from '../informer/deleted-final-state-unknown.js';
import { defaultKeyFunc, type KeyFunc, keyed } from './key-func.js';
import { type Store, type Transaction, TransactionError, type TransactionStore } from './store.js';
import type { Indexers } from './store-index.js';
import { type KeyedTransaction, ThreadSafeStore } from './thread-safe-store.js';

/** The read methods of a store with indexes. An unknown index throws. */
export interface IndexReader<T> extends Pick<Store<T>, 'list' | 'listKeys' | 'get' | 'getByKey'> {
  /** Objects that share a value with `obj` in the index, each once; `obj` need not be in the store (`Index`). */
  index(indexName: string, obj: T): T[];
  /** Keys of the objects that have this value in the index (`IndexKeys`). */
  indexKeys(indexName: string, indexedValue: string): string[];
  /** Every value in the index that at least one object has (`ListIndexFuncValues`). */
  listIndexFuncValues(indexName: string): string[];
  /** Objects that have this value in the index (`ByIndex`). */
  byIndex(indexName: string, indexedValue: string): T[];
  /** A copy: changing it changes nothing (`GetIndexers`). */
  getIndexers(): Indexers<T>;
}

/** A store that finds objects by what is in them (`cache.Indexer`). */
export interface Indexer<T> extends Store<T>, IndexReader<T> {
  /** Adds indexes, before or after there are objects. Throws, with nothing added, if a name is taken (`AddIndexers`). */
  addIndexers(indexers: Indexers<T>): void;
}

/** Options of {@link createStore}. */
export interface StoreOptions<T> {
  /** @default keyOf: `namespace/name` */
  readonly keyFunc?: KeyFunc<T>;
  /** Transforms every object before it is stored (`cache.WithTransformer`). @default none */
  readonly transform?: (obj: T) => T;
}

export const storeOptionNames = optionNames<StoreOptions<unknown>>({ keyFunc: true, transform: true });

/** Options of {@link createIndexer}. */
export interface IndexerOptions<T> extends StoreOptions<T> {
  /** More can be added later. @default none */
  readonly indexers?: Indexers<T>;
}

export const indexerOptionNames = optionNames<IndexerOptions<unknown>>({
  indexers: true,
  keyFunc: true,
  transform: true,
});

class KeyedStore<T> implements Indexer<T>, TransactionStore<T> {
  readonly #storage: ThreadSafeStore<T>;
  readonly #keyOf: KeyFunc<T | DeletedFinalStateUnknown<T>>;
  readonly #transform: ((obj: T) => T) | undefined;

  constructor({ keyFunc = defaultKeyFunc, indexers, transform }: IndexerOptions<T>) {
    this.#storage = new ThreadSafeStore(indexers);
    this.#keyOf = keyed(keyFunc);
    this.#transform = transform;
  }

  add(obj: T): void {
    this.#storage.add(this.#keyOf(obj), this.#kept(obj));
  }

  update(obj: T): void {
    this.#storage.update(this.#keyOf(obj), this.#kept(obj));
  }

  delete(obj: T | DeletedFinalStateUnknown<T>): void {
    this.#storage.delete(this.#keyOf(obj), obj);
  }

  replace(list: readonly T[], resourceVersion: string): void {
    const items = new Map<string, T>();
    for (const obj of list) items.set(this.#keyOf(obj), this.#kept(obj));
    this.#storage.replace(items, resourceVersion);
  }

  transaction(transactions: readonly Transaction<T>[]): void {
    const places: number[] = [];
    const writes: KeyedTransaction<T>[] = [];
    const failures: [place: number, error: unknown][] = [];
    for (const [place, transaction] of transactions.entries()) {
      try {
        const key = this.#keyOf(transaction.object);
        if (transaction.type === 'Delete') writes.push({ ...transaction, key });
        else writes.push({ type: transaction.type, key, object: this.#kept(transaction.object) });
        places.push(place);
      } catch (error) {
        failures.push([place, error]);
      }
    }
    const refused = this.#storage.transaction(writes);
    for (const [at, error] of refused ?? []) failures.push([places[at] ?? at, error]);
    if (failures.length === 0) return;
    failures.sort(([a], [b]) => a - b);
    const done = places.filter((_, at) => !refused?.has(at));
    throw new TransactionError(
      done,
      transactions.length,
      failures.map(([, error]) => error),
    );
  }

  list(): T[] {
    return this.#storage.list();
  }

  listKeys(): string[] {
    return this.#storage.listKeys();
  }

  get(obj: T): T | undefined {
    return this.#storage.get(this.#keyOf(obj));
  }

  getByKey(key: string): T | undefined {
    return this.#storage.get(key);
  }

  bookmark(resourceVersion: string): void {
    this.#storage.bookmark(resourceVersion);
  }

  lastStoreSyncResourceVersion(): string {
    return this.#storage.lastStoreSyncResourceVersion();
  }

  resync(): void {}

  index(indexName: string, obj: T): T[] {
    return this.#storage.index(indexName, obj);
  }

  indexKeys(indexName: string, indexedValue: string): string[] {
    return this.#storage.indexKeys(indexName, indexedValue);
  }

  listIndexFuncValues(indexName: string): string[] {
    return this.#storage.listIndexFuncValues(indexName);
  }

  byIndex(indexName: string, indexedValue: string): T[] {
    return this.#storage.byIndex(indexName, indexedValue);
  }

  getIndexers(): Indexers<T> {
    return this.#storage.getIndexers();
  }

  addIndexers(indexers: Indexers<T>): void {
    this.#storage.addIndexers(indexers);
  }

  #kept(obj: T): T {
    return this.#transform === undefined ? obj : this.#transform(obj);
  }
}

/** A plain store (`cache.NewStore`). */
export function createStore<T>(options: StoreOptions<T> = {}): Store<T> & TransactionStore<T> {
  refuseUnknownOptions('createStore', options, storeOptionNames);
  return new KeyedStore<T>(options);
}

/**
 * A store with indexes (`cache.NewIndexer`).
 *
 * @example
 * const pods = createIndexer<Pod>({ indexers: { byNode: (pod) => [pod.spec.nodeName ?? ''] } });
 * pods.add(pod);
 * pods.byIndex('byNode', 'node-1');
 */
export function createIndexer<T>(options: IndexerOptions<T> = {}): Indexer<T> & TransactionStore<T> {
  refuseUnknownOptions('createIndexer', options, indexerOptionNames);
  return new KeyedStore<T>(options);
}
