import { isSpace } from './object-scanner.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** `[` and `{` are the same byte but for this bit, and so are `]` and `}`. */
const CASE_BIT = 0x20;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** Just past the quote that closes the string at `open`; -1 when it does not end. */
export function stringEnd(bytes: Uint8Array, open: number, end: number): number {
  let i = open + 1;
  while (i < end && bytes[i] !== QUOTE) i += bytes[i] === BACKSLASH ? 2 : 1;
  return i < end ? i + 1 : -1;
}

/** Just past the string, number or literal at `from`; -1 when it does not end. */
export function skipScalar(bytes: Uint8Array, from: number, end: number): number {
  if (bytes[from] === QUOTE) return stringEnd(bytes, from, end);
  let i = from;
  while (i < end && bytes[i] !== 0x2c && bytes[i] !== CLOSE && !isSpace(bytes[i]!)) i++;
  return i < end && i > from ? i : -1;
}

/**
 * Just past the bracket that closes the one at `from`; -1 if it is missing. `bytes[cutStart, cutEnd)`, if any, is
 * skipped: whole members of something inside.
 */
export function skipNested(bytes: Uint8Array, from: number, end: number, cutStart: number, cutEnd: number): number {
  if (cutEnd <= from) return skip(bytes, from, end, 0);
  const depth = depthAt(bytes, from, cutStart);
  return depth > 0 ? skip(bytes, cutEnd, end, depth) : -1;
}

function skip(bytes: Uint8Array, from: number, end: number, outside: number): number {
  let depth = outside;
  let i = from;
  let c = 0;
  while (i < end) {
    c = bytes[i++]!;
    if (c === QUOTE) {
      for (;;) {
        // biome-ignore lint/suspicious/noAssignInExpressions: the innermost loop, faster like this
        while (i < end && (c = bytes[i]!) !== QUOTE && c !== BACKSLASH) i++;
        if (i >= end || c === QUOTE) break;
        i += 2;
      }
      i++;
    } else if ((c | CASE_BIT) === OPEN) depth++;
    else if ((c | CASE_BIT) === CLOSE && --depth === 0) return i;
  }
  return -1;
}

/** How many brackets are open at `to`; 0 when they are closed before it. */
function depthAt(bytes: Uint8Array, from: number, to: number): number {
  let depth = 0;
  for (let i = from; i < to; i++) {
    const c = bytes[i]!;
    if (c === QUOTE) {
      i = stringEnd(bytes, i, to) - 1;
      if (i < 0) return 0;
    } else if ((c | CASE_BIT) === OPEN) depth++;
    else if ((c | CASE_BIT) === CLOSE && --depth === 0) return 0;
  }
  return depth;
}
