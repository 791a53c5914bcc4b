import { Buffer } from 'node:buffer';
import type { JsonObject } from 'riata/object';
import { protobufType } from './media-type.js';
import { readJson } from './read-json.js';
import { writeJson } from './write-json.js';

/** The bytes of an answer: a line of JSON, indented JSON, YAML with its keys in order, or Protobuf. */
export async function encodeBody(value: unknown, mediaType: string, pretty: boolean): Promise<Buffer> {
  if (mediaType === 'application/yaml') {
    const { stringify } = await import('yaml');
    const plain: unknown = readJson(Buffer.from(writeJson(value)));
    return Buffer.from(stringify(plain, { sortMapEntries: true, indentSeq: false, aliasDuplicateObjects: false }));
  }
  if (mediaType === protobufType) {
    const { encodeObject } = await import('../../protobuf/envelope.js');
    return encodeObject(value as JsonObject);
  }
  return Buffer.from(pretty ? writeJson(value, 2) : `${writeJson(value)}\n`);
}
