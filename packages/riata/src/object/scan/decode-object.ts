import { isJsonObject } from '../json.js';
import { markLossy } from '../value/lossy.js';
import { textOf } from './native-bytes.js';
import { ObjectScanner, skipSpace } from './object-scanner.js';
import { unsafeNumbers } from './unsafe-numbers.js';

/** How objects are read from bytes. */
export interface DecodeOptions {
  /**
   * Leaves `metadata.managedFields` of the object itself out, before it is parsed: half the time and half the memory.
   * Its syntax is then not checked. Fields of that name elsewhere stay.
   * @default false
   */
  readonly cutManagedFields?: boolean;
  /** Decodes objects instead of `JSON.parse`; caches pass one. @default parsed as a whole */
  readonly decoder?: ObjectDecoder;
}

/** The bytes of one object, as a scan has framed them. The memory is reused after the call: don't keep it. */
export interface FramedObject {
  readonly bytes: Uint8Array;
  /** The object is `bytes[start, end)`. The end may be a guess; it is right if the braces are balanced there. */
  readonly start: number;
  readonly end: number;
  /** The bytes to leave out, with their comma: `bytes[cutStart, cutEnd)`; nothing if both are 0. */
  readonly cutStart: number;
  readonly cutEnd: number;
  /** Just past the brace that closes the first `metadata` of the object, if the scan has come so far; else 0. */
  readonly metadataEnd: number;
  /** True if there may be more to leave out: another `metadata`, another `managedFields`, an escaped key. */
  readonly cutUnsure: boolean;
  /** True if a number may not survive parsing (see {@link unsafeNumbers}). */
  readonly suspectNumber: boolean;
  /** If not empty, it replaces the byte at `start`: a brace and members, which those of the object override. */
  readonly head: string;
}

/** Decodes objects in another way than `JSON.parse`, to the same result. */
export interface ObjectDecoder {
  /** The object; undefined to have it parsed in the usual way (and refused if it is malformed). */
  decode(framed: FramedObject): object | undefined;
  /**
   * The object `bytes[start, end)`, which has not been scanned yet: its end is a guess, and managedFields, if any, must
   * be left out. Return undefined to have it scanned and {@link decode} called.
   */
  decodeUnscanned?(bytes: Uint8Array, start: number, end: number): object | undefined;
}

/**
 * Reads one object from JSON bytes. An object that holds integers past 2^53 is marked lossy with the paths of these fields;
 * fractions are what a double makes of them, as on the server. (A number too large for a double, which no Go server can
 * hold, becomes Infinity, which is refused when it is written.) Throws a `SyntaxError` for anything but one JSON object.
 */
export function decodeObject<T = unknown>(bytes: Uint8Array, options: DecodeOptions = {}): T {
  const cut = options.cutManagedFields === true;
  const scanner = new ObjectScanner(1, cut);
  const start = skipSpace(bytes, 0, bytes.length);
  const framed = bytes[start] === 0x7b && scanner.scan(bytes, start, bytes.length);
  if (!framed || skipSpace(bytes, start + scanner.length, bytes.length) < bytes.length) {
    JSON.parse(textOf(bytes, 0, bytes.length));
    throw new SyntaxError(`expected one JSON object, got ${textOf(bytes, start, Math.min(bytes.length, start + 40))}`);
  }
  const to = start + scanner.length;
  return decodeScanned<T>(bytes, start, scanner, cut, start, to, '', options.decoder);
}

/**
 * Parses `bytes[from, to)` out of what `scanner` has framed at `start`: the framed object itself, or the one inside it
 * whose metadata the scanner looked at. `head`, if any, takes the place of what stands before `from`: the opening brace
 * and further members, which those of the object override. Where the scanner has not seen all of it, no integer past 2^53
 * may be in what it has not seen.
 */
export function decodeScanned<T>(
  bytes: Uint8Array,
  start: number,
  scanner: ObjectScanner,
  cut: boolean,
  from: number = start,
  to: number = start + scanner.length,
  head = '',
  decoder?: ObjectDecoder,
): T {
  if (decoder !== undefined) {
    const cuts = cut && scanner.cutEnd > 0;
    const decoded = decoder.decode({
      bytes,
      start: head === '' ? from : from - 1,
      end: to,
      cutStart: cuts ? start + scanner.cutStart : 0,
      cutEnd: cuts ? start + scanner.cutEnd : 0,
      metadataEnd: scanner.metadataEnd > 0 ? start + scanner.metadataEnd : 0,
      cutUnsure: cut && scanner.cutUnsure,
      suspectNumber: scanner.suspectNumber,
      head,
    });
    if (decoded !== undefined) return decoded as T;
  }
  const text =
    cut && scanner.cutEnd > 0
      ? scanner.joiner.join(bytes, from, start + scanner.cutStart, start + scanner.cutEnd, to, head)
      : head + textOf(bytes, from, to);
  return parseChecked<T>(text, cut && scanner.cutUnsure, scanner.suspectNumber);
}

/** Parses the text of an object, with the two rare checks that a scan requests. */
function parseChecked<T>(text: string, dropManagedFields: boolean, suspectNumber: boolean): T {
  let value: unknown = JSON.parse(text);
  if (dropManagedFields) value = withoutManagedFields(value);
  if (suspectNumber && typeof value === 'object' && value !== null) {
    const found = unsafeNumbers(text);
    const paths = dropManagedFields ? found.filter((path) => !/^metadata\.managedFields(?![^.[])/.test(path)) : found;
    if (paths.length > 0) markLossy(value, 'unsafe-integer', paths);
  }
  return value as T;
}

/** The object without `metadata.managedFields`; the same one if it has none. A copy, as `delete` costs memory. */
export function withoutManagedFields(value: unknown): unknown {
  if (!isJsonObject(value) || !Object.hasOwn(value, 'metadata')) return value;
  const metadata = value.metadata;
  if (!isJsonObject(metadata) || !Object.hasOwn(metadata, 'managedFields')) return value;
  const { managedFields: _, ...kept } = metadata;
  return { ...value, metadata: kept };
}
