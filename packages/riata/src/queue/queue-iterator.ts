import { onAbort } from '../runtime/signals.js';
import type { WorkItem } from './queue-entry.js';

/** The queue that a {@link QueueIterator} reads from. */
export interface ItemSource<K, Note> {
  get(options: { readonly signal: AbortSignal }): Promise<WorkItem<K, Note> | undefined>;
  /** The work on it is over. */
  done(item: WorkItem<K, Note>): void;
  /** Returns a key that no worker has processed. */
  putBack(item: WorkItem<K, Note>): void;
}

type Result<K, Note> = IteratorResult<WorkItem<K, Note>, void>;

/**
 * Keys one after the other, each done when the next one is requested. As an async generator would do it, except that a
 * reader that leaves while it waits for a key leaves at once, and takes no key with it.
 */
export class QueueIterator<K, Note> implements AsyncGenerator<WorkItem<K, Note>, void, undefined> {
  readonly #source: ItemSource<K, Note>;
  readonly #stop = new AbortController();
  readonly #following: Disposable;
  /** Calls take turns. */
  #turn: Promise<unknown> = Promise.resolve();
  #current: WorkItem<K, Note> | undefined;
  #isOver = false;

  constructor(source: ItemSource<K, Note>, signal: AbortSignal | undefined) {
    this.#source = source;
    this.#following = onAbort(signal, () => this.#stop.abort(signal?.reason));
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result<K, Note>> {
    return this.#inTurn(() => this.#step());
  }

  return(): Promise<Result<K, Note>> {
    this.#end();
    return this.#inTurn(async () => this.#finish());
  }

  throw(error: unknown): Promise<Result<K, Note>> {
    this.#end();
    return this.#inTurn(async () => {
      this.#finish();
      throw error;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  #inTurn(step: () => Promise<Result<K, Note>>): Promise<Result<K, Note>> {
    const turn = this.#turn.then(step);
    this.#turn = turn.catch(() => {});
    return turn;
  }

  async #step(): Promise<Result<K, Note>> {
    const over = this.#finish();
    if (this.#isOver) return over;
    let item: WorkItem<K, Note> | undefined;
    try {
      item = await this.#source.get({ signal: this.#stop.signal });
    } catch (error) {
      if (this.#isOver) return over;
      this.#end();
      throw error;
    }
    if (item === undefined) {
      this.#end();
      return over;
    }
    if (this.#isOver) {
      this.#source.putBack(item);
      return over;
    }
    this.#current = item;
    return { done: false, value: item };
  }

  #finish(): Result<K, Note> {
    const current = this.#current;
    this.#current = undefined;
    if (current !== undefined) this.#source.done(current);
    return { done: true, value: undefined };
  }

  #end(): void {
    this.#isOver = true;
    this.#following[Symbol.dispose]();
    this.#stop.abort();
  }
}
