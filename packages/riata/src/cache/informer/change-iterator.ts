import type { KubeObject } from '../../object/meta.js';
import { onAbort } from '../../runtime/signals.js';
import type { Change } from './change.js';
import type { ResourceEventHandler } from './resource-event-handler.js';

interface Waiter<T extends KubeObject> {
  resolve(result: IteratorResult<Change<T>>): void;
  reject(reason: unknown): void;
}

/**
 * A handler whose changes are read by `for await`: it is busy from one read to the next, so its listener keeps what comes
 * meanwhile.
 */
export class ChangeIterator<T extends KubeObject> implements AsyncIterableIterator<Change<T>> {
  /** Called when the reader goes away. */
  onReturn: (() => Promise<void>) | undefined;
  readonly handler: ResourceEventHandler<T> = { onChange: (change) => this.#put(change) };
  readonly #signal: AbortSignal | undefined;
  #onAbort: Disposable | undefined;
  readonly #waiters: Waiter<T>[] = [];
  /** Not yet read, with what lets the listener go on. */
  #next: { readonly change: Change<T>; readonly taken: () => void } | undefined;
  #isEnded = false;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    this.#onAbort = onAbort(signal, () => this.end());
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Change<T>>> {
    return new Promise((resolve, reject) => {
      if (this.#signal?.aborted) {
        reject(this.#signal.reason);
      } else if (this.#isEnded) {
        resolve({ done: true, value: undefined });
      } else if (this.#next !== undefined) {
        const { change, taken } = this.#next;
        this.#next = undefined;
        resolve({ done: false, value: change });
        taken();
      } else {
        this.#waiters.push({ resolve, reject });
      }
    });
  }

  async return(): Promise<IteratorResult<Change<T>>> {
    this.end();
    await this.onReturn?.();
    return { done: true, value: undefined };
  }

  /** Nothing more comes: its handler was removed, or the informer has stopped. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#onAbort?.[Symbol.dispose]();
    this.#next?.taken();
    this.#next = undefined;
    const isAborted = this.#signal?.aborted === true;
    for (const { resolve, reject } of this.#waiters) {
      if (isAborted) reject(this.#signal?.reason);
      else resolve({ done: true, value: undefined });
    }
    this.#waiters.length = 0;
  }

  /** Hands the change to a waiting reader, or buffers it. */
  #put(change: Change<T>): Promise<void> | undefined {
    if (this.#isEnded) return undefined;
    const waiter = this.#waiters.shift();
    if (waiter === undefined) {
      return new Promise((taken) => {
        this.#next = { change, taken };
      });
    }
    waiter.resolve({ done: false, value: change });
    return undefined;
  }
}
