import { isJsonObject, type JsonObject } from 'riata/object';
import { metaOf, withMeta } from '../metadata.js';
import { RecentCache } from '../recent-cache.js';

/** Longer ones are rare, and rarely alike. */
const longest = 16 * 1024;
const remembered = new RecentCache<string, JsonObject>(2_000, () => 1);

/**
 * The object with field sets that other objects have, too, where they are equal: they take several times the memory of
 * all the rest, and objects made by the same program in the same way have the same ones. Nobody changes what is stored.
 */
export function shareFields(object: JsonObject): JsonObject {
  const { managedFields } = metaOf(object);
  if (!Array.isArray(managedFields)) return object;
  const shared = managedFields.map((entry) => {
    if (!isJsonObject(entry) || !isJsonObject(entry.fieldsV1)) return entry;
    const text = JSON.stringify(entry.fieldsV1);
    if (text.length > longest) return entry;
    return { ...entry, fieldsV1: remembered.get(text, () => JSON.parse(text) as JsonObject) };
  });
  return withMeta(object, { managedFields: shared });
}
