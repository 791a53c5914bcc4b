import { textOf } from '../../object/scan/native-bytes.js';
import { skipNested, stringEnd } from '../../object/scan/skip-value.js';

const quote = 0x22;
const comma = 0x2c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** The parts of a ConversionReview. Objects are only framed, so that each can be parsed when it is its turn. */
export interface SplitReview {
  /** The review with an empty list of objects. */
  readonly head: string;
  /** The texts of `request.objects`. */
  readonly objects: readonly Uint8Array[];
}

/** Frames the objects of a review. Undefined if it is not the JSON of one; `JSON.parse` checks the rest. */
export function splitReview(bytes: Uint8Array): SplitReview | undefined {
  const request = memberStart(bytes, skipSpace(bytes, 0), 'request');
  const list = request === undefined ? undefined : memberStart(bytes, request, 'objects');
  if (list === undefined || bytes[list] !== openBracket) return { head: textOf(bytes, 0, bytes.length), objects: [] };
  const objects: Uint8Array[] = [];
  let at = skipSpace(bytes, list + 1);
  while (bytes[at] !== closeBracket) {
    if (bytes[at] !== openBrace) return undefined;
    const end = skipNested(bytes, at, bytes.length, 0, 0);
    if (end < 0) return undefined;
    objects.push(bytes.subarray(at, end));
    at = skipSpace(bytes, end);
    if (bytes[at] === comma) at = skipSpace(bytes, at + 1);
    else if (bytes[at] !== closeBracket) return undefined;
  }
  return { head: textOf(bytes, 0, list + 1) + textOf(bytes, at, bytes.length), objects };
}

/** Where the value of a member of the object at `from` starts. */
function memberStart(bytes: Uint8Array, from: number, name: string): number | undefined {
  if (bytes[from] !== openBrace) return undefined;
  let at = skipSpace(bytes, from + 1);
  while (bytes[at] === quote) {
    const end = stringEnd(bytes, at, bytes.length);
    if (end < 0) return undefined;
    const key = textOf(bytes, at + 1, end - 1);
    // Past the colon; a text that has something else there is refused by the parser.
    const value = skipSpace(bytes, skipSpace(bytes, end) + 1);
    if (key === name) return value;
    const next = skipMember(bytes, value);
    if (next === undefined) return undefined;
    at = skipSpace(bytes, next);
  }
  return undefined;
}

/** Just past the comma after the value at `from`; undefined if nothing follows. */
function skipMember(bytes: Uint8Array, from: number): number | undefined {
  let at = from;
  if (bytes[at] === quote) at = stringEnd(bytes, at, bytes.length);
  else if (bytes[at] === openBrace || bytes[at] === openBracket) at = skipNested(bytes, at, bytes.length, 0, 0);
  if (at < 0) return undefined;
  while (at < bytes.length && bytes[at] !== comma && bytes[at] !== closeBrace) at++;
  return bytes[at] === comma ? at + 1 : undefined;
}

function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at++;
  return at;
}
