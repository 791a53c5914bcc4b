import { asBuffer, textOf } from '../../object/scan/native-bytes.js';

/** JSON.parse already makes one string of equal values up to this length. */
const SHORT = 10;
/** Longer strings are hardly ever equal, and cost time to compare. */
const LONG = 256;

/**
 * Makes equal strings one, as far as it remembers them: a table of fixed size in which a new string takes the place of
 * another, so that nothing has to be forgotten and nothing leaks.
 */
export class RecentStrings {
  readonly #table: string[];
  readonly #mask: number;

  /** `size` is a power of two. */
  constructor(size = 4096) {
    this.#table = new Array<string>(size).fill('');
    this.#mask = size - 1;
  }

  /** An equal string from before, or this one. */
  intern(text: string): string {
    const length = text.length;
    if (length <= SHORT || length > LONG) return text;
    const at = sampleHash(text) & this.#mask;
    const known = this.#table[at] as string;
    if (known === text) return known;
    this.#table[at] = text;
    return text;
  }

  /** The string of ASCII bytes; an equal one from before is not made again. */
  ofBytes(bytes: Uint8Array, from: number, to: number): string {
    const length = to - from;
    if (length > LONG) return textOf(bytes, from, to);
    const at = sampleHashOfBytes(bytes, from, to) & this.#mask;
    const known = this.#table[at] as string;
    if (known.length === length) {
      let k = 0;
      while (k < length && known.charCodeAt(k) === bytes[from + k]) k++;
      if (k === length) return known;
    }
    const text = asBuffer(bytes).latin1Slice(from, to);
    this.#table[at] = text;
    return text;
  }
}

/** As {@link sampleHash} of the same text. */
function sampleHashOfBytes(bytes: Uint8Array, from: number, to: number): number {
  const length = to - from;
  let hash = length;
  const step = length < 16 ? 1 : length >> 3;
  for (let i = to - 1; i >= from; i -= step) hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
  if (length > 4) hash = Math.imul(hash ^ bytes[to - 2]!, 0x01000193) ^ bytes[to - 3]!;
  return hash ^ (hash >>> 15);
}

/** A hash of the length and of some characters, more of them from the end, where names differ. */
export function sampleHash(text: string): number {
  const length = text.length;
  let hash = length;
  const step = length < 16 ? 1 : length >> 3;
  for (let i = length - 1; i >= 0; i -= step) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  if (length > 4) hash = Math.imul(hash ^ text.charCodeAt(length - 2), 0x01000193) ^ text.charCodeAt(length - 3);
  return hash ^ (hash >>> 15);
}
