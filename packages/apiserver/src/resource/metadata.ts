import { valueAt as fieldAt, isJsonObject, type Json, type JsonObject, type ObjectMeta } from 'riata/object';

/** The metadata of an object on its way in: nothing of it is sure to be there. */
export function metaOf(object: JsonObject): JsonObject {
  return isJsonObject(object.metadata) ? object.metadata : {};
}

/** The object with other metadata; an undefined member is taken away. */
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

/** The object that a member is; an empty one if there is none. */
export function recordOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** The objects of a list, e.g. of containers. */
export function recordsOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** Whether a member is there; those that are always shown are null where nobody has set them. */
export function isGiven(value: Json | undefined): boolean {
  return value !== undefined && value !== null;
}

/** The value under a path of names and indexes; undefined if there is none. */
export function valueAt(object: Json | undefined, path: string): Json | undefined {
  return fieldAt(object, ...path.split('.')) as Json | undefined;
}
