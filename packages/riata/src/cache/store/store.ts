import type { DeletedFinalStateUnknown } from '../informer/deleted-final-state-unknown.js';

/**
 * A store that a Reflector fills (`cache.ReflectorStore`, `ReflectorBookmarkStore`). Every method throws on an object
 * without a key.
 */
export interface ReflectorStore<in T> {
  /** Takes in an object that is new, as far as the caller knows; one of the same key gives way. */
  add(obj: T): void;
  /** Takes in an object's newer state. Stores do the same as for {@link add}. */
  update(obj: T): void;
  /** Removes the object with this one's key, if there is one. */
  delete(obj: T | DeletedFinalStateUnknown<T>): void;
  /** Replaces all objects; takes over the list. `resourceVersion` is that of the list. */
  replace(list: readonly T[], resourceVersion: string): void;
  /** Reports that nothing changed up to this resourceVersion, as a watch bookmark does. */
  bookmark(resourceVersion: string): void;
  /** Queues requeue everything known; stores do nothing. Never contacts the server. */
  resync(): void;
}

/**
 * Objects by key (`cache.Store`). `T` goes in; `A` is what is kept for each key: in plain stores the object itself, as it
 * came in, in a `DeltaFIFO` its changes. Lists are copies: a store may change while one is read.
 */
export interface Store<T, A = T> extends ReflectorStore<T> {
  /** The objects, in no particular order. */
  list(): A[];
  /** The keys of all objects (`ListKeys`), in no particular order. */
  listKeys(): string[];
  /** The object under this one's key. */
  get(obj: T): A | undefined;
  /** The object under a key (`GetByKey`); undefined if it is missing. */
  getByKey(key: string): A | undefined;
  /**
   * The newest resourceVersion that the store has seen, by an object, a list or a bookmark; `''` if none
   * (`LastStoreSyncResourceVersion`).
   */
  lastStoreSyncResourceVersion(): string;
}

/**
 * The objects that the reader of a queue knows (`cache.KeyListerGetter`, `KeyListGetter`): mostly the store that it
 * maintains.
 */
export interface KeyListerGetter<out T> {
  listKeys(): string[];
  getByKey(key: string): T | undefined;
}

/** One write out of several (`cache.Transaction`). */
export type Transaction<T> =
  | { readonly type: 'Add' | 'Update'; readonly object: T }
  | { readonly type: 'Delete'; readonly object: T | DeletedFinalStateUnknown<T> };

/** A store that takes several writes in one call (`cache.TransactionStore`). */
export interface TransactionStore<T> {
  /** Runs all of them, in order. Failures don't stop the others: a {@link TransactionError} names them. */
  transaction(transactions: readonly Transaction<T>[]): void;
}

/** Some writes of a transaction failed (`cache.TransactionError`); the others are done. */
export class TransactionError extends AggregateError {
  /** Places of the writes that are done. */
  readonly successfulIndices: readonly number[];
  readonly totalTransactions: number;

  constructor(successfulIndices: readonly number[], totalTransactions: number, errors: readonly unknown[]) {
    const [first] = errors;
    const why = first instanceof Error ? first.message : String(first);
    super([...errors], `${errors.length} of ${totalTransactions} writes to the store failed; the first: ${why}`);
    this.name = 'TransactionError';
    this.successfulIndices = successfulIndices;
    this.totalTransactions = totalTransactions;
  }
}
