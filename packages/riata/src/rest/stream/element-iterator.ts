/** Where an {@link ElementIterator} gets its elements from. */
export interface ElementSource<E> {
  /** The next element if it is there; undefined if it has to be waited for. */
  take(): E | undefined;
  /** The next element; undefined at the end. Rejects with what went wrong, once. */
  wait(): Promise<E | undefined>;
  /** The reader has stopped. */
  stop(): unknown;
}

/**
 * Goes through elements one by one, as an async generator would, but without its price, three promises for each of them:
 * what is there is handed out at once.
 */
export class ElementIterator<E> implements AsyncGenerator<E, void, undefined> {
  readonly #source: ElementSource<E>;
  /** What is being waited for. */
  #pending: Promise<unknown> | undefined;
  #done = false;

  constructor(source: ElementSource<E>) {
    this.#source = source;
  }

  next(): Promise<IteratorResult<E, void>> {
    if (this.#pending !== undefined) {
      const again = () => this.next();
      return this.#pending.then(again, again);
    }
    const element = this.#done ? undefined : this.#source.take();
    if (element !== undefined) return Promise.resolve({ value: element, done: false });
    const waited = this.#wait();
    this.#pending = waited;
    return waited;
  }

  async return(): Promise<IteratorResult<E, void>> {
    this.#finish();
    return { value: undefined, done: true };
  }

  async throw(error: unknown): Promise<IteratorResult<E, void>> {
    this.#finish();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#finish();
  }

  async #wait(): Promise<IteratorResult<E, void>> {
    try {
      const element = this.#done ? undefined : await this.#source.wait();
      if (element !== undefined) return { value: element, done: false };
      this.#finish();
      return { value: undefined, done: true };
    } catch (error) {
      this.#finish();
      throw error;
    } finally {
      this.#pending = undefined;
    }
  }

  #finish(): void {
    if (this.#done) return;
    this.#done = true;
    this.#source.stop();
  }
}
