import { isJsonObject, type Json, type JsonObject } from 'riata/object';
import type { ReverseWriter } from '../protobuf/reverse-writer.js';

/** Writes the fields of a message, the last one first. */
export type Write = (writer: ReverseWriter, value: JsonObject) => void;
/** Writes one field, if there is something to write. */
export type WriteField = (writer: ReverseWriter, number: number, value: Json) => void;
/** Field numbers with the member that stands there and how it is written. */
export type Fields = readonly (readonly [number: number, name: string, write: WriteField])[];

export const text: WriteField = (writer, number, value) => {
  if (value !== '') writer.string(number, String(value));
};
export const flag: WriteField = (writer, number, value) => {
  if (value === true) writer.bool(number, true);
};
export const integer: WriteField = (writer, number, value) => {
  if (value !== 0) writer.integer(number, Number(value));
};
export const double: WriteField = (writer, number, value) => {
  if (value !== 0) writer.double(number, Number(value));
};

/** Each element of a list. */
export const each =
  (write: WriteField): WriteField =>
  (writer, number, value) => {
    for (const item of [...(Array.isArray(value) ? value : [])].reverse()) write(writer, number, item);
  };

export const message =
  (write: Write): WriteField =>
  (writer, number, value) => {
    const mark = writer.length;
    write(writer, isJsonObject(value) ? value : {});
    writer.close(number, mark);
  };

/** A message whose only field, with this number, is the value. */
export const inside = (inner: number, write: WriteField): WriteField => {
  return (writer, number, value) => {
    const mark = writer.length;
    write(writer, inner, value);
    writer.close(number, mark);
  };
};

/** The members of an object as a list of names and values. */
export const members = (write: WriteField): WriteField => {
  return (writer, number, value) => {
    for (const [name, inner] of Object.entries(isJsonObject(value) ? value : {}).reverse()) {
      const mark = writer.length;
      write(writer, 2, inner as Json);
      writer.string(1, name);
      writer.close(number, mark);
    }
  };
};

/** Anything, as text: JSON is YAML. */
export const any: WriteField = inside(2, (writer, number, value) => writer.string(number, JSON.stringify(value)));

/** The fields of a message in the order of their numbers; extensions come last, under the number given. */
export function fields(table: Fields, extensions?: number): Write {
  const reversed = [...table].reverse();
  return (writer, value) => {
    if (extensions !== undefined) {
      const own = Object.entries(value).filter(([name]) => name.startsWith('x-'));
      if (own.length > 0) members(any)(writer, extensions, Object.fromEntries(own) as JsonObject);
    }
    for (const [number, name, write] of reversed) {
      const member = value[name];
      if (member !== undefined) write(writer, number, member);
    }
  };
}

/** The keywords that both versions have, under consecutive numbers from the first one on. */
export function validations(first: number): Fields {
  return numbered(first, [
    ...entries(double, 'multipleOf', 'maximum'),
    ['exclusiveMaximum', flag],
    ['minimum', double],
    ['exclusiveMinimum', flag],
    ...entries(integer, 'maxLength', 'minLength'),
    ['pattern', text],
    ...entries(integer, 'maxItems', 'minItems'),
    ['uniqueItems', flag],
    ...entries(integer, 'maxProperties', 'minProperties'),
    ['required', each(text)],
    ['enum', each(any)],
  ]);
}

/** The operations of a path, under consecutive numbers from the first one on. */
export function methods(first: number, operation: WriteField): Fields {
  return numbered(first, entries(operation, 'get', 'put', 'post', 'delete', 'options', 'head', 'patch'));
}

/** Requirements of a document: names of security schemes, each with its scopes. */
export const security: WriteField = each(inside(1, members(inside(1, each(text)))));

type Entry = readonly [name: string, write: WriteField];

function entries(write: WriteField, ...names: readonly string[]): Entry[] {
  return names.map((name) => [name, write]);
}

function numbered(first: number, table: readonly Entry[]): Fields {
  return table.map(([name, write], index) => [first + index, name, write]);
}
