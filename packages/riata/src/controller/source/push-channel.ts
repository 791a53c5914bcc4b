import type { KubeObject } from '../../object/meta.js';
import type { Request } from '../loop/request.js';

/** The items of a channel, without a `map`. */
export type ChannelItem = Request | Pick<KubeObject, 'metadata'>;

/**
 * A channel to push keys into, for a `channelSource` to read: where keys come by a callback, such as a request to an
 * endpoint of your own (a `chan event.GenericEvent`). Pushing never waits. Each item goes to one reader, in order;
 * items without a reader are buffered.
 *
 * @example
 * const pushed = new PushChannel();
 * const carts = control(Cart).source(() => channelSource(pushed)).reconcile(…);
 * broker.on('changed', ({ namespace, name }) => pushed.push({ namespace, name }));
 */
export class PushChannel<T = ChannelItem> implements AsyncIterable<T> {
  #items: T[] = [];
  /** Of the items, those before have been read. */
  #read = 0;
  readonly #waiting = new Set<(result: IteratorResult<T, undefined>) => void>();
  #isClosed = false;

  /** How many wait to be read. */
  get size(): number {
    return this.#items.length - this.#read;
  }

  /** Throws once it is closed. */
  push(...items: readonly T[]): void {
    if (this.#isClosed) throw new Error('the channel is closed');
    for (const value of items) {
      const [reader] = this.#waiting;
      if (reader === undefined) this.#items.push(value);
      else {
        this.#waiting.delete(reader);
        reader({ done: false, value });
      }
    }
  }

  /** The items that wait to be read, in order: they are not delivered to a reader then. */
  takeAll(): readonly T[] {
    const items = this.#items.slice(this.#read);
    this.#items = [];
    this.#read = 0;
    return items;
  }

  /** Readers end after what is left. */
  close(): void {
    this.#isClosed = true;
    for (const reader of this.#waiting) reader({ done: true, value: undefined });
    this.#waiting.clear();
  }

  [Symbol.asyncIterator](): AsyncIterator<T, undefined> {
    // A reader that leaves takes no later item with it.
    const own = new Set<(result: IteratorResult<T, undefined>) => void>();
    let hasLeft = false;
    return {
      next: async () => {
        if (hasLeft) return { done: true, value: undefined };
        if (this.size > 0) return { done: false, value: this.#shift() };
        if (this.#isClosed) return { done: true, value: undefined };
        return new Promise((resolve) => {
          const reader = (result: IteratorResult<T, undefined>) => {
            own.delete(reader);
            resolve(result);
          };
          own.add(reader);
          this.#waiting.add(reader);
        });
      },
      return: async () => {
        hasLeft = true;
        for (const reader of own) {
          this.#waiting.delete(reader);
          reader({ done: true, value: undefined });
        }
        return { done: true, value: undefined };
      },
    };
  }

  #shift(): T {
    const item = this.#items[this.#read] as T;
    this.#items[this.#read] = undefined as T;
    this.#read += 1;
    // Not one by one: that would move all the others each time.
    if (this.#read * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#read);
      this.#read = 0;
    }
    return item;
  }
}
