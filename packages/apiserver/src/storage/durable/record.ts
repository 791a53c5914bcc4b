import { Buffer } from 'node:buffer';
// Old versions of Node must be able to load this file, to report that they are too old.
import zlib from 'node:zlib';
import { freeze, type KubeObject } from 'riata/object';
import { readJson } from '../../http/body/read-json.js';
import { writeJson } from '../../http/body/write-json.js';
import type { SharedFields } from '../../resource/fields/shared-fields.js';
import type { RestoredVersion } from '../memory-storage.js';

/** Separates the parts of a record; no name contains it. */
const separator = '\0';
/** Digits of a checksum. */
const sumLength = 8;

/** The forms of a record: an object as JSON, an object with integers past 2^53, a removal. */
type Form = 'j' | 'b' | '-';

/** Encodes a write: a checksum, then the form, resource and key, then the object. */
export function encodeRecord(resource: string, key: string, revision: number, object: KubeObject | undefined): string {
  const [form, json] = textOf(object);
  return withSum(`${form}${resource}${separator}${key}${separator}${json}`, revision);
}

function textOf(object: KubeObject | undefined): readonly [Form, string] {
  if (object === undefined) return ['-', ''];
  try {
    return ['j', JSON.stringify(object)];
  } catch {
    return ['b', writeJson(object)];
  }
}

/** Decodes a record; undefined if it is damaged. */
export function decodeRecord(bytes: Buffer, revision: number, fields: SharedFields): RestoredVersion | undefined {
  const text = withoutSum(bytes, revision);
  if (text === undefined) return undefined;
  const form = text[0] as Form;
  const resourceEnd = text.indexOf(separator);
  const keyEnd = text.indexOf(separator, resourceEnd + 1);
  const resource = text.slice(1, resourceEnd);
  const key = text.slice(resourceEnd + 1, keyEnd);
  if (form === '-') return { resource, key, revision, stored: undefined };
  const json = text.slice(keyEnd + 1);
  const parsed = form === 'j' ? JSON.parse(json) : readJson(Buffer.from(json));
  const object = freeze(fields.share(parsed) as unknown as KubeObject);
  return { resource, key, revision, stored: { key, revision, object } };
}

/** Prepends a checksum of the text and its position, so that one record is never mistaken for another. */
export function withSum(text: string, place: number): string {
  return sumOf(text, place) + text;
}

/** Verifies and removes the checksum of {@link withSum}; undefined if the text is damaged. */
export function withoutSum(bytes: Buffer, place: number): string | undefined {
  const content = bytes.subarray(sumLength);
  const isIntact = bytes.length > sumLength && bytes.toString('latin1', 0, sumLength) === sumOf(content, place);
  return isIntact ? content.toString('utf8') : undefined;
}

function sumOf(content: string | Buffer, place: number): string {
  return zlib
    .crc32(content, zlib.crc32(String(place)))
    .toString(16)
    .padStart(sumLength, '0');
}
