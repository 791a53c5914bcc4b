import { isJsonObject, type JsonObject } from 'riata/object';
import { metaOf, withMeta } from '../metadata.js';
import { RecentCache } from '../recent-cache.js';

/** Longer field sets are rare, and rarely equal. */
const longest = 16 * 1024;

/** Shares equal field sets between the objects of one store. */
export class SharedFields {
  readonly #known = new RecentCache<string, JsonObject>(2_000, () => 1);

  /**
   * The object with field sets of other objects where they are equal. Field sets take several times the memory of the
   * rest, and objects of the same program usually have equal ones. Stored objects never change.
   */
  share(object: JsonObject): JsonObject {
    const { managedFields } = metaOf(object);
    if (!Array.isArray(managedFields)) return object;
    const shared = managedFields.map((entry) => {
      if (!isJsonObject(entry) || !isJsonObject(entry.fieldsV1)) return entry;
      const text = JSON.stringify(entry.fieldsV1);
      if (text.length > longest) return entry;
      return { ...entry, fieldsV1: this.#known.get(text, () => JSON.parse(text) as JsonObject) };
    });
    return withMeta(object, { managedFields: shared });
  }
}
