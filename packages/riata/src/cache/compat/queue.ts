import type { Store } from '../store/store.js';

/**
 * Processes what was popped (`cache.PopProcessFunc`). `isInInitialList` is true for what the first `replace` brought in.
 * May be asynchronous; the queue hands out nothing else until it is done.
 */
export type PopProcessFunc<in A> = (item: A, isInInitialList: boolean) => void | Promise<void>;

/** What a wait takes. */
export interface PopOptions {
  /** Ends the wait: it rejects with the signal's reason. Does not interrupt processing. */
  readonly signal?: AbortSignal;
}

/**
 * A store whose contents are queued for processing (`cache.Queue`): `T` goes in, for each key an `A` comes out and is
 * no longer in the store then.
 */
export interface Queue<T, A = T> extends Store<T, A> {
  /**
   * Waits for the next item, takes it out and has it processed; resolves to it after that (`Pop`). Rejects with what
   * `process` throws; if that is a {@link RequeueError}, the item is put back, and `pop` rejects with the error inside.
   * Once the queue is closed and empty it rejects with a {@link QueueClosedError}. Several calls take turns.
   */
  pop(process: PopProcessFunc<A>, options?: PopOptions): Promise<A>;
  /** Puts back what was popped, unless there is something newer for its key (`AddIfNotPresent`). */
  addIfNotPresent(item: A): void;
  /**
   * True once all that the first `replace` brought in has been processed; at once if something else came first
   * (`HasSynced`).
   */
  hasSynced(): boolean;
  /** Resolves when {@link hasSynced} is true (`HasSyncedChecker`). */
  synced(options?: PopOptions): Promise<void>;
  /** Ends all waits. Queued items can still be popped (`Close`). May be called again. */
  close(): void;
  /** True after {@link close} (`IsClosed`). */
  isClosed(): boolean;
}

const requeueBrand: unique symbol = Symbol.for('riata.RequeueError') as never;
const closedBrand: unique symbol = Symbol.for('riata.QueueClosedError') as never;

/** Thrown by a {@link PopProcessFunc} to have the item put back (`cache.ErrRequeue`). */
export class RequeueError extends Error {
  /** What `pop` rejects with; without one it resolves. */
  readonly inner: unknown;

  constructor(inner?: unknown) {
    super('the item is requeued', { cause: inner });
    this.name = 'RequeueError';
    this.inner = inner;
    Object.defineProperty(this, requeueBrand, { value: true });
  }
}

/** The queue was closed, and nothing is left in it (`cache.ErrFIFOClosed`). */
export class QueueClosedError extends Error {
  constructor() {
    super('the queue is closed and empty');
    this.name = 'QueueClosedError';
    Object.defineProperty(this, closedBrand, { value: true });
  }
}

/** True for a {@link RequeueError}, also one of another copy of the package. */
export function isRequeueError(error: unknown): error is RequeueError {
  return typeof error === 'object' && error !== null && requeueBrand in error;
}

/** True for a {@link QueueClosedError}, also one of another copy of the package. */
export function isQueueClosed(error: unknown): error is QueueClosedError {
  return typeof error === 'object' && error !== null && closedBrand in error;
}
