import { Buffer } from 'node:buffer';
import type { FramedObject } from '../../object/scan/decode-object.js';
import { asBuffer } from '../../object/scan/native-bytes.js';
import { closingBracketAhead } from '../../object/scan/object-scanner.js';
import type { Bag } from '../../object/value/own.js';
import { Stamped } from '../../object/value/stamped.js';
import { digestOf } from './part-digest.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

/** Longer resourceVersions are not expected. */
const LONGEST_VERSION = 64;
const MANAGED_FIELDS = Buffer.from('"managedFields":[');
/** Larger metadata get no digest. */
const MOST_BYTES = 65_536;
const LEAST_SCRATCH = 4_096;

/** Where metadata and the managedFields in them lie. */
export type MetadataFrame = Pick<FramedObject, 'bytes' | 'metadataEnd' | 'cutStart' | 'cutEnd'>;

/** The text of metadata without their resourceVersion and without what is cut out. */
interface Digest {
  /** The number of bytes up to the opening quote of the resourceVersion, and from its closing quote on; both included. */
  readonly before: number;
  readonly after: number;
  /** The number of bytes before what is cut out; -1 if nothing is. */
  readonly cutAt: number;
  readonly digest: string;
}

/** A private field of metadata; a copy doesn't have it. */
class DigestedMetadata extends Stamped {
  #digest: Digest;

  constructor(metadata: object, digest: Digest) {
    super(metadata);
    this.#digest = digest;
  }

  static digestOf(metadata: object): Digest | undefined {
    return #digest in metadata ? metadata.#digest : undefined;
  }
}

/**
 * Digests of metadata without their resourceVersion: each version of an object has another one, while the rest seldom
 * changes. As with a {@link PartDigest}, metadata that did not change need not be read.
 */
export class MetadataDigests {
  /** The text that is hashed. */
  #scratch: Buffer = MANAGED_FIELDS;

  /**
   * Records the text of `metadata`, which starts at `from` and has the opening quote of its resourceVersion at `versionAt`.
   * Skips frozen metadata.
   */
  record(metadata: object, frame: MetadataFrame, from: number, versionAt: number): void {
    const version: unknown = (metadata as Bag).resourceVersion;
    if (typeof version !== 'string' || Object.isFrozen(metadata) || DigestedMetadata.digestOf(metadata)) return;
    const { bytes, metadataEnd, cutStart, cutEnd } = frame;
    const at = versionAt + 1;
    const end = at + version.length;
    const length = metadataEnd - from - (cutEnd - cutStart) - version.length;
    if (length > MOST_BYTES || !isVersion(bytes, at, end)) return;
    const before = at - from - (cutEnd > 0 && at >= cutEnd ? cutEnd - cutStart : 0);
    const digest = this.#digest(frame, from, at, end, length);
    new DigestedMetadata(metadata, { before, after: length - before, cutAt: cutAtOf(frame, from, end, at), digest });
  }

  /**
   * The metadata that start at `from`, if they equal `known` but for the resourceVersion and `known` has a digest: `known`
   * itself, or a copy with a digest.
   */
  next(known: object, frame: MetadataFrame, from: number): object | undefined {
    const recorded = DigestedMetadata.digestOf(known);
    if (recorded === undefined) return undefined;
    const { bytes, metadataEnd, cutStart, cutEnd } = frame;
    const cut = cutEnd - cutStart;
    const { before, after, digest } = recorded;
    const length = before + after;
    const at = from + before + (cutEnd > 0 && cutStart - from < before ? cut : 0);
    const end = at + metadataEnd - from - cut - length;
    if (length > MOST_BYTES || !isVersion(bytes, at, end)) return undefined;
    if (this.#digest(frame, from, at, end, length) !== digest) return undefined;
    const resourceVersion = asBuffer(bytes).latin1Slice(at, end);
    if ((known as { readonly resourceVersion?: unknown }).resourceVersion === resourceVersion) return known;
    const next = { ...known, resourceVersion };
    const cutAt = cutAtOf(frame, from, end, at);
    new DigestedMetadata(next, cutAt === recorded.cutAt ? recorded : { before, after, cutAt, digest });
    return next;
  }

  /**
   * Where the metadata that start at `from` end if they equal `known` but for the resourceVersion and managedFields, which are
   * expected where they were in `known`. {@link next} then decides by the digest: if it is the same, the end is right.
   */
  locate(known: object, bytes: Uint8Array, from: number, end: number): MetadataFrame | undefined {
    const recorded = DigestedMetadata.digestOf(known);
    if (recorded === undefined) return undefined;
    const { before, after, cutAt } = recorded;
    const frame = { bytes, metadataEnd: 0, cutStart: 0, cutEnd: 0 };
    const isCutFirst = cutAt >= 0 && cutAt < before;
    if (isCutFirst && !findCut(frame, from + cutAt, end)) return undefined;
    const version = from + before + frame.cutEnd - frame.cutStart;
    const most = Math.min(end, version + LONGEST_VERSION);
    let versionEnd = version;
    while (versionEnd < most && bytes[versionEnd] !== QUOTE) versionEnd++;
    if (cutAt >= before && !findCut(frame, from + cutAt + versionEnd - version, end)) return undefined;
    frame.metadataEnd = from + before + after + versionEnd - version + frame.cutEnd - frame.cutStart;
    return frame.metadataEnd < end ? frame : undefined;
  }

  /** The digest of the metadata that start at `from`, without their version `bytes[at, end)` and what is cut out. */
  #digest(frame: MetadataFrame, from: number, at: number, end: number, expected: number): string {
    const { bytes, metadataEnd, cutStart, cutEnd } = frame;
    if (this.#scratch.length < expected) {
      this.#scratch = Buffer.allocUnsafeSlow(Math.max(LEAST_SCRATCH, Math.min(2 * expected, MOST_BYTES)));
    }
    const text = this.#scratch;
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
}

/** Sets where managedFields end that start at `at`, or at the comma before them; false if they don't. */
function findCut(frame: { readonly bytes: Uint8Array; cutStart: number; cutEnd: number }, at: number, end: number) {
  const { bytes } = frame;
  const key = bytes[at] === COMMA ? at + 1 : at;
  for (let k = 0; k < MANAGED_FIELDS.length; k++) if (bytes[key + k] !== MANAGED_FIELDS[k]) return false;
  const close = closingBracketAhead(bytes, key + MANAGED_FIELDS.length - 1, end);
  if (close < 0) return false;
  frame.cutStart = at;
  frame.cutEnd = key > at ? close + 1 : close + 2;
  return key > at || bytes[close + 1] === COMMA;
}

/** How many bytes of the hashed text stand before the cut: without the version, which is `bytes[at, end)`. */
function cutAtOf({ cutStart, cutEnd }: MetadataFrame, from: number, end: number, at: number): number {
  if (cutEnd === 0) return -1;
  return cutStart - from - (cutStart >= end ? end - at : 0);
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
