import { isJsonObject, type JsonObject } from 'riata/object';

/** An object, the items of a list or the rows of a Table without `metadata.managedFields`. */
export function withoutManagedFields(object: unknown): unknown {
  if (!isJsonObject(object)) return object;
  const { items, rows } = object;
  if (Array.isArray(items)) return { ...object, items: items.map(bare) };
  if (Array.isArray(rows)) {
    return { ...object, rows: rows.map((row) => (isJsonObject(row) ? { ...row, object: bare(row.object) } : row)) };
  }
  return bare(object);
}

function bare(object: unknown): unknown {
  if (!isJsonObject(object) || !isJsonObject(object.metadata)) return object;
  const { managedFields: _, ...metadata }: JsonObject = object.metadata;
  return { ...object, metadata };
}
