import { Stamped } from '../../object/value/stamped.js';
import { hash } from '../../runtime/crypto/hash.js';

/** Comparing shorter parts member by member costs no more than hashing their text. */
const SHORT = 384;

/**
 * The digest of the text that a part of an object (a spec) was decoded from, as a private field of the part. It shows
 * whether another text is the same without reading the part, which is spread over a hundred places of a large heap, and
 * without keeping the text. A copy of the part has no digest.
 */
export class PartDigest extends Stamped {
  #length: number;
  #digest: string;

  private constructor(part: object, length: number, digest: string) {
    super(part);
    this.#length = length;
    this.#digest = digest;
  }

  /** Records that `part` was decoded from `bytes[from, to)`. Skips frozen parts, and short ones, where it doesn't pay. */
  static record(part: object, bytes: Uint8Array, from: number, to: number): void {
    if (to - from < SHORT || #digest in part || Object.isFrozen(part)) return;
    new PartDigest(part, to - from, digestOf(bytes, from, to));
  }

  /** Just past the text of `part` if that is what starts at `from`; -1 if it isn't, or no digest was recorded. */
  static endOf(part: object, bytes: Uint8Array, from: number, end: number): number {
    if (!(#digest in part)) return -1;
    const to = from + part.#length;
    const isBoundary = to < end && (bytes[to] === 0x2c || bytes[to] === 0x7d);
    return isBoundary && digestOf(bytes, from, to) === part.#digest ? to : -1;
  }
}

/** A cryptographic digest: users who write objects must not be able to hide a change by a collision. */
export function digestOf(bytes: Uint8Array, from: number, to: number): string {
  return hash('sha256', bytes.subarray(from, to), 'binary');
}
