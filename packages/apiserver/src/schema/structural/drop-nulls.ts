import { isJsonObject, type Json, type JsonObject, type StructuralSchema } from 'riata/object';
import { setMember } from './set-member.js';

/**
 * A value without the members that are `null` though their schema allows none and has no default to put there
 * (`defaulting.PruneNonNullableNullsWithoutDefaults`). Elements of lists stay.
 */
export function dropNulls<T extends Json>(value: T, schema: StructuralSchema | undefined): T {
  if (schema === undefined) return value;
  if (Array.isArray(value)) {
    const kept = value.map((item: Json) => dropNulls(item, schema.items));
    return kept.every((item, index) => item === value[index]) ? value : (kept as unknown as T);
  }
  return isJsonObject(value) ? (dropMembers(value, schema) as T) : value;
}

function dropMembers(object: JsonObject, schema: StructuralSchema | undefined): JsonObject {
  const kept: Record<string, Json> = {};
  let changed = false;
  for (const key of Object.keys(object)) {
    const value = object[key] as Json;
    const of = schemaOf(key, schema);
    if (value === null && of !== undefined && !of.nullable && of.default === undefined) {
      changed = true;
      continue;
    }
    const left = dropNulls(value, of);
    if (left !== value) changed = true;
    setMember(kept, key, left);
  }
  return changed ? kept : object;
}

/** The schema of a member: of the property of that name, or of any other. */
export function schemaOf(key: string, schema: StructuralSchema | undefined): StructuralSchema | undefined {
  if (schema?.properties !== undefined && Object.hasOwn(schema.properties, key)) return schema.properties[key];
  const others = schema?.additionalProperties as StructuralSchema | boolean | undefined;
  return typeof others === 'object' ? others : undefined;
}
