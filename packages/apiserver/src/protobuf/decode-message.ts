import type { Json, JsonObject } from 'riata/object';
import type { GoStruct, GoType } from '../schema/built-in/go-type.js';
import { setMember } from '../schema/structural/set-member.js';
import { customMessages, isWrapped } from './custom-messages.js';
import { type MessagePlan, planOf } from './message-plan.js';
import type { WireReader } from './wire-reader.js';

type Fields = Record<string, Json>;

/**
 * Reads a message of that type as JSON: everything that was written, empty values too. Unknown fields are skipped, as
 * in Go.
 */
export function decodeMessage(reader: WireReader, struct: GoStruct): JsonObject {
  const object: Fields = {};
  decodeFields(reader, planOf(struct), object);
  return object;
}

function decodeFields(reader: WireReader, { byNumber }: MessagePlan, object: Fields): void {
  while (reader.next()) {
    const entry = byNumber.get(reader.number);
    if (entry === undefined) reader.skip();
    else if (entry.embedded !== undefined) decodeFields(reader.message(), entry.embedded, object);
    else {
      const { name, type } = entry.field;
      object[name] = decodeField(reader, type, object[name]);
    }
  }
}

/** Fields may come several times: lists and maps grow, of anything else the last one counts. */
function decodeField(reader: WireReader, type: GoType, before: Json | undefined): Json {
  if (type.is === 'map') {
    const map: Fields = (before as Fields | undefined) ?? {};
    const [key, value] = decodeEntry(reader.message(), type.element);
    setMember(map, key, value);
    return map;
  }
  if (type.is !== 'list') return decodeValue(reader, type);
  if (isWrapped(type)) return decodeWrapped(reader.message(), type.element);
  const list = (before as Json[] | undefined) ?? [];
  const { element } = type;
  if (element.is === 'int' && reader.isDelimited) {
    const packed = reader.message();
    while (packed.hasMore) list.push(packed.nextPacked(element.bits) as Json);
  } else list.push(decodeValue(reader, element));
  return list;
}

function decodeEntry(reader: WireReader, element: GoType): readonly [string, Json] {
  let key = '';
  let value: Json = null;
  while (reader.next()) {
    if (reader.number === 1) key = reader.string();
    else if (reader.number === 2) value = decodeField(reader, element, undefined);
    else reader.skip();
  }
  return [key, value];
}

function decodeWrapped(reader: WireReader, element: GoType): Json {
  const list: Json[] = [];
  while (reader.next()) {
    if (reader.number === 1) list.push(decodeValue(reader, element));
    else reader.skip();
  }
  return list;
}

function decodeValue(reader: WireReader, type: GoType): Json {
  switch (type.is) {
    case 'string':
      return reader.string();
    case 'bool':
      return reader.bool();
    case 'int':
      return reader.integer(type.bits) as Json;
    case 'float':
      return reader.double();
    case 'bytes':
      return reader.bytes().toString('base64');
    case 'struct':
      return decodeMessage(reader.message(), type);
    case 'custom': {
      const custom = customMessages[type.text];
      if (custom === undefined) throw new TypeError(`Protobuf: no message for the Go type ${type.text}`);
      return custom.decode(reader.message(), decodeMessage);
    }
    default:
      throw new TypeError(`Protobuf: ${type.text} inside a list`);
  }
}
