import { asBuffer } from './native-bytes.js';
import { TextJoiner } from './text-joiner.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const CLOSE_BRACE = 0x7d;
/** `[` and `{` are the same byte but for this bit, and so are `]` and `}`. */
const CASE_BIT = 0x20;
const OPEN = 0x7b;
const CLOSE = 0x7d;

const METADATA = bytesOf('metadata');
const MANAGED_FIELDS = bytesOf('managedFields');

/** How much of `managedFields` is waited for before it is passed byte by byte. */
const JUMP_BYTES = 65_536;

/** An integer with fewer digits than this is exact in a double. */
const EXACT_DIGITS = 15;

/**
 * Finds the end of one JSON object in bytes that arrive in pieces, looking at each byte once, and notes on the way what
 * decoding needs to know: where `metadata.managedFields` of the object lies, and whether a number might not survive
 * `JSON.parse`. It checks no syntax beyond strings and nesting: `JSON.parse` does that on what it framed.
 *
 * All positions are relative to the object's first byte, so the bytes may move between two calls of `scan`.
 */
export class ObjectScanner {
  /** Number of bytes of the object, once `scan` has returned true. */
  length = 0;
  /** Where `metadata.managedFields`, with one comma, can be cut out; `cutEnd` is 0 when it was not found. */
  cutStart = 0;
  cutEnd = 0;
  /**
   * True when `metadata.managedFields` may still be present after the cut (an escaped key, a second one, a value that
   * is neither array nor object): check again after parsing.
   */
  cutUnsure = false;
  /** True when a number with 16 or more digits was seen outside strings. */
  suspectNumber = false;
  /** Where the first object at depth `base` ended (just past its brace); 0 when there was none. */
  innerEnd = 0;

  /** Just past the brace that closed `metadata`, the first time; 0 before. */
  metadataEnd = 0;
  /** Makes `scan` stop (and give false) there; another call continues. */
  stopAfterMetadata = false;
  /** For what is left of objects after the cut. */
  readonly joiner = new TextJoiner();

  /** Depth of the object whose metadata is meant: 1 for a bare object, 2 for one inside a watch event. */
  readonly #base: number;
  #position = 0;
  #depth = 0;
  /** Start of the string that the last piece ended in, or -1. */
  #stringStart = -1;
  #stringEscaped = false;
  #inMetadata = false;
  /** Start of the `managedFields` key whose value is being passed, or -1. */
  #cutKey = -1;
  readonly #jumps: boolean;
  /** Where to go on after `managedFields`, or -1. */
  #jump = -1;

  /** `jumps`: `managedFields` is going to be cut, so that what is in it need not be looked at. */
  constructor(base: 1 | 2 = 1, jumps = false) {
    this.#base = base;
    this.#jumps = jumps;
  }

  /** Makes ready for the next object. */
  reset(): void {
    this.length = 0;
    this.cutStart = 0;
    this.cutEnd = 0;
    this.cutUnsure = false;
    this.suspectNumber = false;
    this.innerEnd = 0;
    this.metadataEnd = 0;
    this.stopAfterMetadata = false;
    this.#position = 0;
    this.#depth = 0;
    this.#stringStart = -1;
    this.#stringEscaped = false;
    this.#inMetadata = false;
    this.#cutKey = -1;
  }

