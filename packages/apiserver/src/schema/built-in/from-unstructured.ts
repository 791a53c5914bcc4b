import { isJsonObject, type Json, type JsonObject } from 'riata/object';
import { setMember } from '../structural/set-member.js';
import { decodeValue, IllTypedError } from './decode-typed.js';
import type { GoStruct, GoType } from './go-type.js';
import type { SchemaNode } from './schema-node.js';

/**
 * The result of a strategic merge patch as kube-apiserver takes it over into its struct: not by the JSON decoder, but by
 * a converter of its own (`runtime.DefaultUnstructuredConverter`), which has other words for what does not fit, and cuts
 * off what is too large for an integer. Throws an {@link IllTypedError}. Unknown fields stay.
 */
export function fromUnstructured(object: JsonObject, schema: SchemaNode): JsonObject {
  if (schema.go.is !== 'struct') throw new TypeError('expected the schema of a kind');
  return structOf(object, schema.go);
}

function structOf(from: JsonObject, type: GoStruct): JsonObject {
  const made = { ...from } as Record<string, Json>;
  // Of several invalid fields, the error names the first in the struct's order.
  for (const { name, type: of } of type.fieldList) {
    if (Object.hasOwn(from, name)) setMember(made, name, convert(from[name] as Json, of));
  }
  return made;
}

function convert(from: Json, type: GoType): Json {
  if (from === null) return from;
  switch (type.is) {
    case 'struct':
      if (!isJsonObject(from)) throw new IllTypedError(`cannot restore struct from: ${kindOf(from)}`);
      return structOf(from, type);
    case 'map':
      if (!isJsonObject(from)) throw new IllTypedError(`cannot restore map from ${kindOf(from)}`);
      return mapOf(from, type.element);
    case 'list':
      if (!Array.isArray(from)) throw new IllTypedError(`cannot restore slice from ${kindOf(from)}`);
      return from.map((item) => convert(item, type.element));
    case 'bytes':
      return bytesOf(from, type);
    case 'int':
      return integerOf(from, type.text, type.bits);
    case 'custom':
      return decodeValue(from, type);
    case 'string':
    case 'bool':
    case 'float':
      return scalarOf(from, type);
  }
}

function mapOf(from: JsonObject, element: GoType): JsonObject {
  const made: Record<string, Json> = {};
  for (const key of Object.keys(from)) setMember(made, key, convert(from[key] as Json, element));
  return made;
}

function bytesOf(from: Json, type: GoType): Json {
  if (typeof from !== 'string') throw new IllTypedError(`cannot restore slice from ${kindOf(from)}`);
  try {
    return decodeValue(from, type);
  } catch (error) {
    throw error instanceof IllTypedError ? new IllTypedError(`error decoding from json: ${error.message}`) : error;
  }
}

function integerOf(from: Json, text: string, bits: 32 | 64): Json {
  const kind = kindOf(from);
  if (kind !== 'int64' && kind !== 'float64') throw new IllTypedError(`unrecognized type: ${text}`);
  if (!isWhole(from)) throw new IllTypedError(`cannot convert float64 to ${text}`);
  return bits === 64 ? from : Number(BigInt.asIntN(32, BigInt(from as number)));
}

function scalarOf(from: Json, { is, text }: GoType): Json {
  const kind = kindOf(from);
  if (is === 'float' ? kind === 'int64' || kind === 'float64' : kind === is) return from;
  // Go would convert the number to the character with that code point.
  if (is === 'string' && kind === 'int64') throw new IllTypedError(`cannot convert int64 to ${text}`);
  throw new IllTypedError(`unrecognized type: ${is === 'float' ? 'float64' : is}`);
}

/** Whole numbers past 64 bits are floats in Go, but whole. */
function isWhole(value: Json): boolean {
  return typeof value === 'bigint' || Number.isInteger(value);
}

/** Go's name for the kind of a value that was read from JSON. */
function kindOf(value: Json): string {
  if (Array.isArray(value)) return 'slice';
  if (typeof value === 'bigint') return 'int64';
  if (typeof value === 'number') return Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? 'int64' : 'float64';
  return typeof value === 'boolean' ? 'bool' : typeof value === 'string' ? 'string' : 'map';
}
