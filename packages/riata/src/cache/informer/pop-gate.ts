import { onAbort } from '../../runtime/signals.js';
import { isRequeueError, QueueClosedError } from '../compat/queue.js';

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
   * Enters at once, or gives a promise to wait for; it throws or rejects when the queue is closed and empty. What was
   * there on waking up may be gone after the wait: look, {@link leave} and enter again.
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
   * Enters, takes something with `take` and has it processed; then `finish` learns whether it is to be put back, and
   * the gate is open again.
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
