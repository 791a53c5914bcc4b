import type { HeldResponse } from '../chain/held-response.js';
import { parseWarnings, type Warning } from '../chain/warnings.js';
import { headerValue } from '../request/header-values.js';
import { copyBytes } from '../transport/copy-bytes.js';
import type { ResponseHeaders } from '../transport/transport.js';

/** As much as is taken in before the server is asked to wait. */
const highWaterBytes = 65_536;

/**
 * The body of a response as it comes (what `Request.Stream` gives): an async iterable of byte chunks, to be gone through once. Leaving
 * the loop early, `close()` and disposal end the exchange. A reader that is slow slows the server down.
 */
export class ByteStream implements AsyncIterableIterator<Uint8Array>, AsyncDisposable {
  readonly statusCode: number;
  readonly contentType: string;
  readonly headers: ResponseHeaders;
  readonly warnings: readonly Warning[];
  readonly #response: HeldResponse;
  /** Chunks that were not read yet. Empty while `#reader` is set. */
  readonly #chunks: Uint8Array[] = [];
  #size = 0;
  #reader: { resolve(result: IteratorResult<Uint8Array>): void; reject(error: unknown): void } | undefined;
  /** Set once nothing more comes in: `error` is thrown once, after the chunks before it. */
  #end: { error?: unknown } | undefined;

  constructor(response: HeldResponse) {
    this.#response = response;
    this.statusCode = response.status;
    this.headers = response.headers;
    this.contentType = headerValue(response.headers, 'content-type');
    this.warnings = parseWarnings(response.headers);
    response.deliver({
      onData: (chunk) => this.#take(copyBytes(chunk)),
      onEnd: () => this.#finish({}),
      onError: (error) => this.#finish({ error }),
    });
  }

  #take(chunk: Uint8Array): void {
    if (this.#end) return;
    const reader = this.#reader;
    if (reader) {
      this.#reader = undefined;
      reader.resolve({ value: chunk, done: false });
      return;
    }
    this.#chunks.push(chunk);
    this.#size += chunk.byteLength;
    if (this.#size >= highWaterBytes) this.#response.pause();
  }

  #finish(end: { error?: unknown }): void {
    this.#end ??= end;
    const reader = this.#reader;
    if (!reader) return;
    this.#reader = undefined;
    this.#last().then(reader.resolve, reader.reject);
  }

  async #last(): Promise<IteratorResult<Uint8Array>> {
    const end = this.#end;
    this.#end = {};
    if (end && 'error' in end) throw end.error;
    return { value: undefined, done: true };
  }

  /** The next chunk. One reader at a time: a second call before the first has settled is refused. */
  next(): Promise<IteratorResult<Uint8Array>> {
    if (this.#reader) return Promise.reject(new Error('stream: next() was called before the last call had settled'));
    const chunk = this.#chunks.shift();
    if (chunk) {
      const wasFull = this.#size >= highWaterBytes;
      this.#size -= chunk.byteLength;
      if (wasFull && this.#size < highWaterBytes && !this.#end) this.#response.resume();
      return Promise.resolve({ value: chunk, done: false });
    }
    if (this.#end) return this.#last();
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
    });
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    this.close();
    return { value: undefined, done: true };
  }

  /** Ends the exchange now; a pending `next()` resolves as done. */
  close(): void {
    this.#chunks.length = 0;
    const open = !this.#end;
    this.#finish({});
    if (open) this.#response.abort(new Error('the stream was closed by its reader'));
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }
}
