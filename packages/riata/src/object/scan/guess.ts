import { Buffer } from 'node:buffer';
import { asBuffer } from './native-bytes.js';
import { isSpace } from './object-scanner.js';

/**
 * How servers begin the objects of a list. The next object of a list begins as the one before it, so where this text comes
 * after a brace and a comma, the object may have ended.
 */
const BEGINNINGS: readonly Buffer[] = ['},{"metadata":{', '},{"apiVersion":"', '},{"kind":"'].map((text) =>
  Buffer.from(text),
);

/** The result of {@link guessEnd} for objects that begin in no way it knows. */
export const UNKNOWN_BEGINNING = -2;

/**
 * Where the object at `start` may end (just past its brace), by a search that costs a tenth of a scan: before one that
 * begins as it does. It looks from `from` on; -1 if there is none before `end`. Whether it is right shows in parsing: no
 * JSON object is the beginning of another one, so if `bytes[start, guess)` is an object at all, it is the one that begins
 * at `start`. The same holds for what is left of it after a part has been cut out that was found by an exact scan from
 * `start`. So a search may begin anywhere behind `start`, if only it is right most of the time.
 */
export function guessEnd(bytes: Uint8Array, start: number, from: number, end: number): number {
  const beginning = beginningAt(bytes, start);
  if (beginning === undefined) return UNKNOWN_BEGINNING;
  const found = asBuffer(bytes).indexOf(beginning, from);
  return found >= 0 && found + beginning.length <= end ? found + 1 : -1;
}

/**
 * As {@link guessEnd}, but where the last object may end that another one follows, if objects are about `usual` bytes
 * long; where they are not, it may be one before that. With 0, it is the first one.
 */
export function guessLastEnd(bytes: Uint8Array, start: number, end: number, usual: number): number {
  const beginning = beginningAt(bytes, start);
  if (beginning === undefined) return UNKNOWN_BEGINNING;
  const native = asBuffer(bytes);
  const last = end - beginning.length;
  // How many objects of the usual length have come. If they are longer, there are fewer.
  let from = usual === 0 ? start : start + usual * Math.trunc((end - start) / usual) - (usual >> 4);
  let found = native.indexOf(beginning, Math.max(from, start + 1));
  while ((found < 0 || found > last) && from > start) {
    from = from > start + 3 * usual ? from - 2 * usual : start;
    found = native.indexOf(beginning, Math.max(from, start + 1));
  }
  return found >= 0 && found <= last ? found + 1 : -1;
}

function beginningAt(bytes: Uint8Array, start: number): Buffer | undefined {
  for (const beginning of BEGINNINGS) {
    if (bytes[start + 2] !== beginning[4]) continue;
    for (let i = 2; i < beginning.length; i++) if (bytes[start + i - 2] !== beginning[i]) return undefined;
    return beginning;
  }
  return undefined;
}

/** No beginning that {@link guessEnd} looks for is longer. */
export const LONGEST_BEGINNING: number = Math.max(...BEGINNINGS.map(({ length }) => length));

/**
 * Where the object at `start` may end if `bytes[start, end)` goes no further than to a part of such a beginning: before a
 * comma and no more than that part; -1 if it does not end so.
 */
export function guessEndBeforePart(bytes: Uint8Array, start: number, end: number): number {
  for (let i = Math.max(start, end - LONGEST_BEGINNING); i + 1 < end; i++) {
    if (bytes[i] === 0x7d && bytes[i + 1] === 0x2c && (i + 2 === end || bytes[i + 2] === 0x7b)) return i + 1;
  }
  return -1;
}

/** The last byte of `bytes[start, end)` that is not white space; 0 if there is no such byte. */
export function lastByte(bytes: Uint8Array, start: number, end: number): number {
  let i = end - 1;
  while (i >= start && isSpace(bytes[i]!)) i--;
  return i >= start ? bytes[i]! : 0;
}

/**
 * Whether `bytes[start, end)` may hold an integer past 2^53: 16 digits or more in a row, after what may stand before a
 * number, that are no smaller number for certain. Of 16 bytes it looks at one.
 */
export function mayHoldLongInteger(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start + 15; i < end; i += 16) {
    if (!isDigit(bytes[i]!)) continue;
    let first = i;
    while (first > start && isDigit(bytes[first - 1]!)) first--;
    while (i + 1 < end && isDigit(bytes[i + 1]!)) i++;
    const digits = i - first + 1;
    if (digits < 16 || (digits === 16 && isBelow(bytes, start, first, end))) continue;
    if (beginsNumber(bytes, start, first - 1)) return true;
  }
  return false;
}

/** Whether the 16 digits at `first` are a whole number below 9e15, such as a time in microseconds: 2^53 is above that. */
function isBelow(bytes: Uint8Array, start: number, first: number, end: number): boolean {
  if (first === start || first + 16 >= end || bytes[first] === 0x39) return false;
  const after = bytes[first + 16]!;
  return after === 0x2c || after === 0x7d || after === 0x5d || after <= 0x20;
}

/** Whether a number that has its first digit just past `last` may stand there, outside strings. */
function beginsNumber(bytes: Uint8Array, start: number, last: number): boolean {
  const i = last > start && bytes[last] === 0x2d ? last - 1 : last;
  if (i <= start) return true;
  const before = bytes[i]!;
  // In a string this may also be, and then the exact look that follows was for nothing.
  return before === 0x3a || before === 0x2c || before === 0x5b || before <= 0x20;
}

function isDigit(byte: number): boolean {
  return (byte ^ 0x30) <= 9;
}
