import type { Buffer } from 'node:buffer';
import { isJsonObject, type JsonObject } from '../../object/json.js';
import type { TypeMeta } from '../../object/meta.js';
import { guessLastEnd, mayHoldLongInteger } from '../../object/scan/guess.js';
import { textOf } from '../../object/scan/native-bytes.js';
import type { ByteWindow } from '../transport/byte-window.js';
import { CutBatch, MAX_CUT_BYTES } from './cut-batch.js';
import { isTyped, withType } from './item-type.js';

/** After a batch that could not be decoded, so many items are left to others, and twice as many after the next. */
const LEAST_SINGLES = 8;
const MOST_SINGLES = 4096;
/** How much of an item is waited for: the next one may begin in another way, and is then not found. */
const MOST_WAIT_BYTES = 65_536;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const NONE: readonly never[] = Object.freeze([]);

/**
 * Decodes the items of a list that have come together as one JSON array: none of their ends has to be found but the last.
 * That is a guess, and shows in parsing: `[`, items and `]` are an array only if an item ends there. It costs less than to
 * decode them one by one, and the more so in the first seconds of a process, as it is less code that has to be optimised.
 *
 * What is not as usual is left to the decoder of single items: numbers that may not survive parsing, broken JSON,
 * items that are no objects, managedFields that cannot be cut in this way.
 */
export class ListBatch<T> {
  readonly #cut: CutBatch | undefined;
  readonly #maxBytes: number;
  #items: readonly T[] = NONE;
  #at = 0;
  /** So many items are left to others. */
  #singles = 0;
  #nextSingles = LEAST_SINGLES;
  /** About how long items are; 0 if it is not known. */
  #usualBytes = 0;

  constructor(cutManagedFields: boolean, maxObjectBytes: number) {
    this.#cut = cutManagedFields ? new CutBatch() : undefined;
    this.#maxBytes = Math.min(maxObjectBytes, MAX_CUT_BYTES);
  }

  /** The next item that has been decoded. */
  next(): T | undefined {
    if (this.#at < this.#items.length) return this.#items[this.#at++];
    this.#items = NONE;
    this.#at = 0;
    return undefined;
  }

  /** An item was decoded by others. */
  passed(): void {
    if (this.#singles > 0) this.#singles--;
  }

  /** Whether the first item of the window is better waited for, as what shows that it has ended has not come. */
  waits({ start, end }: ByteWindow): boolean {
    return this.#usualBytes > 0 && end - start < MOST_WAIT_BYTES;
  }

  /**
   * Decodes the items at the beginning of the window that others follow, and takes them out of it: true if `next` has
   * some now. Items without a type get this one.
   */
  fill(window: ByteWindow, type: TypeMeta): boolean {
    const { bytes, start } = window;
    // Less than items have is not looked through for the end of one.
    if (this.#singles > 0 || window.end - start < this.#usualBytes) return false;
    const end = guessLastEnd(bytes, start, Math.min(window.end, start + this.#maxBytes), this.#usualBytes);
    if (end < 0) return false;
    const items = this.#decode(bytes, start, end, type);
    if (items === undefined) {
      this.#singles = this.#nextSingles;
      this.#nextSingles = Math.min(2 * this.#nextSingles, MOST_SINGLES);
      this.#usualBytes = 0;
      return false;
    }
    this.#nextSingles = LEAST_SINGLES;
    this.#items = items as readonly object[] as readonly T[];
    this.#usualBytes = Math.ceil((end - start) / items.length);
    window.take(end - start);
    return true;
  }

  #decode(bytes: Buffer, start: number, end: number, type: TypeMeta): JsonObject[] | undefined {
    const cut = this.#cut;
    const text = cut === undefined ? arrayText(bytes, start, end) : cut.text(bytes, start, end);
    if (text === undefined) return undefined;
    let parsed: unknown[];
    try {
      parsed = JSON.parse(text) as unknown[];
    } catch {
      return undefined;
    }
    return cut === undefined ? typed(parsed, type) : cut.join(parsed, type);
  }
}

/** The items `bytes[start, end)` as an array; undefined if they may hold a long integer. A comma follows them. */
function arrayText(bytes: Buffer, start: number, end: number): string | undefined {
  if (mayHoldLongInteger(bytes, start, end)) return undefined;
  bytes[start - 1] = OPEN_BRACKET;
  bytes[end] = CLOSE_BRACKET;
  const text = textOf(bytes, start - 1, end + 1);
  bytes[end] = COMMA;
  return text;
}

/** The items, all with a type; undefined if any is no object. */
function typed(items: unknown[], type: TypeMeta): JsonObject[] | undefined {
  for (let i = 0; i < items.length; i++) {
    const item = items[i];
    if (!isJsonObject(item)) return undefined;
    if (!isTyped(item)) items[i] = withType(item, type);
  }
  return items as JsonObject[];
}
