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
