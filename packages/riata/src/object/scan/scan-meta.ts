import { textOf } from './decode-object.js';
import { isSpace, skipSpace } from './object-scanner.js';

/** What {@link scanMeta} finds without parsing the object. */
export interface ScannedMeta {
  readonly name: string | undefined;
  readonly namespace: string | undefined;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  /** JSON text of `metadata.labels`. */
  readonly labels: string | undefined;
}

type Field = keyof ScannedMeta;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const FIELDS: readonly Field[] = ['name', 'namespace', 'uid', 'resourceVersion', 'labels'];

/**
 * Reads the identity of an object from its bytes, parsing nothing else: for caches that keep bytes and parse on demand.
 * It stops as soon as all five fields are found. As in `JSON.parse`, a later member of the same name wins among what is
 * looked at. Undefined when it meets something that it does not understand (an escaped key, broken JSON, no metadata):
 * parse then.
 */
export function scanMeta(bytes: Uint8Array): ScannedMeta | undefined {
  const end = bytes.length;
  let i = skipSpace(bytes, 0, end);
  if (bytes[i] !== 0x7b) return undefined;
  i = skipSpace(bytes, i + 1, end);
  while (i < end && bytes[i] === QUOTE) {
    const key = i;
    const afterKey = keyEnd(bytes, i, end);
    const value = valueAfter(bytes, afterKey, end);
    if (value < 0) return undefined;
    if (isKey(bytes, key, afterKey, 'metadata'))
      return bytes[value] === 0x7b ? scanMembers(bytes, value, end) : undefined;
    i = nextMember(bytes, valueEnd(bytes, value, end), end);
  }
  return undefined;
}

function scanMembers(bytes: Uint8Array, open: number, end: number): ScannedMeta | undefined {
  const found: { [F in Field]: string | undefined } = {
    name: undefined,
    namespace: undefined,
    uid: undefined,
    resourceVersion: undefined,
    labels: undefined,
  };
  let missing = FIELDS.length;
  let i = skipSpace(bytes, open + 1, end);
  while (i < end && bytes[i] === QUOTE) {
    const key = i;
    const afterKey = keyEnd(bytes, i, end);
    const value = valueAfter(bytes, afterKey, end);
    if (value < 0) return undefined;
    const last = valueEnd(bytes, value, end);
    if (last < 0) return undefined;
    for (const field of FIELDS) {
      if (!isKey(bytes, key, afterKey, field)) continue;
      if (found[field] === undefined) missing--;
      const text = field === 'labels' ? textOf(bytes, value, last) : stringAt(bytes, value, last);
      if (text === undefined) return undefined;
      found[field] = text;
    }
    if (missing === 0) return found;
    i = nextMember(bytes, last, end);
  }
  return i >= 0 && bytes[i] === 0x7d ? found : undefined;
}

/** As {@link stringEnd}; -1 also for a key with escapes, which may be any. */
function keyEnd(bytes: Uint8Array, open: number, end: number): number {
  let i = open + 1;
  while (i < end && bytes[i] !== QUOTE) if (bytes[i++] === BACKSLASH) return -1;
  return i < end ? i + 1 : -1;
}

/** Just past a string's closing quote; -1 when it does not end. */
function stringEnd(bytes: Uint8Array, open: number, end: number): number {
  let i = open + 1;
  while (i < end && bytes[i] !== QUOTE) i += bytes[i] === BACKSLASH ? 2 : 1;
  return i < end ? i + 1 : -1;
}

function valueAfter(bytes: Uint8Array, afterKey: number, end: number): number {
  if (afterKey < 0) return -1;
  const colon = skipSpace(bytes, afterKey, end);
  if (bytes[colon] !== 0x3a) return -1;
  const value = skipSpace(bytes, colon + 1, end);
  return value < end ? value : -1;
}

function valueEnd(bytes: Uint8Array, value: number, end: number): number {
  const first = bytes[value]!;
  if (first === QUOTE) return stringEnd(bytes, value, end);
  let i = value;
  let depth = 0;
  while (i < end) {
    const byte = bytes[i]!;
    if (byte === QUOTE) {
      i = stringEnd(bytes, i, end);
      if (i < 0) return -1;
      continue;
    }
    if ((byte | 0x20) === 0x7b) depth++;
    else if ((byte | 0x20) === 0x7d) {
      if (depth === 0) return i;
      if (--depth === 0) return i + 1;
    } else if (depth === 0 && (byte === 0x2c || isSpace(byte))) return i;
    i++;
  }
  return -1;
}

/** The quote of the next key, or the brace that closes the object; -1 for anything else. */
function nextMember(bytes: Uint8Array, from: number, end: number): number {
  if (from < 0) return end;
  const i = skipSpace(bytes, from, end);
  if (bytes[i] === 0x7d) return i;
  return bytes[i] === 0x2c ? skipSpace(bytes, i + 1, end) : end;
}

function isKey(bytes: Uint8Array, open: number, after: number, word: string): boolean {
  if (after - open !== word.length + 2) return false;
  for (let i = 0; i < word.length; i++) if (bytes[open + 1 + i] !== word.charCodeAt(i)) return false;
  return true;
}

function stringAt(bytes: Uint8Array, from: number, to: number): string | undefined {
  if (bytes[from] !== QUOTE) return undefined;
  const text = textOf(bytes, from + 1, to - 1);
  return text.includes('\\') ? undefined : text;
}
