import type { Json, JsonObject } from '../json.js';
import type { StructuralSchema } from '../schema/structural-schema.js';
import { getOwn } from '../value/own.js';

/** A step to a field: its name, or the keys of an element of a list with `x-kubernetes-list-map-keys`. */
export type KeptStep = string | JsonObject;

/** A field that a conversion and its inverse do not bring back. Absent values are left out. */
export interface KeptField {
  readonly at: readonly KeptStep[];
  /** The value that the conversions give. */
  readonly was?: Json;
  /** The value before them. */
  readonly is?: Json;
}

/** The schema of a member of an object; undefined where the schema says nothing. */
export function memberSchema(schema: StructuralSchema | undefined, name: string): StructuralSchema | undefined {
  const own = schema?.properties && (getOwn(schema.properties, name) as StructuralSchema | undefined);
  return own ?? schema?.additionalProperties;
}

/** The fields that identify the elements of a list, if the server treats it as a map. */
export function listMapKeys(schema: StructuralSchema | undefined): readonly string[] | undefined {
  return schema?.['x-kubernetes-list-type'] === 'map' ? schema['x-kubernetes-list-map-keys'] : undefined;
}

/** The elements of a list by their keys; undefined if one has no keys, or two have the same. */
export function byListKeys(list: readonly Json[], keys: readonly string[]): Map<string, number> | undefined {
  const found = new Map<string, number>();
  for (const [index, element] of list.entries()) {
    const id = listKeyId(element, keys);
    if (id === undefined || found.has(id)) return undefined;
    found.set(id, index);
  }
  return found;
}

/** The keys of an element as text. */
export function listKeyId(element: Json | undefined, keys: readonly string[]): string | undefined {
  if (typeof element !== 'object' || element === null || Array.isArray(element)) return undefined;
  const values = keys.map((key) => (element as JsonObject)[key]);
  return values.every((value) => value === undefined) ? undefined : JSON.stringify(values);
}
