import { Buffer } from 'node:buffer';

/** How much of a new chunk is added to an unfinished piece at a time: most need little, and what is added is copied. */
const STEP = 4096;
/** A buffer larger than this is given back once the large object is through. */
const KEEP = 1 << 20;
const EMPTY: Buffer = Buffer.alloc(0);

/**
 * The unread bytes of a body that comes in chunks, as one run `bytes[start, end)`. A chunk is read where it lies; only
 * what is cut by the end of a chunk is copied, once. Decoders read from `start`, `take` what they are done with, and call
 * `more` when they need further bytes after `end`; what lies between may move when they do.
 */
export class ByteWindow {
  bytes: Uint8Array = EMPTY;
  start = 0;
  end = 0;

  /** Own memory for what outlives its chunk. */
  #own: Buffer = EMPTY;
  /** The part of the last chunk from `#next` on is not in the window yet. `bytes` is `#own` then, or nothing is left. */
  #chunk: Uint8Array = EMPTY;
  #next = 0;

  /** Adds a chunk. It is read in place until `hold` is called, which must happen before its owner reuses the memory. */
  push(chunk: Uint8Array): void {
    if (this.start === this.end) {
      if (this.#next < this.#chunk.length) this.#append(this.#chunk, this.#next, this.#chunk.length);
      else {
        this.bytes = chunk;
        this.start = 0;
        this.end = chunk.length;
        this.#chunk = EMPTY;
        this.#next = 0;
        return;
      }
    } else this.hold();
    this.#chunk = chunk;
    this.#next = 0;
  }

  /** Whether `more` has bytes to bring in. */
  get hasMore(): boolean {
    return this.#next < this.#chunk.length;
  }

  /** Brings further bytes in after `end`; false when there are none. */
  more(): boolean {
    const left = this.#chunk.length - this.#next;
    if (left === 0) return false;
    if (this.start === this.end) {
      this.bytes = this.#chunk;
      this.start = this.#next;
      this.end = this.#chunk.length;
      this.#chunk = EMPTY;
      this.#next = 0;
      return true;
    }
    const step = Math.min(left, STEP);
    this.#append(this.#chunk, this.#next, this.#next + step);
    this.#next += step;
    return true;
  }

  /** The first `length` bytes have been read. */
  take(length: number): void {
    this.start += length;
    const rest = this.end - this.start;
    if (this.bytes !== this.#own || rest > this.#next) return;
    // What is left is also in the chunk: go on reading there.
    this.bytes = this.#chunk;
    this.start = this.#next - rest;
    this.end = this.#chunk.length;
    this.#chunk = EMPTY;
    this.#next = 0;
    if (this.#own.length > KEEP) this.#own = EMPTY;
  }

  /** Copies what is left, so that the last chunk's memory is no longer needed. */
  hold(): void {
    if (this.bytes !== this.#own) {
      const { bytes, start, end } = this;
      this.bytes = this.#own;
      this.start = 0;
      this.end = 0;
      if (start < end) this.#append(bytes, start, end);
    }
    if (this.#next < this.#chunk.length) this.#append(this.#chunk, this.#next, this.#chunk.length);
    this.#chunk = EMPTY;
    this.#next = 0;
  }

  #append(from: Uint8Array, first: number, last: number): void {
    const held = this.bytes === this.#own ? this.end - this.start : 0;
    const needed = held + last - first;
    if (this.bytes !== this.#own || this.end + last - first > this.#own.length) {
      if (needed > this.#own.length) {
        const grown = Buffer.allocUnsafeSlow(Math.max(needed * 2, 32_768));
        if (held > 0) grown.set(this.bytes.subarray(this.start, this.end));
        this.#own = grown;
      } else if (held > 0) this.#own.copyWithin(0, this.start, this.end);
      this.bytes = this.#own;
      this.start = 0;
      this.end = held;
    }
    this.#own.set(from.subarray(first, last), this.end);
    this.end += last - first;
  }
}
