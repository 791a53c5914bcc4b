import type { JsonObject } from 'riata/object';

/** An empty list that is always shown comes back from the storage as missing: the stored form has no difference. */
export function withoutEmptyList(object: JsonObject, field: string): JsonObject {
  const value = object[field];
  return Array.isArray(value) && value.length === 0 ? { ...object, [field]: null } : object;
}
