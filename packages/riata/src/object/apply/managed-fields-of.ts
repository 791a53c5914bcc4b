import { isJsonObject, type JsonObject } from '../json.js';
import type { ManagedFieldsEntry } from '../meta.js';

/** The entries of an object; undefined if it has no list of them. */
export function managedFieldsOf(object: JsonObject | undefined): readonly ManagedFieldsEntry[] | undefined {
  const entries = isJsonObject(object?.metadata) ? object.metadata.managedFields : undefined;
  return Array.isArray(entries) ? (entries as readonly ManagedFieldsEntry[]) : undefined;
}

/** The object as it takes part in merges and comparisons. */
export function withoutManagedFields(object: JsonObject): JsonObject {
  if (!isJsonObject(object.metadata) || object.metadata.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
