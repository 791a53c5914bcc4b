import { onAbort } from '../../runtime/signals.js';
import type { Scheduler } from '../../runtime/time/clock.js';
import type { Store } from '../store/store.js';

/**
 * Processes what was popped (`cache.PopProcessFunc`). `isInInitialList` is true for what the first `replace` brought in.
 * May be asynchronous; the queue hands out nothing else until it is done.
 */
export type PopProcessFunc<in A> = (item: A, isInInitialList: boolean) => void | Promise<void>;

/** Options of a wait. */
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
   * True once all items of the first `replace` have been processed; at once if something else came first (`HasSynced`).
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
  /** The reason with which `pop` rejects; without one it resolves. */
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

/** The queue that {@link processQueue} empties: `popBatch`, if present, returns several items at once. */
export type ProcessedQueue<T, A> = Queue<T, A> & {
  popBatch?(process: PopProcessFunc<A>, options?: PopOptions): Promise<A>;
};

/** How {@link processQueue} works. */
export interface ProcessQueueOptions {
  readonly signal: AbortSignal;
  readonly clock: Scheduler;
  /** Puts an item back whose processing failed; items come one by one then. @default false */
  readonly retryOnError?: boolean;
  readonly onError: (error: unknown) => void;
}

/** Has everything processed that comes into the queue, until the queue is closed, as it is when the signal aborts. */
export async function processQueue<T, A>(
  queue: ProcessedQueue<T, A>,
  process: PopProcessFunc<A>,
  { signal, clock, retryOnError = false, onError }: ProcessQueueOptions,
): Promise<void> {
  let popped: { readonly item: A } | undefined;
  const processed: PopProcessFunc<A> = (item, isInInitialList) => {
    // Kept only for the case that it fails.
    if (retryOnError) popped = { item };
    return process(item, isInInitialList);
  };
  // Without the signal, which costs something for each wait: closing the queue ends them as well.
  while (!signal.aborted) {
    try {
      if (retryOnError || queue.popBatch === undefined) await queue.pop(processed);
      else await queue.popBatch(processed);
    } catch (error) {
      if (signal.aborted || isQueueClosed(error)) return;
      onError(error);
      if (popped !== undefined) queue.addIfNotPresent(popped.item);
      popped = undefined;
      // An item that fails again and again must not keep everything else from running.
      await clock.yield();
    }
  }
}

interface Waiter {
  enter(): void;
  refuse(error: unknown): void;
}

/** Lets one reader at a time into a queue, when there is something to read. In Go, a mutex and a condition. */
export class PopGate {
  readonly #isReady: () => boolean;
  /** In the order of their calls. */
  readonly #waiters = new Set<Waiter>();
  #busy = false;
  #closed = false;

  /** `isReady`: whether there is something to read. */
  constructor(isReady: () => boolean) {
    this.#isReady = isReady;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /**
   * Enters at once, or returns a promise to wait for; it throws or rejects when the queue is closed and empty. The item
   * may be gone after the wait: check, {@link leave} and enter again.
   */
  enter(signal: AbortSignal | undefined): Promise<void> | undefined {
    if (signal?.aborted) throw signal.reason;
    if (!this.#busy) {
      if (this.#isReady()) {
        this.#busy = true;
        return undefined;
      }
      if (this.#closed) throw new QueueClosedError();
    }
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { enter: resolve, refuse: reject };
      const settled = onAbort(signal, () => {
        this.#waiters.delete(waiter);
        reject(signal?.reason);
      });
      waiter.enter = () => {
        settled[Symbol.dispose]();
        resolve();
      };
      waiter.refuse = (error) => {
        settled[Symbol.dispose]();
        reject(error);
      };
      this.#waiters.add(waiter);
    });
  }

  leave(): void {
    this.#busy = false;
    this.wake();
  }

  /** To be called when something came in. */
  wake(): void {
    if (this.#busy || this.#waiters.size === 0) return;
    if (this.#isReady()) {
      const [first] = this.#waiters;
      if (first === undefined) return;
      this.#waiters.delete(first);
      this.#busy = true;
      first.enter();
    } else if (this.#closed) {
      for (const waiter of this.#waiters) waiter.refuse(new QueueClosedError());
      this.#waiters.clear();
    }
  }

  close(): void {
    this.#closed = true;
    this.wake();
  }

  /**
   * Enters, takes something with `take` and processes it; then `finish` learns whether to requeue it, and the gate
   * opens again.
   */
  async pass<E>(
    take: () => E | undefined,
    process: (taken: E) => void | Promise<void>,
    finish: (taken: E, putBack: boolean) => void,
    signal: AbortSignal | undefined,
  ): Promise<E> {
    for (;;) {
      const waiting = this.enter(signal);
      if (waiting !== undefined) await waiting;
      const taken = take();
      if (taken === undefined) {
        this.leave();
        continue;
      }
      let putBack = false;
      try {
        const processing = process(taken);
        if (processing !== undefined) await processing;
      } catch (error) {
        putBack = isRequeueError(error);
        if (!isRequeueError(error)) throw error;
        if (error.inner !== undefined) throw error.inner;
      } finally {
        finish(taken, putBack);
        this.leave();
      }
      return taken;
    }
  }
}
