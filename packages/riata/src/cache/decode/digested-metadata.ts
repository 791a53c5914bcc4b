import { Buffer } from 'node:buffer';
import type { FramedObject } from '../../object/scan/decode-object.js';
import { asBuffer } from '../../object/scan/native-bytes.js';
import { closingBracketAhead } from '../../object/scan/object-scanner.js';
import type { Bag } from '../../object/value/own.js';
import { Stamped } from '../../object/value/stamped.js';
import { digestOf } from './digested-part.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

/** Longer ones are none. */
const LONGEST_VERSION = 64;
const MANAGED_FIELDS = Buffer.from('"managedFields":[');
/** The text at hand; metadata that are larger are not digested. */
const text = Buffer.allocUnsafeSlow(65_536);

/** A text of metadata without their resourceVersion, and without what is cut out of them. */
interface Note {
  /** How many bytes there are before the resourceVersion, its quote included, and how many from its other quote on. */
  readonly before: number;
  readonly after: number;
  /** How many bytes there are before what is cut out; -1 if nothing is. */
  readonly cutAt: number;
  readonly digest: string;
}

/**
 * Remembers of metadata the digest of the text that they were decoded from, without their resourceVersion, which is another one in
 * each version, while all else seldom changes. As with a digested part, what is the same need not be touched then.
 */
class DigestedMetadata extends Stamped {
  #note: Note;

  constructor(metadata: object, note: Note) {
    super(metadata);
    this.#note = note;
  }

  static noteOf(metadata: object): Note | undefined {
    return #note in metadata ? metadata.#note : undefined;
  }
}

/**
 * Notes the text of `metadata`, which begins at `from` and has the quote before its resourceVersion at `versionAt`. Not of
 * frozen ones.
 */
export function noteMetadata(metadata: object, framed: FramedObject, from: number, versionAt: number): void {
  const version: unknown = (metadata as Bag).resourceVersion;
  if (typeof version !== 'string' || Object.isFrozen(metadata) || DigestedMetadata.noteOf(metadata)) return;
  const { bytes, metadataEnd, cutStart, cutEnd } = framed;
  const at = versionAt + 1;
  const end = at + version.length;
  const length = metadataEnd - from - (cutEnd - cutStart) - version.length;
  if (length > text.length || !isVersion(bytes, at, end)) return;
  const before = at - from - (cutEnd > 0 && at >= cutEnd ? cutEnd - cutStart : 0);
  const digest = readDigest(framed, from, at, end);
  new DigestedMetadata(metadata, { before, after: length - before, cutAt: cutAtOf(framed, from, end, at), digest });
}

/**
 * The metadata that begin at `from`, if they are the same as `known` but for the resourceVersion, and `known` was noted: `known`
 * itself, or else a copy that is noted, too. If they have not been scanned, their end is set.
 */
export function nextMetadata(known: object, framed: FramedObject, from: number): object | undefined {
  const note = DigestedMetadata.noteOf(known);
  if (note === undefined || (framed.isUnseen && !findEnd(framed, from, note))) return undefined;
  const { bytes, metadataEnd, cutStart, cutEnd } = framed;
  const cut = cutEnd - cutStart;
  const { before, after, digest } = note;
  const at = from + before + (cutEnd > 0 && cutStart - from < before ? cut : 0);
  const end = at + metadataEnd - from - cut - before - after;
  if (before + after > text.length || !isVersion(bytes, at, end)) return undefined;
  if (readDigest(framed, from, at, end) !== digest) return undefined;
  const resourceVersion = asBuffer(bytes).latin1Slice(at, end);
  if ((known as { readonly resourceVersion?: unknown }).resourceVersion === resourceVersion) return known;
  const next = { ...known, resourceVersion };
  const cutAt = cutAtOf(framed, from, end, at);
  new DigestedMetadata(next, cutAt === note.cutAt ? note : { before, after, cutAt, digest });
  return next;
}

/**
 * Finds where metadata end that may be the same as those of `note` but for the resourceVersion and managedFields: these are
 * looked for where they were. It is right if the digest is the same: then the metadata end there, as those before did.
 */
function findEnd(framed: FramedObject, from: number, { before, after, cutAt }: Note): boolean {
  const { bytes, end } = framed;
  const isCutFirst = cutAt >= 0 && cutAt < before;
  if (isCutFirst && !findCut(framed, from + cutAt)) return false;
  const version = from + before + framed.cutEnd - framed.cutStart;
  const most = Math.min(end, version + LONGEST_VERSION);
  let versionEnd = version;
  while (versionEnd < most && bytes[versionEnd] !== QUOTE) versionEnd++;
  if (cutAt >= before && !findCut(framed, from + cutAt + versionEnd - version)) return false;
  framed.metadataEnd = from + before + after + versionEnd - version + framed.cutEnd - framed.cutStart;
  return framed.metadataEnd < end;
}

/** Finds the end of managedFields that begin at `at`, or the comma before them. */
function findCut(framed: FramedObject, at: number): boolean {
  const { bytes, end } = framed;
  const key = bytes[at] === COMMA ? at + 1 : at;
  for (let k = 0; k < MANAGED_FIELDS.length; k++) if (bytes[key + k] !== MANAGED_FIELDS[k]) return false;
  const close = closingBracketAhead(bytes, key + MANAGED_FIELDS.length - 1, end);
  if (close < 0) return false;
  framed.cutStart = at;
  framed.cutEnd = key > at ? close + 1 : close + 2;
  return key > at || bytes[close + 1] === COMMA;
}

/** How many bytes of the noted text there are before the cut: without the version, which is `bytes[at, end)`. */
function cutAtOf({ cutStart, cutEnd }: FramedObject, from: number, end: number, at: number): number {
  if (cutEnd === 0) return -1;
  return cutStart - from - (cutStart >= end ? end - at : 0);
}

/** The digest of the metadata that begin at `from`, without their version `bytes[at, end)` and what is cut out. */
function readDigest(framed: FramedObject, from: number, at: number, end: number): string {
  const { bytes, metadataEnd, cutStart, cutEnd } = framed;
  const native = asBuffer(bytes);
  let length = 0;
  if (cutEnd > 0 && cutEnd <= at) {
    length += native.copy(text, length, from, cutStart);
    length += native.copy(text, length, cutEnd, at);
    length += native.copy(text, length, end, metadataEnd);
  } else {
    length += native.copy(text, length, from, at);
    length += native.copy(text, length, end, cutEnd > 0 ? cutStart : metadataEnd);
    if (cutEnd > 0) length += native.copy(text, length, cutEnd, metadataEnd);
  }
  return digestOf(text, 0, length);
}

/** Whether `bytes[from, to)` is all of a string of plain ASCII, between its quotes. */
function isVersion(bytes: Uint8Array, from: number, to: number): boolean {
  if (to <= from || to - from > LONGEST_VERSION || bytes[from - 1] !== QUOTE || bytes[to] !== QUOTE) return false;
  for (let i = from; i < to; i++) {
    const byte = bytes[i]!;
    if (byte === QUOTE || byte === BACKSLASH || byte < 0x20 || byte >= 0x7f) return false;
  }
  return true;
}
