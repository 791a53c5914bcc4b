import { isJsonObject, type Json, type JsonObject } from 'riata/object';

/** Members of objects that a schema has read: of the type that is asked for, or not there. */

const nothing: JsonObject = {};

/** The object under a name; an empty one if there is none. */
export function objectIn(parent: JsonObject, name: string): JsonObject {
  const value = parent[name];
  return isJsonObject(value) ? value : nothing;
}

export function listIn(parent: JsonObject, name: string): readonly Json[] {
  const value = parent[name];
  return Array.isArray(value) ? value : [];
}

/** The objects of a list. */
export function objectsIn(parent: JsonObject, name: string): readonly JsonObject[] {
  return listIn(parent, name).filter(isJsonObject);
}

/** The texts of a list. */
export function textsIn(parent: JsonObject, name: string): readonly string[] {
  return listIn(parent, name).filter((item): item is string => typeof item === 'string');
}

/** `''` if there is none. */
export function textIn(parent: JsonObject, name: string): string {
  const value = parent[name];
  return typeof value === 'string' ? value : '';
}

/** 0 if there is none. */
export function numberIn(parent: JsonObject, name: string): number {
  const value = parent[name];
  return typeof value === 'number' ? value : 0;
}

/** Whether there is something under a name. */
export function has(parent: JsonObject, name: string): boolean {
  const value = parent[name];
  return value !== undefined && value !== null;
}
