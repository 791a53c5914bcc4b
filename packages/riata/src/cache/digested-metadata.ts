import { Buffer } from 'node:buffer';
import { Stamped } from '../object/raw/raw-parts.js';
import type { FramedObject } from '../object/scan/decode-object.js';
import type { Bag } from '../object/value/own.js';
import { digestOf } from './digested-part.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Longer ones are none. */
const LONGEST_VERSION = 64;
/** The text at hand; metadata that are larger are not digested. */
const text = Buffer.allocUnsafeSlow(65_536);

/**
 * Remembers of metadata the digest of the text that they were decoded from, without their resourceVersion, which is another one in
 * each version, while all else seldom changes. As with a digested part, what is the same need not be touched then.
 */
class DigestedMetadata extends Stamped {
  /** How many bytes there are before the resourceVersion, its quote included, and how many from its other quote on. */
  #before: number;
  #after: number;
  #digest: string;

  private constructor(metadata: object, before: number, after: number, digest: string) {
    super(metadata);
    this.#before = before;
    this.#after = after;
    this.#digest = digest;
  }

  static note(metadata: object, before: number, after: number, digest: string): void {
    if (!(#digest in metadata)) new DigestedMetadata(metadata, before, after, digest);
  }

  static next(known: object, length: number): object | undefined {
    if (!(#digest in known)) return undefined;
    const before = known.#before;
    const after = known.#after;
    const end = length - after;
    if (!isVersion(before, end)) return undefined;
    const version = text.toString('latin1', before, end);
    text.copyWithin(before, end, length);
    if (digestOf(text, 0, before + after) !== known.#digest) return undefined;
    if ((known as { readonly resourceVersion?: unknown }).resourceVersion === version) return known;
    const next = { ...known, resourceVersion: version };
    new DigestedMetadata(next, before, after, known.#digest);
    return next;
  }
}

/**
 * Notes the text of `metadata`, which begins at `from` and has the quote before its resourceVersion at `versionAt`. Not of
 * frozen ones.
 */
export function noteMetadata(metadata: object, framed: FramedObject, from: number, versionAt: number): void {
  const version: unknown = (metadata as Bag).resourceVersion;
  if (typeof version !== 'string' || Object.isFrozen(metadata)) return;
  const length = readText(framed, from);
  const before =
    versionAt + 1 - from - (framed.cutEnd > 0 && versionAt >= framed.cutEnd ? framed.cutEnd - framed.cutStart : 0);
  const end = before + version.length;
  if (length < 0 || !isVersion(before, end)) return;
  text.copyWithin(before, end, length);
  DigestedMetadata.note(metadata, before, length - end, digestOf(text, 0, length - version.length));
}

/**
 * The metadata that begin at `from`, if they are the same as `known` but for the resourceVersion, and `known` was noted: `known`
 * itself, or else a copy that is noted, too.
 */
export function nextMetadata(known: object, framed: FramedObject, from: number): object | undefined {
  const length = readText(framed, from);
  return length < 0 ? undefined : DigestedMetadata.next(known, length);
}

/** Puts the text of the metadata together, without what is cut out; -1 if that cannot be done. */
function readText({ bytes, metadataEnd, cutStart, cutEnd }: FramedObject, from: number): number {
  const cut = cutEnd > 0 ? cutEnd - cutStart : 0;
  const length = metadataEnd - from - cut;
  if (length <= 0 || length > text.length) return -1;
  if (cut === 0) text.set(bytes.subarray(from, metadataEnd));
  else {
    text.set(bytes.subarray(from, cutStart));
    text.set(bytes.subarray(cutEnd, metadataEnd), cutStart - from);
  }
  return length;
}

/** Whether `text[from, to)` is all of a string of plain ASCII, between its quotes. */
function isVersion(from: number, to: number): boolean {
  if (to <= from || to - from > LONGEST_VERSION || text[from - 1] !== QUOTE || text[to] !== QUOTE) return false;
  for (let i = from; i < to; i++) {
    const byte = text[i]!;
    if (byte === QUOTE || byte === BACKSLASH || byte < 0x20 || byte >= 0x7f) return false;
  }
  return true;
}
