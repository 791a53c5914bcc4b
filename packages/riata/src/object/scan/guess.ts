import { Buffer } from 'node:buffer';
import { asBuffer } from './decode-object.js';

/**
 * How servers begin the objects of a list. The next object of a list begins as the one before it, so where this text comes
 * after a brace and a comma, the object may have ended.
 */
const BEGINNINGS: readonly Buffer[] = ['},{"metadata":{', '},{"apiVersion":"', '},{"kind":"'].map((text) =>
  Buffer.from(text),
);

/**
 * Where the object at `start` may end (just past its brace), by a search that costs a tenth of a scan: before one that
 * begins as it does, or before the comma that ends a piece; -1 for no idea. It looks from `from` on. Whether it is right shows in parsing: no JSON object is the beginning of another one, so if
 * `bytes[start, end)` is an object at all, it is the one that begins at `start`. The same holds for what is left of it
 * after a part has been cut out that was found by an exact scan from `start`.
 */
export function guessEnd(bytes: Uint8Array, start: number, from: number, end: number): number {
  for (const beginning of BEGINNINGS) {
    if (bytes[start + 2] !== beginning[4]) continue;
    for (let i = 2; i < beginning.length; i++) if (bytes[start + i - 2] !== beginning[i]) return -1;
    const found = asBuffer(bytes).indexOf(beginning, from);
    if (found >= 0 && found + beginning.length <= end) return found + 1;
    // kube-apiserver sends an object and its comma in one piece.
    return bytes[end - 1] === 0x2c && bytes[end - 2] === 0x7d && end - 1 > from ? end - 1 : -1;
  }
  return -1;
}

/**
 * Whether `bytes[start, end)` may hold a number that a double cannot carry: 16 digits or more in a row anywhere, or a
 * number with an exponent of three or more. Of three bytes it looks at one, as either shows in three digits at least.
 */
export function mayHoldUnsafeNumber(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start + 2; i < end; i += 3) {
    if (!isDigit(bytes[i]!)) continue;
    let first = i;
    while (first > start && isDigit(bytes[first - 1]!)) first--;
    while (i + 1 < end && isDigit(bytes[i + 1]!)) i++;
    const digits = i - first + 1;
    if (digits < 3) continue;
    if (digits >= 16 || isExponent(bytes, start, first - 1)) return true;
  }
  return false;
}

/** Whether what stands before some digits, up to `i`, makes them the exponent of a number outside strings. */
function isExponent(bytes: Uint8Array, start: number, last: number): boolean {
  let i = last;
  if (i > start && (bytes[i] === 0x2b || bytes[i] === 0x2d)) i--;
  if (i <= start || (bytes[i]! | 0x20) !== 0x65) return false;
  i--;
  const mantissa = i;
  while (i > start && (isDigit(bytes[i]!) || bytes[i] === 0x2e)) i--;
  if (i === mantissa) return false;
  if (i > start && bytes[i] === 0x2d) i--;
  const before = bytes[i]!;
  // In a string this may also be, and then the exact look that follows was for nothing.
  return before === 0x3a || before === 0x2c || before === 0x5b || before <= 0x20 || i === start;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}
