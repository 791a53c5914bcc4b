import { isJsonObject, type Json, type JsonObject } from '../json.js';
import type { StructuralSchema } from '../schema/structural-schema.js';
import { getOwn, setOwn } from '../value/own.js';
import { memberSchema } from './kept-field.js';

/** The value with the defaults of its schema, as a server fills them in; the same value if there are none to fill in. */
export function fillDefaults(schema: StructuralSchema, value: Json): Json {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return value;
    const filled = (value as Json[]).map((element) => fillDefaults(items, element));
    return filled.some((element, index) => element !== value[index]) ? filled : value;
  }
  return isJsonObject(value) ? fillObject(schema, value) : value;
}

function fillObject(schema: StructuralSchema, value: JsonObject): JsonObject {
  let filled: Record<string, unknown> | undefined;
  const set = (name: string, member: Json) => {
    filled ??= { ...value };
    setOwn(filled, name, member);
  };
  for (const [name, { default: given, nullable }] of Object.entries(schema.properties ?? {})) {
    const own = getOwn(value, name);
    if (given !== undefined && (own === undefined || (own === null && nullable !== true))) set(name, given);
  }
  for (const [name, member] of Object.entries(filled ?? value) as [string, Json | undefined][]) {
    const below = memberSchema(schema, name);
    if (below === undefined || member === undefined) continue;
    const next = fillDefaults(below, member);
    if (next !== member) set(name, next);
  }
  return (filled as JsonObject | undefined) ?? value;
}
