import { Stamped } from '../../object/value/stamped.js';
import { hash } from '../../runtime/crypto/hash.js';

/** Walking along shorter parts costs no more than their digest. */
const SHORT = 384;

/**
 * Remembers of a part of an object (a spec) the digest of the text that it was decoded from: whether another text is the same
 * can then be told without touching the part, which lies in a hundred places of a large heap, and without keeping the text.
 * A private field, as in raw objects: nobody sees it, and a copy has none.
 */
class DigestedPart extends Stamped {
  #length: number;
  #digest: string;

  constructor(part: object, length: number, digest: string) {
    super(part);
    this.#length = length;
    this.#digest = digest;
  }

  static isNoted(part: object): boolean {
    return #digest in part;
  }

  static endOf(part: object, bytes: Uint8Array, from: number, end: number): number {
    if (!(#digest in part)) return -1;
    const to = from + part.#length;
    const isBoundary = to < end && (bytes[to] === 0x2c || bytes[to] === 0x7d);
    return isBoundary && digestOf(bytes, from, to) === part.#digest ? to : -1;
  }
}

/** Notes that `bytes[from, to)` is the text of `part`. Not of frozen parts, and not where it does not pay. */
export function noteText(part: object, bytes: Uint8Array, from: number, to: number): void {
  if (to - from < SHORT || DigestedPart.isNoted(part) || Object.isFrozen(part)) return;
  new DigestedPart(part, to - from, digestOf(bytes, from, to));
}

/** Just past the text of `part`, if that is what begins at `from`; -1 if it is not, or its text was not noted. */
export function endOfText(part: object, bytes: Uint8Array, from: number, end: number): number {
  return DigestedPart.endOf(part, bytes, from, end);
}

/** One that cannot be made to collide: whoever writes objects must not be able to hide a change. */
export function digestOf(bytes: Uint8Array, from: number, to: number): string {
  return hash('sha256', bytes.subarray(from, to), 'binary');
}
