import { Buffer } from 'node:buffer';
import { formatTime, isJsonObject, type Json, type JsonObject, parseTime } from 'riata/object';
import { readJson, TextError } from '../http/body/read-json.js';
import { writeJson } from '../http/body/write-json.js';
import { type GoStruct, type GoType, goStruct } from '../schema/built-in/go-type.js';
import type { ReverseWriter } from './reverse-writer.js';
import { WireError, type WireReader } from './wire-reader.js';

type EncodeMessage = (writer: ReverseWriter, object: JsonObject, struct: GoStruct) => void;
type DecodeMessage = (reader: WireReader, struct: GoStruct) => JsonObject;

/** How a type with its own JSON looks as a message. */
interface CustomMessage {
  /** Writes the fields, in reverse. */
  encode(writer: ReverseWriter, value: Json, encodeMessage: EncodeMessage): void;
  decode(reader: WireReader, decodeMessage: DecodeMessage): Json;
}

/** The messages of the types that read their own JSON. */
export const customMessages: Readonly<Record<string, CustomMessage>> = {
  'resource.Quantity': {
    encode: (writer, value) => writer.string(1, String(value)),
    decode: (reader) => members(reader, { 1: () => reader.string() })[1] ?? '0',
  },
  'intstr.IntOrString': {
    encode(writer, value) {
      if (typeof value === 'string') {
        writer.string(3, value);
        writer.integer(1, 1);
      } else writer.integer(2, Number(value));
    },
    decode(reader) {
      const read = members(reader, { 1: () => whole(reader), 2: () => whole(reader), 3: () => reader.string() });
      return read[1] === 1 ? (read[3] ?? '') : (read[2] ?? 0);
    },
  },
  'v1.Time': { encode: (writer, value) => encodeTime(writer, value), decode: (reader) => decodeTime(reader, false) },
  'v1.MicroTime': {
    encode: (writer, value) => encodeTime(writer, value),
    decode: (reader) => decodeTime(reader, true),
  },
  'runtime.RawExtension': jsonText(),
  'v1.FieldsV1': jsonText(),
  'v1.JSON': jsonText(),
  'v1.JSONSchemaPropsOrArray': {
    encode(writer, value, encodeMessage) {
      if (Array.isArray(value)) for (const item of value.toReversed()) schema(writer, 2, item, encodeMessage);
      else schema(writer, 1, value, encodeMessage);
    },
    decode(reader, decodeMessage) {
      const list: Json[] = [];
      const read = members(reader, {
        1: () => decodeMessage(reader.message(), schemaStruct()),
        2: () => list.push(decodeMessage(reader.message(), schemaStruct())),
      });
      return list.length > 0 ? list : (read[1] ?? null);
    },
  },
  'v1.JSONSchemaPropsOrBool': {
    encode(writer, value, encodeMessage) {
      if (isJsonObject(value)) schema(writer, 2, value, encodeMessage);
      writer.bool(1, value !== false);
    },
    decode(reader, decodeMessage) {
      const read = members(reader, {
        1: () => reader.bool(),
        2: () => decodeMessage(reader.message(), schemaStruct()),
      });
      return read[2] ?? read[1] ?? false;
    },
  },
  'v1.JSONSchemaPropsOrStringArray': {
    encode(writer, value, encodeMessage) {
      if (Array.isArray(value)) for (const item of value.toReversed()) writer.string(2, String(item));
      else schema(writer, 1, value, encodeMessage);
    },
    decode(reader, decodeMessage) {
      const list: Json[] = [];
      const read = members(reader, {
        1: () => decodeMessage(reader.message(), schemaStruct()),
        2: () => list.push(reader.string()),
      });
      return list.length > 0 ? list : (read[1] ?? null);
    },
  },
};

/** Whether a list has a message of its own around it: those are its named types. */
export function isWrapped(type: GoType): boolean {
  return type.is === 'list' && (type.text.endsWith('.ExtraValue') || type.text.endsWith('.Verbs'));
}

/** The values of a message under the given numbers; the last of each counts. */
function members(reader: WireReader, read: Readonly<Record<number, () => Json>>): Record<number, Json> {
  const found: Record<number, Json> = {};
  while (reader.next()) {
    const take = read[reader.number];
    if (take === undefined) reader.skip();
    else found[reader.number] = take();
  }
  return found;
}

function whole(reader: WireReader): number {
  return Number(reader.integer(64));
}

/** Seconds and nanoseconds since 1970; nothing for no time. */
function encodeTime(writer: ReverseWriter, value: Json): void {
  const text = String(value);
  const seconds = parseTime(text.replace(/\.\d+/, '')) / 1000;
  if (seconds <= zeroSeconds) return;
  writer.integer(2, Number((/\.(\d{1,9})/.exec(text)?.[1] ?? '').padEnd(9, '0')));
  writer.integer(1, seconds);
}

/** The beginning of the year 1, which is no time in Go. */
const zeroSeconds = -62_135_596_800;

function decodeTime(reader: WireReader, withMicros: boolean): Json {
  const { 1: seconds, 2: nanos = 0 } = members(reader, { 1: () => whole(reader), 2: () => whole(reader) });
  if (seconds === undefined && nanos === 0) return null;
  const at = Number(seconds ?? 0);
  if (at === zeroSeconds) return null;
  try {
    const text = formatTime(at * 1000);
    if (!withMicros) return text;
    return `${text.slice(0, -1)}.${String(Math.floor(Number(nanos) / 1000)).padStart(6, '0')}Z`;
  } catch {
    throw new WireError('Time.MarshalJSON: year outside of range [0,9999]');
  }
}

/** Bytes that are JSON. */
function jsonText(): CustomMessage {
  return {
    encode: (writer, value) => writer.bytes(1, Buffer.from(writeJson(value))),
    decode(reader) {
      let value: Json = null;
      while (reader.next()) {
        if (reader.number === 1) value = readRaw(reader.bytes());
        else reader.skip();
      }
      return value;
    },
  };
}

function readRaw(bytes: Buffer): Json {
  if (bytes.length === 0) return null;
  try {
    return readJson(bytes);
  } catch (error) {
    throw error instanceof TextError ? new WireError(error.message) : error;
  }
}

function schema(writer: ReverseWriter, number: number, value: Json, encodeMessage: EncodeMessage): void {
  if (!isJsonObject(value)) return;
  const mark = writer.length;
  encodeMessage(writer, value, schemaStruct());
  writer.close(number, mark);
}

function schemaStruct(): GoStruct {
  return goStruct('apiextensions/v1', 'JSONSchemaProps') as GoStruct;
}