  /**
   * Goes on through `bytes[start, end)`, where `start` is the object's first byte (a brace) and everything up to where
   * the last call stopped is unchanged. True when the object is complete.
   *
   * Half of the time of a decode beside `JSON.parse` is spent here: fields are kept out of the loops on purpose.
   */
  scan(bytes: Uint8Array, start: number, end: number): boolean {
    if (this.length > 0) return true;
    const shallow = this.#base + 1;
    let depth = this.#depth;
    let i = this.#stringStart < 0 ? start + this.#position : this.#resumeString(bytes, start, end);
    if (i < 0) return false;
    let c = 0;
    while (i < end) {
      c = bytes[i++]!;
      if (c === QUOTE) {
        const open = i - 1;
        let escaped = false;
        for (;;) {
          // biome-ignore lint/suspicious/noAssignInExpressions: the innermost loop of every decode, 15 % faster like this
          while (i < end && (c = bytes[i]!) !== QUOTE && c !== BACKSLASH) i++;
          if (i >= end || c === QUOTE) break;
          escaped = true;
          i += 2;
        }
        if (i >= end) return this.#suspendString(open - start, escaped, i, start, end, depth);
        i++;
        if (depth <= shallow) {
          if (!this.#shallowString(bytes, start, open, i, end, depth, escaped)) {
            return this.#suspend(open - start, depth);
          }
          if (this.#jump >= 0) {
            i = this.#jump;
            this.#jump = -1;
            depth++;
          }
        }
      } else if ((c | CASE_BIT) === OPEN) {
        depth++;
      } else if ((c | CASE_BIT) === CLOSE) {
        if (--depth <= shallow) {
          if (!this.#shallowClose(bytes, start, i, end, depth)) return this.#suspend(i - 1 - start, depth + 1);
          if (depth <= 0) {
            this.length = i - start;
            return true;
          }
          if (this.stopAfterMetadata && this.metadataEnd > 0) return this.#suspend(i - start, depth);
        }
      } else if (c >= 0x30 && c <= 0x39) {
        const digits = i;
        // Digits and `.`: an exponent has none that count.
        // biome-ignore lint/suspicious/noAssignInExpressions: as above
        while (i < end && (c = bytes[i]!) <= 0x39 && c >= 0x2e) i++;
        if (i - digits >= EXACT_DIGITS) this.suspectNumber = true;
        // The number may go on in the next piece: count its digits again.
        else if (i >= end) return this.#suspend(digits - 1 - start, depth);
      }
    }
    return this.#suspend(i - start, depth);
  }

  #suspend(position: number, depth: number): false {
    this.#position = position;
    this.#depth = depth;
    return false;
  }

  #suspendString(open: number, escaped: boolean, i: number, start: number, end: number, depth: number): false {
    this.#stringStart = open;
    this.#stringEscaped = escaped;
    // A backslash was the last byte: it is looked at again together with the byte after it.
    return this.#suspend((i > end ? end - 1 : end) - start, depth);
  }

  /** Goes on in the string that the last piece ended in; gives the position after it, or -1 when more bytes are needed. */
  #resumeString(bytes: Uint8Array, start: number, end: number): number {
    const open = this.#stringStart;
    const depth = this.#depth;
    let i = start + this.#position;
    while (i < end && bytes[i] !== QUOTE) {
      if (bytes[i] === BACKSLASH) {
        this.#stringEscaped = true;
        i++;
      }
      i++;
    }
    if (i >= end) {
      this.#suspendString(open, this.#stringEscaped, i, start, end, depth);
      return -1;
    }
    i++;
    this.#stringStart = -1;
    if (depth > this.#base + 1) return i;
    if (!this.#shallowString(bytes, start, start + open, i, end, depth, this.#stringEscaped)) {
      this.#suspend(open, depth);
      return -1;
    }
    this.#jump = -1;
    return i;
  }

  /** A string ended near the top: is it one of the two keys? False if that takes more bytes. */
  #shallowString(
    bytes: Uint8Array,
    start: number,
    from: number,
    to: number,
    end: number,
    depth: number,
    escaped: boolean,
  ): boolean {
    if (depth === this.#base) {
      if (escaped) this.cutUnsure = true;
      else if (to - from === METADATA.length + 2 && matches(bytes, from + 1, METADATA)) {
        const value = valueAfterKey(bytes, to, end);
        if (value < 0) return false;
        this.#inMetadata = value > 0 && bytes[value] === OPEN_BRACE;
      }
    } else if (depth === this.#base + 1 && this.#inMetadata) {
      if (escaped) this.cutUnsure = true;
      else if (to - from === MANAGED_FIELDS.length + 2 && matches(bytes, from + 1, MANAGED_FIELDS)) {
        const value = valueAfterKey(bytes, to, end);
        if (value < 0) return false;
        if (value > 0) {
          if (this.cutEnd === 0 && this.#cutKey < 0 && (bytes[value]! | CASE_BIT) === OPEN) {
            if (this.#jumps && bytes[value] === OPEN_BRACKET && !this.#findJump(bytes, value, end)) return false;
            this.#cutKey = from - start;
          } else this.cutUnsure = true;
        }
      }
    }
    return true;
  }

  /** Looks for the end of the array at `open`. False when it has not come yet; without a jump the array is passed byte by byte. */
  #findJump(bytes: Uint8Array, open: number, end: number): boolean {
    const close = closingBracketAhead(bytes, open, end);
    if (close === NOT_YET) return end - open > JUMP_BYTES;
    if (close >= 0) this.#jump = close;
    return true;
  }

  /** A bracket closed near the top, down to `depth`. False when the byte after it is needed and has not come. */
  #shallowClose(bytes: Uint8Array, start: number, i: number, end: number, depth: number): boolean {
    if (depth === this.#base + 1) {
      if (this.#cutKey >= 0) {
        const next = skipSpace(bytes, i, end);
        if (next >= end) return false;
        if (bytes[next] === COMMA) {
          this.cutStart = this.#cutKey;
          this.cutEnd = next + 1 - start;
        } else {
          this.cutStart = commaBefore(bytes, start, start + this.#cutKey) - start;
          this.cutEnd = i - start;
        }
        this.#cutKey = -1;
      }
    } else if (depth === this.#base) {
      if (this.#inMetadata && this.metadataEnd === 0) this.metadataEnd = i - start;
      this.#inMetadata = false;
    } else if (depth === this.#base - 1 && this.innerEnd === 0) {
      this.innerEnd = i - start;
    }
    return true;
  }
}

