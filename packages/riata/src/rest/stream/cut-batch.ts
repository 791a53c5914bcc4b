import { Buffer } from 'node:buffer';
import { isJsonObject, type JsonObject } from '../../object/json.js';
import type { TypeMeta } from '../../object/meta.js';
import { mayHoldLongInteger } from '../../object/scan/guess.js';
import { asBuffer, textOf } from '../../object/scan/native-bytes.js';
import { isTyped, withType } from './item-type.js';

/** Larger batches are not cut. */
export const MAX_CUT_BYTES = 32_768;

const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const CLOSE_BRACE = 0x7d;
const COMMA = 0x2c;
/** Certainly a key, with the comma before it: a quote that ends a string has no letter behind it. */
const MANAGED_FIELDS: Buffer = Buffer.from(',"managedFields":[');
/** Ends the metadata and the item in place of managedFields; what is left of the item is another object. */
const BREAK: Buffer = Buffer.from('}},0,{');
/** What stands between the two parts of an item, where no list has a number. */
const MARK = 0;

/**
 * Cuts `metadata.managedFields` out of items that are parsed together, without looking at every byte before it. Each item
 * is broken in two where its managedFields stood: `{"metadata":{…,"managedFields":[…]},"spec":…}` becomes
 * `{"metadata":{…}},0,{"spec":…}`. That this was the member of the item itself, and no other field of that name, shows in
 * what is parsed: only in the metadata of an item does the break make a number beside items; elsewhere the array has fewer
 * of them than there were breaks, or is no JSON. Then, and wherever managedFields are not the last of metadata (as in
 * custom resources), there is no answer, and items have to be decoded one by one.
 */
export class CutBatch {
  #breaks = 0;
  /** Holds the items without their managedFields. */
  #joint: Buffer | undefined;
  /** Nearly as much stood before managedFields at least so far: at the beginning of a batch, and after others. */
  #before = 0;
  #between = 0;

  /** The items `bytes[start, end)` as an array, in parts; undefined if they cannot be cut or hold a long integer. */
  text(bytes: Uint8Array, start: number, end: number): string | undefined {
    const native = asBuffer(bytes);
    const joint = this.#buffer();
    this.#breaks = 0;
    let length = 1;
    let from = start;
    for (;;) {
      const key = native.indexOf(MANAGED_FIELDS, from + (this.#breaks === 0 ? this.#before : this.#between));
      if (key < 0 || key >= end) break;
      const rest = afterManagedFields(bytes, key + MANAGED_FIELDS.length);
      if (rest < 0 || rest > end) return undefined;
      if (this.#breaks === 0) this.#before = leastOf(this.#before, key - from);
      else this.#between = leastOf(this.#between, key - from);
      length += native.copy(joint, length, from, key);
      for (let i = 0; i < BREAK.length; i++) joint[length++] = BREAK[i]!;
      this.#breaks++;
      from = rest;
    }
    length += native.copy(joint, length, from, end);
    if (mayHoldLongInteger(joint, 1, length)) return undefined;
    joint[length++] = CLOSE_BRACKET;
    return textOf(joint, 0, length);
  }

  /** Made on first use: many lists have no batch. */
  #buffer(): Buffer {
    if (this.#joint === undefined) {
      this.#joint = Buffer.allocUnsafeSlow(MAX_CUT_BYTES + 2);
      this.#joint[0] = OPEN_BRACKET;
    }
    return this.#joint;
  }

  /**
   * The items that were parsed of `text`, each in one again and with a type; undefined if any is no object, or was broken at
   * a wrong place.
   */
  join(parsed: readonly unknown[], type: TypeMeta): JsonObject[] | undefined {
    const items: JsonObject[] = [];
    let breaks = 0;
    for (let i = 0; i < parsed.length; i++) {
      const first = parsed[i];
      if (!isJsonObject(first)) return undefined;
      let item: JsonObject | undefined;
      if (parsed[i + 1] === MARK) {
        item = joined(first, parsed[i + 2], type);
        i += 2;
        breaks++;
      } else item = isTyped(first) ? first : withType(first, type);
      if (item === undefined || hasManagedFields(item)) return undefined;
      items.push(item);
    }
    return breaks === this.#breaks ? items : undefined;
  }
}

/** What is skipped in a search; if it was too much, items still have managedFields after parsing. */
function leastOf(known: number, distance: number): number {
  const most = (distance * 7) >> 3;
  return known === 0 || most < known ? most : known;
}

/**
 * Where the members of an item go on after managedFields that begin before `from`, if metadata ends with them: the first
 * bracket closes them if none opens before it. If it stands in a string, what is left begins with the end of one, and is
 * no JSON. -1 if that is not so.
 */
function afterManagedFields(bytes: Uint8Array, from: number): number {
  const native = asBuffer(bytes);
  const close = native.indexOf(CLOSE_BRACKET, from);
  if (close < 0 || bytes[close + 1] !== CLOSE_BRACE) return -1;
  const nested = native.indexOf(OPEN_BRACKET, from);
  if (nested >= 0 && nested < close) return -1;
  return bytes[close + 2] === COMMA ? close + 3 : close + 2;
}

/** An item of its two parts, with a type; undefined if it is not certain that it was broken in its metadata. */
function joined(head: JsonObject, rest: unknown, { apiVersion, kind }: TypeMeta): JsonObject | undefined {
  const { metadata } = head;
  if (!isJsonObject(metadata) || !isJsonObject(rest)) return undefined;
  if (rest.apiVersion !== undefined || rest.kind !== undefined) return undefined;
  const before = Object.keys(head).length - 1;
  if (before === 0) return { apiVersion, kind, metadata, ...rest };
  // The two others are strings, so it was none of them.
  return before === 2 && isTyped(head) ? { ...head, ...rest } : undefined;
}

function hasManagedFields({ metadata }: JsonObject): boolean {
  return isJsonObject(metadata) && Object.hasOwn(metadata, 'managedFields');
}
