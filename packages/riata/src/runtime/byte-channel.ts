/**
 * Bytes that come by pushes and are read by `for await`, once. Who pushes is told when enough waits (`onFull`) and when
 * that was read (`onRoom`), so that a slow reader slows the sender down. Leaving the loop early drops the rest.
 */
export class ByteChannel implements AsyncIterableIterator<Uint8Array> {
  readonly #highWaterBytes: number;
  readonly #onChange: () => void;
  #chunks: Uint8Array[] = [];
  #size = 0;
  #isFull = false;
  #isDropped = false;
  #reader: { resolve(result: IteratorResult<Uint8Array>): void; reject(error: unknown): void } | undefined;
  #end: { readonly error?: unknown } | undefined;

  /** `onChange` is called when {@link isFull} has changed. */
  constructor(highWaterBytes: number, onChange: () => void) {
    this.#highWaterBytes = highWaterBytes;
    this.#onChange = onChange;
  }

  /** Whether the sender has to wait for the reader. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Takes bytes, which must not change afterwards. */
  push(chunk: Uint8Array): void {
    if (this.#end !== undefined || this.#isDropped || chunk.length === 0) return;
    const reader = this.#reader;
    if (reader !== undefined) {
      this.#reader = undefined;
      reader.resolve({ value: chunk, done: false });
      return;
    }
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    this.#update();
  }

  /** Nothing more comes. With an error, the reader gets it after what came before; later calls change nothing. */
  end(end: { readonly error?: unknown } = {}): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    const reader = this.#reader;
    this.#reader = undefined;
    if (reader === undefined) return;
    if ('error' in end) reader.reject(end.error);
    else reader.resolve({ value: undefined, done: true });
  }

  /** Drops what waits and what comes: there is no reader. */
  drop(): void {
    this.#isDropped = true;
    this.#chunks = [];
    this.#size = 0;
    const reader = this.#reader;
    this.#reader = undefined;
    reader?.resolve({ value: undefined, done: true });
    this.#update();
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    if (this.#reader !== undefined) {
      return Promise.reject(new Error('stream: next() was called before the last call had settled'));
    }
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) {
      this.#size -= chunk.length;
      this.#update();
      return Promise.resolve({ value: chunk, done: false });
    }
    if (this.#isDropped) return Promise.resolve({ value: undefined, done: true });
    if (this.#end !== undefined) {
      return 'error' in this.#end
        ? Promise.reject(this.#end.error)
        : Promise.resolve({ value: undefined, done: true as const });
    }
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
    });
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    this.drop();
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #update(): void {
    // Reading starts again when half is free: to pause and resume for every chunk costs more than it saves.
    const isFull = this.#isFull ? this.#size > this.#highWaterBytes / 2 : this.#size >= this.#highWaterBytes;
    if (isFull === this.#isFull) return;
    this.#isFull = isFull;
    this.#onChange();
  }
}
