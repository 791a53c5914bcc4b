import { equal, isJsonObject, type Json, type StructuralSchema } from 'riata/object';
import { schemaOf } from './drop-nulls.js';

/** The element of the old list with the same keys: only lists that are maps know which of their elements is which. */
export function correlated(item: Json, schema: StructuralSchema, old: Json | undefined): Json | undefined {
  if (!Array.isArray(old) || schema['x-kubernetes-list-type'] !== 'map' || !isJsonObject(item)) return undefined;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  return old.find((was) => isJsonObject(was) && keys.every((key) => equal(was[key] ?? null, item[key] ?? null)));
}

/** Whether a value is what it was, where the order of lists that are maps does not count. */
export function isUnchanged(value: Json, schema: StructuralSchema | undefined, old: Json): boolean {
  if (schema === undefined || equal(value, old)) return equal(value, old);
  if (Array.isArray(value) && Array.isArray(old)) {
    if (value.length !== old.length) return false;
    return value.every((item: Json) => {
      const was = correlated(item, schema, old);
      return was !== undefined && isUnchanged(item, schema.items, was);
    });
  }
  if (!isJsonObject(value) || !isJsonObject(old)) return false;
  const keys = Object.keys(value);
  if (keys.length !== Object.keys(old).length) return false;
  return keys.every(
    (key) => Object.hasOwn(old, key) && isUnchanged(value[key] as Json, schemaOf(key, schema), old[key] as Json),
  );
}
