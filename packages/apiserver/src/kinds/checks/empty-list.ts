import type { JsonObject } from 'riata/object';

/** An empty list that is always shown comes back from the storage as none: what is written there does not tell them apart. */
export function withoutEmptyList(object: JsonObject, field: string): JsonObject {
  const value = object[field];
  return Array.isArray(value) && value.length === 0 ? { ...object, [field]: null } : object;
}
