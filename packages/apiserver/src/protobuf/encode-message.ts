import { Buffer } from 'node:buffer';
import { isJsonObject, type Json, type JsonObject } from 'riata/object';
import type { GoStruct, GoType } from '../schema/built-in/go-type.js';
import { customMessages, isWrapped } from './custom-messages.js';
import { type MessagePlan, planOf } from './message-plan.js';
import type { ReverseWriter } from './reverse-writer.js';

/**
 * Writes the fields of an object as the message of its type. Fields that the type has not are left out, and so is what
 * is not there: that reads as empty.
 */
export function encodeMessage(writer: ReverseWriter, object: JsonObject, struct: GoStruct): void {
  encodeFields(writer, object, planOf(struct));
}

function encodeFields(writer: ReverseWriter, object: JsonObject, { entries }: MessagePlan): void {
  for (let index = entries.length - 1; index >= 0; index--) {
    const entry = entries[index] as MessagePlan['entries'][number];
    if (entry.embedded !== undefined) {
      const mark = writer.length;
      encodeFields(writer, object, entry.embedded);
      if (writer.length > mark) writer.close(entry.number, mark);
      continue;
    }
    const value = object[entry.field.name];
    if (value !== undefined && value !== null) encodeValue(writer, entry.number, value, entry.field.type);
  }
}

function encodeValue(writer: ReverseWriter, number: number, value: Json, type: GoType): void {
  switch (type.is) {
    case 'string':
      writer.string(number, typeof value === 'string' ? value : '');
      break;
    case 'bool':
      writer.bool(number, value === true);
      break;
    case 'int':
      writer.integer(number, integerOf(value));
      break;
    case 'float':
      writer.double(number, Number(value));
      break;
    case 'bytes':
      writer.bytes(number, Buffer.from(typeof value === 'string' ? value : '', 'base64'));
      break;
    case 'list':
      encodeList(writer, number, Array.isArray(value) ? value : [], type);
      break;
    case 'map':
      encodeMap(writer, number, isJsonObject(value) ? value : {}, type.element);
      break;
    case 'struct':
      nested(writer, number, () => encodeMessage(writer, isJsonObject(value) ? value : {}, type));
      break;
    case 'custom':
      nested(writer, number, () => encodeCustom(writer, value, type.text));
      break;
  }
}

function integerOf(value: Json): number | bigint {
  return typeof value === 'number' || typeof value === 'bigint' ? value : 0;
}

function encodeList(
  writer: ReverseWriter,
  number: number,
  items: readonly Json[],
  type: GoType & { readonly is: 'list' | 'map' },
): void {
  // A list with a name of its own is a message that holds it.
  if (isWrapped(type)) nested(writer, number, () => encodeItems(writer, 1, items, type.element));
  else encodeItems(writer, number, items, type.element);
}

function encodeItems(writer: ReverseWriter, number: number, items: readonly Json[], element: GoType): void {
  for (let index = items.length - 1; index >= 0; index--) {
    // There is no null among the items of a list: it is an empty one.
    encodeValue(writer, number, items[index] ?? '', element);
  }
}

/** A map is a list of its entries: key 1, value 2. */
function encodeMap(writer: ReverseWriter, number: number, map: JsonObject, element: GoType): void {
  const keys = Object.keys(map).sort();
  for (let index = keys.length - 1; index >= 0; index--) {
    const key = keys[index] as string;
    const value = map[key];
    nested(writer, number, () => {
      if (value !== undefined && value !== null) encodeValue(writer, 2, value, element);
      writer.string(1, key);
    });
  }
}

function encodeCustom(writer: ReverseWriter, value: Json, type: string): void {
  const custom = customMessages[type];
  if (custom === undefined) throw new TypeError(`Protobuf: no message for the Go type ${type}`);
  if (value !== '' || type !== 'v1.Time') custom.encode(writer, value, encodeMessage);
}

function nested(writer: ReverseWriter, number: number, write: () => void): void {
  const mark = writer.length;
  write();
  writer.close(number, mark);
}
