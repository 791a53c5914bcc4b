import { isJsonObject } from '../../object/json.js';
import type { FramedObject } from '../../object/scan/decode-object.js';
import { mayHoldLongInteger } from '../../object/scan/guess.js';
import { textOf } from '../../object/scan/native-bytes.js';
import { skipNested, stringEnd } from '../../object/scan/skip-value.js';
import { TextJoiner } from '../../object/scan/text-joiner.js';
import { lossOf } from '../../object/value/lossy.js';
import { type Bag, polluted, recursionLimit } from '../../object/value/own.js';
import { MetadataDigests } from './metadata-digests.js';
import { PartDigest } from './part-digest.js';
import type { RecentStrings } from './recent-strings.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const MINUS = 0x2d;
const ZERO = 0x30;
const POINT = 0x2e;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** Bytes that stand for themselves inside a string: printable ASCII, but for the quote and the backslash. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte < 0x7f && byte !== QUOTE && byte !== BACKSLASH ? 1 : 0,
);

/** Integers of fewer digits are exact. */
const EXACT_DIGITS = 15;

/** In place of a value: this object has to be parsed. */
const UNLIKE: unique symbol = Symbol('unlike');

/** After this many objects in a row that had to be parsed, only one in sixteen is tried. */
const PATIENCE = 8;
const TRIED = 15;

/**
 * Decodes objects along a reference: the previous version, or the object that came before in a list. It walks over the
 * reference and the bytes at once. Parts that are equal are taken from the reference, so that they are neither parsed nor
 * compared afterwards; parts that differ are decoded, and the objects around them copied. An inner object that has other
 * keys than in the reference is parsed as usual.
 *
 * References are never written to. The result shares parts with them and must not be written to either.
 */
export class ReferenceDecoder {
  readonly #strings: RecentStrings;
  readonly #join: (before: object, after: object) => object;
  readonly #digests = new MetadataDigests();
  readonly #joiner = new TextJoiner();
  #bytes: Uint8Array = PLAIN;
  #at = 0;
  #end = 0;
  /** The object as a scan has framed it; undefined if it was not scanned. */
  #framed: FramedObject | undefined;
  #cutStart = 0;
  #cutEnd = 0;
  #hasMetadata = false;
  /** Where `resourceVersion` lies in the object near the top that was walked over last; 0 if it has none. */
  #versionAt = 0;
  #unlike = 0;
  #head = '';
  /** The members that `head` brings. */
  #headMembers: ReadonlyMap<string, unknown> = new Map();

  /** `join` takes equal parts of `after`, which was parsed, from `before`, and returns `before` if all of it is equal. */
  constructor(strings: RecentStrings, join: (before: object, after: object) => object) {
    this.#strings = strings;
    this.#join = join;
  }

  /**
   * The framed object, equal to what a parser returns; `reference` itself if nothing differs. Undefined for an object that has
   * to be parsed: with another layout, with other members at the top, or with numbers that a double may not hold.
   * `isVersion`: `reference` is the previous version, not just a neighbour, so that large parts of it are likely equal.
   */
  decode(framed: FramedObject, reference: object, isVersion = false): object | undefined {
    if (this.#unlike > PATIENCE && (this.#unlike & TRIED) !== 0) {
      this.#unlike++;
      return undefined;
    }
    const { bytes, start, end, head, suspectNumber, cutStart, cutEnd } = framed;
    this.#framed = framed;
    this.#cutStart = cutStart;
    this.#cutEnd = cutEnd;
    const decoded =
      suspectNumber || polluted() || lossOf(reference) !== undefined
        ? UNLIKE
        : this.#decode(bytes, start, end, head, reference as Bag, isVersion);
    this.#unlike = decoded === UNLIKE ? this.#unlike + 1 : 0;
    return decoded === UNLIKE ? undefined : (decoded as object);
  }

