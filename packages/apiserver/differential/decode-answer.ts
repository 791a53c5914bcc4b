import { Buffer } from 'node:buffer';
import { isJsonObject, type Json, type JsonObject } from 'riata/object';
import { decodeMessage } from '../src/protobuf/decode-message.js';
import { decodeEnvelope, structOf } from '../src/protobuf/envelope.js';
import { WireReader } from '../src/protobuf/wire-reader.js';
import { type GoStruct, goStruct } from '../src/schema/built-in/go-type.js';

/** An answer in Protobuf as JSON: an object, a list, or the events of a watch. Empty values are left out, as in JSON. */
export function decodeAnswer(bytes: Buffer, contentType: string): unknown {
  return contentType.includes('stream=watch') ? decodeEvents(bytes) : decodeAny(bytes);
}

function decodeAny(bytes: Buffer): JsonObject {
  const { apiVersion, kind, raw } = decodeEnvelope(bytes);
  const struct = structOf({ apiVersion, kind });
  if (struct !== undefined) return { apiVersion, kind, ...bare(decodeMessage(new WireReader(raw), struct)) };
  const item = structOf({ apiVersion, kind: kind.replace(/List$/, '') });
  if (item === undefined) throw new Error(`what is ${apiVersion} ${kind}?`);
  return { apiVersion, kind, ...decodeList(new WireReader(raw), item) };
}

function decodeList(reader: WireReader, item: GoStruct): JsonObject {
  let metadata: JsonObject = {};
  const items: JsonObject[] = [];
  while (reader.next()) {
    if (reader.number === 1)
      metadata = bare(decodeMessage(reader.message(), goStruct('meta/v1', 'ListMeta') as GoStruct));
    else items.push(bare(decodeMessage(reader.message(), item)));
  }
  return { metadata, items };
}

function decodeEvents(bytes: Buffer): Json[] {
  const events: Json[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 4 + bytes.readUInt32BE(at);
    const reader = new WireReader(bytes, at + 4, end);
    let type = '';
    let object: JsonObject = {};
    while (reader.next()) {
      if (reader.number === 1) type = reader.string();
      else {
        const raw = reader.message();
        while (raw.next()) object = decodeAny(Buffer.from(raw.bytes()));
      }
    }
    events.push({ type, object });
    at = end;
  }
  return events;
}

/** Go writes what is empty too; not to write it means the same. */
function bare(object: JsonObject): JsonObject {
  return dropEmpty(object) as JsonObject;
}

function dropEmpty(value: Json): Json {
  if (Array.isArray(value)) return value.map(dropEmpty);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, member]) => [key, dropEmpty(member ?? null)] as const);
  const empty = (member: Json) => member === '' || member === 0 || member === false || member === null;
  return Object.fromEntries(entries.filter(([, member]) => !empty(member) && !isEmptyObject(member)));
}

function isEmptyObject(value: Json): boolean {
  return isJsonObject(value) && Object.keys(value).length === 0;
}
