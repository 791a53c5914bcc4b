/** Goes through what `open` gives, which is called with the first `next`: an async generator's `yield*` without its price. */
export class LaterIterator<T> implements AsyncGenerator<T, void, undefined> {
  readonly #open: () => Promise<AsyncIterable<T, void, undefined>>;
  #opening: Promise<AsyncIterator<T, void, undefined>> | undefined;
  #opened: AsyncIterator<T, void, undefined> | undefined;
  #done = false;

  constructor(open: () => Promise<AsyncIterable<T, void, undefined>>) {
    this.#open = open;
  }

  next(): Promise<IteratorResult<T, void>> {
    return this.#opened === undefined || this.#done ? this.#first() : this.#opened.next();
  }

  async return(): Promise<IteratorResult<T, void>> {
    await this.#finish();
    return { value: undefined, done: true };
  }

  async throw(error: unknown): Promise<IteratorResult<T, void>> {
    await this.#finish();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#finish();
  }

  async #first(): Promise<IteratorResult<T, void>> {
    if (this.#done) return { value: undefined, done: true };
    this.#opening ??= this.#begin();
    return (await this.#opening).next();
  }

  async #begin(): Promise<AsyncIterator<T, void, undefined>> {
    try {
      this.#opened = (await this.#open())[Symbol.asyncIterator]();
      return this.#opened;
    } catch (error) {
      this.#done = true;
      throw error;
    }
  }

  async #finish(): Promise<void> {
    if (this.#done) return;
    this.#done = true;
    await (await this.#opening)?.return?.();
  }
}