  /**
   * As {@link decode}, of the object `bytes[start, end)`, which was not scanned. The previous version shows where the
   * metadata end, if they are equal but for the resourceVersion; undefined if they aren't.
   */
  decodeUnscanned(bytes: Uint8Array, start: number, end: number, previous: object): object | undefined {
    if (polluted() || lossOf(previous) !== undefined) return undefined;
    this.#framed = undefined;
    this.#hasMetadata = false;
    const decoded = this.#decode(bytes, start, end, '', previous as Bag, true);
    return decoded === UNLIKE || !this.#hasMetadata ? undefined : (decoded as object);
  }

  #decode(bytes: Uint8Array, start: number, end: number, headText: string, known: Bag, isVersion: boolean): unknown {
    this.#bytes = bytes;
    this.#end = end;
    if (headText !== this.#head) {
      this.#head = headText;
      this.#headMembers = new Map(
        headText === '' ? [] : Object.entries(JSON.parse(`${headText.slice(0, -1)}}`) as Bag),
      );
    }
    const head = this.#headMembers;
    let copy: Bag | undefined;
    let isFirst = true;
    const type = head.size > 0 ? -1 : this.#turnedType(known, start + 1);
    let i = type < 0 ? start + 1 : type;
    for (const key in known) {
      const before = known[key];
      if (head.size > 0 && head.has(key)) {
        if (head.get(key) !== before) return UNLIKE;
        continue;
      }
      if (type >= 0 && (key === 'apiVersion' || key === 'kind')) continue;
      if (isFirst) isFirst = false;
      else if (bytes[i++] !== COMMA) return UNLIKE;
      i = this.#key(key, i);
      if (i < 0) return UNLIKE;
      this.#at = i;
      const isObject = bytes[i] === OPEN_BRACE && isJsonObject(before);
      let value: unknown;
      if (key === 'metadata' && isObject) {
        value = this.#metadata(before, isVersion);
      } else if (isObject && key !== 'status') {
        value = this.#part(before, isVersion);
      } else value = this.#value(before, 0);
      if (value === UNLIKE) return UNLIKE;
      i = this.#at;
      if (value !== before) {
        copy ??= { ...known };
        copy[key] = value;
      }
    }
    return bytes[i] === CLOSE_BRACE && i + 1 === end ? (copy ?? known) : UNLIKE;
  }

  /**
   * Items of lists get `apiVersion` and `kind` in this order, events of a watch come the other way round: just past the comma
   * behind both, if the bytes have them turned and the same. Else -1.
   */
  #turnedType(known: Bag, from: number): number {
    const letter = this.#bytes[from + 1];
    let first = '';
    for (first in known) break;
    if (first === 'apiVersion' ? letter !== 0x6b : first !== 'kind' || letter !== 0x61) return -1;
    let i = from;
    for (const key of first === 'apiVersion' ? ['kind', 'apiVersion'] : ['apiVersion', 'kind']) {
      i = this.#key(key, i);
      if (i < 0 || this.#bytes[i] !== QUOTE) return -1;
      this.#at = i;
      const value = this.#string(known[key]);
      i = this.#at;
      if (value === UNLIKE || value !== known[key] || this.#bytes[i++] !== COMMA) return -1;
    }
    return i;
  }

  #metadata(before: Bag, isVersion: boolean): unknown {
    const framed = this.#framed;
    const from = this.#at;
    const frame = framed ?? this.#digests.locate(before, this.#bytes, from, this.#end);
    if (frame === undefined) return UNLIKE;
    const next = isVersion ? this.#digests.next(before, frame, from) : undefined;
    if (next === undefined) return framed === undefined ? UNLIKE : this.#walkMetadata(framed, before);
    this.#at = frame.metadataEnd;
    this.#hasMetadata = true;
    return next;
  }

  #walkMetadata(framed: FramedObject, before: Bag): unknown {
    const { cutEnd, cutUnsure, metadataEnd } = framed;
    const from = this.#at;
    this.#versionAt = 0;
    const value = this.#object(before, 1, cutEnd > 0);
    if (value === UNLIKE || value === before) return value;
    if ((cutEnd > 0 || cutUnsure) && Object.hasOwn(value as object, 'managedFields')) return UNLIKE;
    if (this.#versionAt > 0 && this.#at === metadataEnd)
      this.#digests.record(value as object, framed, from, this.#versionAt);
    return value;
  }

  /** A part that seldom changes from version to version, as a spec. */
  #part(before: Bag, isVersion: boolean): unknown {
    const from = this.#at;
    const to = isVersion ? PartDigest.endOf(before, this.#bytes, from, this.#end) : -1;
    if (to >= 0) {
      this.#at = to;
      return before;
    }
    const value = this.#object(before, 1, false);
    if (value !== UNLIKE) PartDigest.record(value as object, this.#bytes, from, this.#at);
    return value;
  }

  /** Just past `"key":` at `from`; -1 if it is not there. */
  #key(key: string, from: number): number {
    const bytes = this.#bytes;
    const length = key.length;
    if (bytes[from] !== QUOTE) return -1;
    let i = from + 1;
    for (let k = 0; k < length; k++, i++) {
      const byte = bytes[i]!;
      if (byte !== key.charCodeAt(k) || PLAIN[byte] === 0) return -1;
    }
    return bytes[i] === QUOTE && bytes[i + 1] === COLON && key !== '__proto__' ? i + 2 : -1;
  }

  #value(before: unknown, depth: number): unknown {
    switch (this.#bytes[this.#at]) {
      case QUOTE:
        return this.#string(before);
      case OPEN_BRACE:
        return isJsonObject(before) ? this.#object(before, depth + 1, false) : this.#parsed(this.#at, before, false);
      case OPEN_BRACKET:
        return Array.isArray(before) ? this.#array(before, depth + 1) : this.#parsed(this.#at, before, false);
      case 0x74:
        return this.#literal('true', true);
      case 0x66:
        return this.#literal('false', false);
      case 0x6e:
        return this.#literal('null', null);
      default:
        return this.#number();
    }
  }

  #object(before: Bag, depth: number, holdsCut: boolean): unknown {
    const start = this.#at;
    const bytes = this.#bytes;
    const cutStart = holdsCut ? this.#cutStart : 0;
    if (depth === recursionLimit) return UNLIKE;
    let copy: Bag | undefined;
    let i = start + 1;
    let isFirst = true;
    for (const key in before) {
      // The cut includes a comma: the one behind it, or the one before.
      if (i === cutStart) i = this.#cutEnd;
      if (isFirst) isFirst = false;
      else if (bytes[i++] !== COMMA) return this.#parsed(start, before, holdsCut);
      if (i === cutStart) i = this.#cutEnd;
      i = this.#key(key, i);
      if (i < 0) return this.#parsed(start, before, holdsCut);
      this.#at = i;
      if (depth === 1 && key === 'resourceVersion') this.#versionAt = i;
      const known = before[key];
      const value = this.#value(known, depth);
      if (value === UNLIKE) return UNLIKE;
      i = this.#at;
      if (value !== known) {
        copy ??= { ...before };
        copy[key] = value;
      }
    }
    if (i === cutStart) i = this.#cutEnd;
    if (bytes[i] !== CLOSE_BRACE) return this.#parsed(start, before, holdsCut);
    this.#at = i + 1;
    return copy ?? before;
  }

  #array(before: readonly unknown[], depth: number): unknown {
    const start = this.#at;
    const bytes = this.#bytes;
    if (depth === recursionLimit) return UNLIKE;
    let copy: unknown[] | undefined;
    let i = start + 1;
    for (let k = 0; k < before.length; k++) {
      if (k > 0 && bytes[i++] !== COMMA) return this.#parsed(start, before, false);
      // An array that ends here is shorter.
      if (bytes[i] === CLOSE_BRACKET) return this.#parsed(start, before, false);
      this.#at = i;
      const known = before[k];
      const value = this.#value(known, depth);
      if (value === UNLIKE) return UNLIKE;
      i = this.#at;
      if (value !== known) {
        // Not `slice`, which is slow for frozen arrays.
        copy ??= [...before];
        copy[k] = value;
      }
    }
    if (bytes[i] !== CLOSE_BRACKET) return this.#parsed(start, before, false);
    this.#at = i + 1;
    return copy ?? before;
  }

  /** The value at `start`, an object or an array, from the parser. */
  #parsed(start: number, before: unknown, holdsCut: boolean): unknown {
    const bytes = this.#bytes;
    const cutStart = holdsCut ? this.#cutStart : 0;
    const cutEnd = holdsCut ? this.#cutEnd : 0;
    const end = skipNested(bytes, start, this.#end, cutStart, cutEnd);
    if (end < 0 || mayHoldLongInteger(bytes, start, end)) return UNLIKE;
    const text = holdsCut ? this.#joiner.join(bytes, start, cutStart, cutEnd, end, '') : textOf(bytes, start, end);
    let parsed: object;
    try {
      parsed = JSON.parse(text) as object;
    } catch {
      return UNLIKE;
    }
    this.#at = end;
    return typeof before === 'object' && before !== null ? this.#join(before, parsed) : parsed;
  }

  #string(before: unknown): unknown {
    const bytes = this.#bytes;
    const end = this.#end;
    const from = this.#at + 1;
    let i = from;
    if (typeof before === 'string') {
      const length = before.length;
      for (let k = 0; k < length; k++, i++) {
        const byte = bytes[i]!;
        if (byte !== before.charCodeAt(k) || PLAIN[byte] === 0) break;
      }
      if (i === from + length && bytes[i] === QUOTE) {
        this.#at = i + 1;
        return before;
      }
    }
    while (i < end && PLAIN[bytes[i]!] === 1) i++;
    if (bytes[i] === QUOTE && i < end) {
      this.#at = i + 1;
      return this.#strings.ofBytes(bytes, from, i);
    }
    return this.#unplainString(before);
  }

  /** A string with escapes, or with more than ASCII. */
  #unplainString(before: unknown): unknown {
    const from = this.#at;
    const end = stringEnd(this.#bytes, from, this.#end);
    if (end < 0) return UNLIKE;
    try {
      const value = JSON.parse(textOf(this.#bytes, from, end)) as string;
      this.#at = end;
      return value === before ? before : this.#strings.intern(value);
    } catch {
      return UNLIKE;
    }
  }

  #literal(word: string, value: boolean | null): unknown {
    const at = this.#at;
    for (let k = 1; k < word.length; k++) if (this.#bytes[at + k] !== word.charCodeAt(k)) return UNLIKE;
    this.#at = at + word.length;
    return value;
  }

  /** Integers; other numbers are rare. */
  #number(): unknown {
    const bytes = this.#bytes;
    let i = this.#at;
    const isNegative = bytes[i] === MINUS;
    if (isNegative) i++;
    const from = i;
    let value = 0;
    for (let digit = bytes[i]! - ZERO; digit >= 0 && digit <= 9; digit = bytes[i]! - ZERO) {
      value = value * 10 + digit;
      i++;
    }
    const next = bytes[i];
    if (next === POINT) return this.#fraction(i + 1);
    const isEnd = next === COMMA || next === CLOSE_BRACE || next === CLOSE_BRACKET;
    if (!isEnd || i === from || i - from > EXACT_DIGITS) return UNLIKE;
    // No leading zeros in JSON; and `-0` is another number than 0.
    if (bytes[from] === ZERO && (i - from > 1 || isNegative)) return UNLIKE;
    this.#at = i;
    return isNegative ? -value : value;
  }

  /** A number without exponent, from behind its point on. */
  #fraction(from: number): unknown {
    const bytes = this.#bytes;
    let i = from;
    while (bytes[i]! >= ZERO && bytes[i]! <= ZERO + 9) i++;
    try {
      const value = JSON.parse(textOf(bytes, this.#at, i)) as number;
      this.#at = i;
      return (bytes[i]! | 0x20) === 0x65 ? UNLIKE : value;
    } catch {
      return UNLIKE;
    }
  }
}
