import { isJsonObject, type JsonObject } from '../json.js';
import { type FramedObject, type MakeObject, textAround, textOf } from '../scan/decode-object.js';
import { mayHoldLongInteger } from '../scan/guess.js';
import { skipSpace } from '../scan/object-scanner.js';
import { unsafeNumbers } from '../scan/unsafe-numbers.js';
import { freeze } from '../value/freeze.js';
import { lossOf, markLossy } from '../value/lossy.js';
import type { Bag } from '../value/own.js';
import { partAt, partDescriptor, partText, type RawParts, rawPartsOf, stampParts } from './raw-parts.js';
import { skipNested, skipScalar, stringEnd } from './skip-value.js';

const QUOTE = 0x22;
/** Longer strings at the top of an object are kept as text. */
const SHORT = 64;

/** What {@link rawObjects} may be told. */
export interface RawObjectsOptions {
  /** The version before: what it has in common with the new one is shared at once, and not looked through. @default none */
  readonly previousOf?: (framed: FramedObject) => object | undefined;
  /**
   * Decodes the metadata as they come, as they are read anyway: those of `framed` that begin at `from` and end at its
   * `metadataEnd`, without what is cut out. Undefined to have them kept as text. They are frozen. Of what has not been
   * scanned, it has to find these places itself, and set them; undefined if it cannot. @default kept as text
   */
  readonly decodeMetadata?: (framed: FramedObject, from: number, previous: object | undefined) => object | undefined;
}

/**
 * Makes raw objects: what is at the top of them (`metadata`, `spec`, `status`…) is kept as text and parsed when it is read.
 * For kinds of which there are many and of which little is read. Pass the result as `makeObject` to a list, a watch or
 * `decodeObject`; one for each kind, as it learns what the objects look like.
 *
 * A raw object looks like any other: its members are own and enumerable, and spread, `JSON.stringify`, `clone`, `edit`,
 * `equal`, `share` and all else work on it. It is frozen from the beginning, and so is what is read from it.
 * `o.spec === o.spec` holds for as long as somebody holds the one that was read; what nobody holds is let go.
 *
 * What lies inside a member is checked for syntax when it is read: a `SyntaxError` then. Objects that are laid out in an
 * unusual way (a key twice or with escapes, numbers as keys) are parsed at once.
 */
