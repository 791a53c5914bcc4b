import { Buffer } from 'node:buffer';
import { textOf } from './native-bytes.js';

/** Longer texts are joined as strings. */
const MOST_BYTES = 65_536;
const LEAST_SCRATCH = 4_096;
const EMPTY = Buffer.alloc(0);

/**
 * Makes one string of bytes around a cut. They are joined in a buffer that is used again: joining strings makes a third more
 * garbage and takes 10 % longer.
 */
export class TextJoiner {
  #scratch: Buffer = EMPTY;
  #isUsed = false;

  /** The text of `head`, `bytes[from, cutStart)` and `bytes[cutEnd, to)`. */
  join(bytes: Uint8Array, from: number, cutStart: number, cutEnd: number, to: number, head: string): string {
    const before = head.length;
    const middle = before + cutStart - from;
    const length = middle + to - cutEnd;
    // A buffer for one object alone doesn't pay.
    const scratch = length > MOST_BYTES || !this.#isUsed ? undefined : this.#atLeast(length);
    this.#isUsed = true;
    // A head is ASCII but for the odd kind; one that is not is longer in bytes than in characters.
    if (scratch === undefined || (before > 0 && scratch.write(head, 0, 'utf8') !== before)) {
      return head + textOf(bytes, from, cutStart) + textOf(bytes, cutEnd, to);
    }
    scratch.set(bytes.subarray(from, cutStart), before);
    scratch.set(bytes.subarray(cutEnd, to), middle);
    return textOf(scratch, 0, length);
  }

  #atLeast(length: number): Buffer {
    if (this.#scratch.length < length) {
      this.#scratch = Buffer.allocUnsafeSlow(Math.max(LEAST_SCRATCH, Math.min(2 * length, MOST_BYTES)));
    }
    return this.#scratch;
  }
}
