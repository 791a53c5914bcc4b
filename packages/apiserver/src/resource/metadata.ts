import { valueAt as fieldAt, isJsonObject, type Json, type JsonObject, type ObjectMeta } from 'riata/object';

/** The metadata of an unvalidated object, any field of which may be missing. */
export function metaOf(object: JsonObject): JsonObject {
  return isJsonObject(object.metadata) ? object.metadata : {};
}

/** The object with changed metadata; undefined removes a field. */
export function withMeta(object: JsonObject, changes: { readonly [K in keyof ObjectMeta]?: unknown }): JsonObject {
  const merged: Record<string, unknown> = { ...metaOf(object), ...changes };
  const metadata = Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined));
  return { ...object, metadata: metadata as JsonObject };
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The strings of a list, e.g. of finalizers. */
export function stringsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((v): v is string => typeof v === 'string') : [];
}

export function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

/** The value as an object; an empty one for anything else. */
export function recordOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** The objects of a list, e.g. of containers. */
export function recordsOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** Whether a field is set. Fields that are always shown are null when unset. */
export function isGiven(value: Json | undefined): boolean {
  return value !== undefined && value !== null;
}

/** The value at a path of names and indexes; undefined if it is missing. */
export function valueAt(object: Json | undefined, path: string): Json | undefined {
  return fieldAt(object, ...path.split('.')) as Json | undefined;
}
