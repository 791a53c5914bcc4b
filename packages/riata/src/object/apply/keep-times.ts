import { isJsonObject, type JsonObject } from '../json.js';
import type { ManagedFieldsEntry } from '../meta.js';
import { equal } from '../value/equal.js';

/**
 * Takes back the times of `metadata.managedFields` when nothing but times changed
 * (`IgnoreManagedFieldsTimestampsTransformer`), so that a write that says what is already there is no write. Gives
 * `next` with the times of `live`, or `next` itself. Both are as they would be stored.
 */
export function keepTimes(live: JsonObject, next: JsonObject): JsonObject {
  if (!isJsonObject(live.metadata) || !isJsonObject(next.metadata)) return next;
  const { managedFields: before, ...liveMeta } = live.metadata;
  const { managedFields: after, ...nextMeta } = next.metadata;
  if (!Array.isArray(before) || !Array.isArray(after) || before.length === 0 || before.length !== after.length) {
    return next;
  }
  if (equal(before, after) || !equal(before.map(withoutTime), after.map(withoutTime))) return next;
  if (!equal(liveMeta, nextMeta) || !equal({ ...live, metadata: null }, { ...next, metadata: null })) return next;
  return { ...next, metadata: { ...next.metadata, managedFields: before } };
}

function withoutTime({ time: _, ...entry }: ManagedFieldsEntry): ManagedFieldsEntry {
  return entry;
}
