import { Buffer } from 'node:buffer';
import { isJsonObject, type Json, type JsonObject } from 'riata/object';
import { CelError } from './cel-error.js';
import { isList, isMapping, itemsOf, type List, type Mapping, Optional, Timestamp, Uint, type Value } from './value.js';

/** JSON as expressions without a schema see it. Inner values are converted on first use. */
export function jsonValue(json: Json): Value {
  if (typeof json === 'number') return Number.isInteger(json) ? BigInt(json) : json;
  if (Array.isArray(json)) return listValue(json);
  return isJsonObject(json) ? mapValue(json) : (json as Value);
}

function listValue(json: readonly Json[]): List {
  return { isList: true, size: json.length, at: (index) => jsonValue(json[index] as Json) };
}

function mapValue(json: JsonObject): Mapping {
  const keys = Object.keys(json).filter((key) => json[key] !== undefined);
  return {
    isMapping: true,
    size: keys.length,
    typeName: undefined,
    countsNull: true,
    keys: () => keys,
    get: (key) => {
      if (typeof key !== 'string' || !Object.hasOwn(json, key)) return undefined;
      const value = json[key];
      return value === undefined ? undefined : jsonValue(value);
    },
  };
}

/** The JSON for a value. Throws a `CelError` for what JSON has no form for. */
export function valueToJson(value: Value): Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number') {
    return value;
  }
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Uint) return Number(value.value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof Timestamp) return new Date(Number(value.nanos / 1_000_000n)).toISOString().replace('.000Z', 'Z');
  if (value instanceof Optional) {
    if (value.value === undefined) throw new CelError('optional.none() dereference');
    return valueToJson(value.value);
  }
  if (isList(value)) return itemsOf(value).map(valueToJson);
  if (isMapping(value)) return objectOf(value);
  throw new CelError('unsupported value for JSON');
}

function objectOf(of: Mapping): JsonObject {
  const members = of.keys().map((key) => {
    if (typeof key !== 'string') throw new CelError(`map key ${String(key)} is not a string`);
    return [key, valueToJson(of.get(key) as Value)] as const;
  });
  // Not by assignment: a key may be called __proto__.
  return Object.fromEntries(members);
}
