import type { DeletedFinalStateUnknown } from '../informer/deleted-final-state-unknown.js';

/** What a Reflector fills (`cache.ReflectorStore`, `ReflectorBookmarkStore`). Every method throws on an object without a key. */
export interface ReflectorStore<in T> {
  /** Takes in an object that is new, as far as the caller knows; one of the same key gives way. */
  add(obj: T): void;
  /** Takes in an object's newer state. Stores do the same as for {@link add}. */
  update(obj: T): void;
  /** Lets go of the object with this one's key. Nothing happens if there is none. */
  delete(obj: T | DeletedFinalStateUnknown<T>): void;
  /** Everything there is, in place of all that was; the list is taken over. `resourceVersion` is that of the list. */
  replace(list: readonly T[], resourceVersion: string): void;
  /** Tells that nothing changed up to this resourceVersion, as a watch bookmark does. */
  bookmark(resourceVersion: string): void;
  /** Queues requeue everything known; stores do nothing. Never contacts the server. */
  resync(): void;
}

/**
 * Objects by key (`cache.Store`). `T` goes in; `A` is what is kept for each key: in plain stores the object itself, as it
 * came in, in a `DeltaFIFO` its changes. Lists are copies: a store may change while one is read.
 */
export interface Store<T, A = T> extends ReflectorStore<T> {
  /** What is kept, in no promised order. */
  list(): A[];
  /** The keys of all that is kept (`ListKeys`), in no order that could be relied on. */
  listKeys(): string[];
  /** What is kept under this object's key. */
  get(obj: T): A | undefined;
  /** What is kept under a key (`GetByKey`); undefined if nothing is. */
  getByKey(key: string): A | undefined;
  /**
   * The newest resourceVersion that the store has seen, by an object, a list or a bookmark; `''` if none
   * (`LastStoreSyncResourceVersion`).
   */
  lastStoreSyncResourceVersion(): string;
}

/** Tells which objects the reader of a queue knows (`cache.KeyListerGetter`, `KeyListGetter`): mostly the store that it keeps up to date. */
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
  /** Carries all of them out, in order. Those that fail don't keep the others back: a {@link TransactionError} names them. */
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