export function rawObjects({ previousOf, decodeMetadata }: RawObjectsOptions = {}): MakeObject {
  // A constructor of its own, as engines size objects by it; with the prototype that any plain object has.
  function Facade() {}
  Facade.prototype = Object.prototype;
  const Plain = Facade as unknown as new () => Bag;
  /** The keys of the object before: the next one has the same, mostly. */
  const known: string[] = [];
  /** The texts of its strings and numbers. */
  const scalars: string[] = [];
  let head = '';
  let headMembers: [string, unknown][] = [];
  /** The parts of the object at hand: an array that grows has room for more than it will ever hold. */
  const parts: RawParts = [];

  const make = (framed: FramedObject): object | undefined => {
    const { bytes, start, end, isUnseen } = framed;
    const object = new Plain();
    let metadata: object | undefined;
    parts.length = 0;
    if (framed.head !== head) {
      head = framed.head;
      headMembers = head === '' ? [] : Object.entries(JSON.parse(`${head.slice(0, -1)}}`) as JsonObject);
    }
    const previous = previousOf?.(framed);
    const before = previous === undefined || lossOf(previous) !== undefined ? undefined : rawPartsOf(previous);
    if (isUnseen && before === undefined) return undefined;
    for (const [key, value] of headMembers) object[key] = value;
    let i = skipSpace(bytes, start + 1, end);
    for (let member = 0; bytes[i] === QUOTE && i < end; member++) {
      const keyEnd = stringEnd(bytes, i, end);
      if (keyEnd < 0) return undefined;
      let key = known[member];
      if (key === undefined || !matches(bytes, i + 1, keyEnd - 1, key)) {
        key = textOf(bytes, i + 1, keyEnd - 1);
        if (!isUsual(key)) return undefined;
        known[member] = key;
      }
      if (Object.hasOwn(object, key)) return undefined;
      i = skipSpace(bytes, keyEnd, end);
      if (bytes[i] !== 0x3a) return undefined;
      const from = skipSpace(bytes, i + 1, end);
      const nested = (bytes[from]! | 0x20) === 0x7b;
      const isMetadata = nested && key === 'metadata';
      const same =
        before === undefined || !nested || isMetadata ? undefined : partAt(before, parts.length, bytes, from, end);
      const decoded =
        isMetadata && (isUnseen || framed.metadataEnd > from)
          ? decodeMetadata?.(framed, from, before && previous)
          : undefined;
      if (same !== undefined) {
        Object.defineProperty(object, key, partDescriptor(parts.length));
        parts.push(same.part);
        i = same.to;
      } else if (decoded !== undefined) {
        metadata = freeze(decoded);
        object[key] = metadata;
        i = framed.metadataEnd;
      } else {
        if (isUnseen && isMetadata) return undefined;
        const cut = isMetadata && framed.cutEnd > 0;
        i =
          isMetadata && framed.metadataEnd > from
            ? framed.metadataEnd
            : nested
              ? skipNested(bytes, from, end, cut ? framed.cutStart : 0, cut ? framed.cutEnd : 0)
              : skipScalar(bytes, from, end);
        if (i < 0 || (isUnseen && bytes[from] !== QUOTE && mayHoldLongInteger(bytes, from - 1, i))) return undefined;
        if (nested || i - from > SHORT) {
          const text = cut ? textAround(bytes, from, framed.cutStart, framed.cutEnd, i, '') : textOf(bytes, from, i);
          if (framed.cutUnsure && isMetadata && holdsManagedFields(text)) return undefined;
          Object.defineProperty(object, key, partDescriptor(parts.length));
          parts.push(partText(text));
        } else {
          let text = scalars[member];
          if (text === undefined || !matches(bytes, from, i, text)) {
            text = textOf(bytes, from, i);
            scalars[member] = text;
          }
          const value = scalarOf(text);
          if (value === undefined) return undefined;
          object[key] = value;
        }
      }
      i = skipSpace(bytes, i, end);
      if (bytes[i] !== 0x2c) break;
      i = skipSpace(bytes, i + 1, end);
      if (bytes[i] !== QUOTE) return undefined;
    }
    if (i !== end - 1 || bytes[i] !== 0x7d || (isUnseen && framed.metadataEnd === 0)) return undefined;
    stampParts(object, parts.slice(), metadata);
    if (framed.suspectNumber) noteUnsafeNumbers(framed, object);
    return Object.freeze(object);
  };
  return Object.assign(make, { takesUnseen: previousOf !== undefined && decodeMetadata !== undefined });
}

/** True for an object whose members are parsed when they are read; see {@link rawObjects}. */
export function isRawObject(object: object): boolean {
  return rawPartsOf(object) !== undefined;
}

/** Keys that engines sort, and the one that is none, are left to the parser, and so is what has escapes. */
function isUsual(key: string): boolean {
  return !/^\d+$|\\|\p{Cc}|^__proto__$/u.test(key);
}

const scalarValues = new Map<string, string | number | boolean | null>();

/** The value of a string, number or literal; undefined for anything else. */
function scalarOf(text: string): string | number | boolean | null | undefined {
  let value = scalarValues.get(text);
  if (value === undefined) {
    try {
      value = JSON.parse(text) as string | number | boolean | null;
    } catch {
      return undefined;
    }
    if (scalarValues.size >= 1_000) scalarValues.clear();
    scalarValues.set(text, value);
  }
  return value;
}

function holdsManagedFields(metadata: string): boolean {
  if (!metadata.includes('"managedFields"') && !metadata.includes('\\u')) return false;
  try {
    const value: unknown = JSON.parse(metadata);
    return isJsonObject(value) && Object.hasOwn(value, 'managedFields');
  } catch {
    return true;
  }
}

function noteUnsafeNumbers(framed: FramedObject, object: object): void {
  const { bytes, start, end, cutStart, cutEnd } = framed;
  const text = cutEnd > 0 ? textAround(bytes, start, cutStart, cutEnd, end, '') : textOf(bytes, start, end);
  const paths = unsafeNumbers(text);
  if (paths.length > 0) markLossy(object, 'unsafe-integer', paths);
}

/** Whether `bytes[from, to)` are the (ASCII) text. */
function matches(bytes: Uint8Array, from: number, to: number, text: string): boolean {
  if (to - from !== text.length) return false;
  for (let i = 0; i < text.length; i++) if (bytes[from + i] !== text.charCodeAt(i)) return false;
  return true;
}