/** The result of {@link closingBracketAhead} when there is no bracket yet. */
const NOT_YET = -2;

/**
 * Looks for the bracket that closes the array at `open`, natively: the first one, if none opens before it and it does
 * not stand in a string. That shows in what follows, as the next quote opens a key, where one that ends a string would
 * have no letter behind it. Negative if there is none before `end`, or it is not certain.
 */
export function closingBracketAhead(bytes: Uint8Array, open: number, end: number): number {
  const native = asBuffer(bytes);
  const close = native.indexOf(CLOSE_BRACKET, open + 1);
  if (close < 0 || close >= end) return NOT_YET;
  const comma = bytes[close + 1] === CLOSE_BRACE ? close + 2 : close + 1;
  if (comma + 2 >= end || bytes[comma] !== COMMA || bytes[comma + 1] !== QUOTE) return -1;
  const letter = bytes[comma + 2]! | CASE_BIT;
  if (letter < 0x61 || letter > 0x7a) return -1;
  const nested = native.indexOf(OPEN_BRACKET, open + 1);
  return nested < 0 || nested > close ? close : -1;
}

/** Position of the value when a colon follows, 0 when none does (the string was no key), -1 when more bytes are needed. */
function valueAfterKey(bytes: Uint8Array, from: number, end: number): number {
  const colon = skipSpace(bytes, from, end);
  if (colon >= end) return -1;
  if (bytes[colon] !== COLON) return 0;
  const value = skipSpace(bytes, colon + 1, end);
  return value >= end ? -1 : value;
}

/** Position of the comma before a member, or the member's own when it is the first. */
function commaBefore(bytes: Uint8Array, start: number, key: number): number {
  let i = key - 1;
  while (i > start && isSpace(bytes[i]!)) i--;
  return bytes[i] === COMMA ? i : key;
}

function matches(bytes: Uint8Array, from: number, word: Uint8Array): boolean {
  for (let i = 0; i < word.length; i++) if (bytes[from + i] !== word[i]) return false;
  return true;
}

/** True for the four bytes that JSON takes as white space. */
export function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** First position from `from` on that is no white space, or `end`. */
export function skipSpace(bytes: Uint8Array, from: number, end: number): number {
  let i = from;
  while (i < end && isSpace(bytes[i]!)) i++;
  return i;
}

function bytesOf(word: string): Uint8Array {
  return Uint8Array.from(word, (character) => character.charCodeAt(0));
}
