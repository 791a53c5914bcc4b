import { Buffer } from 'node:buffer';

/** Room before what is read: decoders write there what is to stand in front of it. */
const HEADROOM = 512;
/** Enough for what TLS gives at once and the rest of what it gave before: most windows never need more. */
const USUAL = 32_768;
/** An empty window keeps no more than this, enough for what a plain socket gives at once. */
const KEPT = 131_072;
/** Larger memory is released once the large object is through. */
const LARGE = 1 << 20;
const EMPTY: Buffer = Buffer.alloc(0);

/**
 * The unread bytes of a body that comes in chunks, as one run `bytes[start, end)` of its own memory. Decoders read from
 * `start` and `take` what they are done with. They may write before `start`, and over what they have read.
 */
export class ByteWindow {
  /** Has nothing behind `end`, so that a search ends there. */
  bytes: Buffer = EMPTY;
  start = 0;
  end = 0;
  #memory: Buffer = EMPTY;

  /** Adds a copy of the chunk. What is in the window may move. */
  push(chunk: Uint8Array): void {
    if (this.end + chunk.length > this.#memory.length) this.#makeRoom(chunk.length);
    this.#memory.set(chunk, this.end);
    this.end += chunk.length;
    this.bytes = this.#memory.subarray(0, this.end);
  }

  /** The first `length` bytes have been read. */
  take(length: number): void {
    this.start += length;
    if (this.start < this.end) return;
    if (this.#memory.length > KEPT) this.#memory = EMPTY;
    this.bytes = EMPTY;
    this.start = this.#memory.length === 0 ? 0 : HEADROOM;
    this.end = this.start;
  }

  /**
   * Takes `bytes[from, to)` out by moving what lies between `start` and `from` up to `to`; false if these are too many
   * to be worth it.
   */
  cutOut(from: number, to: number): boolean {
    const kept = from - this.start;
    if (kept > to - from) return false;
    this.bytes.copyWithin(to - kept, this.start, from);
    this.start = to - kept;
    return true;
  }

  #makeRoom(length: number): void {
    const { start, end } = this;
    const memory = this.#memory;
    const held = end - start;
    const size = HEADROOM + held + length;
    if (size <= memory.length && held <= start && memory.length <= LARGE) memory.copyWithin(HEADROOM, start, end);
    else {
      this.#memory = Buffer.allocUnsafeSlow(size <= USUAL ? USUAL : size + held);
      this.#memory.set(memory.subarray(start, end), HEADROOM);
    }
    this.start = HEADROOM;
    this.end = HEADROOM + held;
  }
}
