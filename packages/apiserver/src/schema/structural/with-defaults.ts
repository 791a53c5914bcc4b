import { isJsonObject, type Json, type JsonObject, type StructuralSchema } from 'riata/object';
import { schemaOf } from './drop-nulls.js';
import { setMember } from './set-member.js';

/**
 * A value with the schema's defaults for missing values, and for `null` where that is not allowed
 * (`defaulting.Default`). Defaults are filled in from the outside in, so one can carry others. Unchanged parts are
 * shared with the argument; defaults are shared with the schema.
 */
export function withDefaults<T extends Json>(value: T, schema: StructuralSchema | undefined): T {
  if (schema === undefined) return value;
  if (Array.isArray(value)) {
    const { items } = schema;
    const filled = value.map((item: Json) =>
      withDefaults(isForbiddenNull(item, items) ? valueFor(items) : item, items),
    );
    return filled.every((item, index) => item === value[index]) ? value : (filled as unknown as T);
  }
  return isJsonObject(value) ? (fillMembers(value, schema) as T) : value;
}

function fillMembers(object: JsonObject, schema: StructuralSchema): JsonObject {
  const filled: Record<string, Json> = {};
  let changed = false;
  for (const key of Object.keys(object)) {
    const value = object[key] as Json;
    const of = schemaOf(key, schema);
    const known = schema.properties !== undefined && Object.hasOwn(schema.properties, key);
    // A property's null stays when there is no default for it; any other member's becomes whatever the default is.
    const replace = isForbiddenNull(value, of) && (!known || of?.default !== undefined);
    const left = withDefaults(replace ? valueFor(of) : value, of);
    if (left !== value) changed = true;
    setMember(filled, key, left);
  }
  for (const key of Object.keys(schema.properties ?? {})) {
    const of = schema.properties?.[key] as StructuralSchema;
    if (of.default === undefined || of.default === null || Object.hasOwn(object, key)) continue;
    changed = true;
    setMember(filled, key, withDefaults(of.default, of));
  }
  return changed ? filled : object;
}

function isForbiddenNull(value: Json, schema: StructuralSchema | undefined): boolean {
  return value === null && schema !== undefined && !schema.nullable;
}

function valueFor(schema: StructuralSchema | undefined): Json {
  return schema?.default ?? null;
}
