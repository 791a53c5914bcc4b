import { equal, isJsonObject, type Json, type JsonObject, type StructuralSchema } from 'riata/object';
import { schemaOf } from './drop-nulls.js';

/** Finds what an element of a list was before; undefined if it is new, or if there is no telling. */
export type Correlate = (item: Json) => Json | undefined;

/** Only lists that are maps know which of their elements is which: those with the same keys. */
export function correlator(schema: StructuralSchema, old: Json | undefined): Correlate {
  if (!Array.isArray(old) || schema['x-kubernetes-list-type'] !== 'map') return () => undefined;
  const names = schema['x-kubernetes-list-map-keys'] ?? [];
  const keyOf = (item: JsonObject) => JSON.stringify(names.map((name) => item[name] ?? null));
  let known: Map<string, Json> | undefined;
  return (item) => {
    if (!isJsonObject(item)) return undefined;
    if (known === undefined) {
      known = new Map();
      for (const was of [...old].reverse()) if (isJsonObject(was)) known.set(keyOf(was), was);
    }
    return known.get(keyOf(item));
  };
}

/** Whether a value is what it was, where the order of lists that are maps does not count. */
export function isUnchanged(value: Json, schema: StructuralSchema | undefined, old: Json): boolean {
  if (schema === undefined || equal(value, old)) return equal(value, old);
  if (Array.isArray(value) && Array.isArray(old)) {
    if (value.length !== old.length) return false;
    const correlate = correlator(schema, old);
    return value.every((item: Json) => {
      const was = correlate(item);
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
