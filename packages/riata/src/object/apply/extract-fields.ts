import { isJsonObject, type Json, type JsonObject } from '../json.js';
import type { KubeObject } from '../meta.js';
import { equal } from '../value/equal.js';
import { setOwn } from '../value/own.js';

/** Whose fields are meant. */
export interface FieldOwner {
  readonly fieldManager: string;
  /** Fields written through this subresource, e.g. `status`. @default '' (the object itself) */
  readonly subresource?: string;
}

/**
 * What a field manager has applied to an object (Go's `ExtractDeployment` and its like): the parts of it that its entry
 * in `metadata.managedFields` names, with `apiVersion`, `kind`, name and namespace, ready to be changed and applied
 * again. Undefined when the manager has applied nothing; fields written by an update do not count.
 */
export function extractFields(object: KubeObject, owner: FieldOwner): JsonObject | undefined {
  const { fieldManager, subresource = '' } = owner;
  const entry = object.metadata.managedFields?.find(
    (e) => e.manager === fieldManager && e.operation === 'Apply' && (e.subresource ?? '') === subresource,
  );
  if (entry === undefined) return undefined;
  const owned = isJsonObject(entry.fieldsV1) ? pick(object as unknown as Json, entry.fieldsV1) : undefined;
  const { metadata, ...rest } = isJsonObject(owned) ? owned : {};
  const { name, namespace } = object.metadata;
  const identity = namespace === undefined ? { name } : { name, namespace };
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: { ...identity, ...(isJsonObject(metadata) ? metadata : {}) },
    ...rest,
  };
}

/** The part of `value` that a FieldsV1 tree names; undefined if nothing of it is there. */
function pick(value: Json, fields: JsonObject): Json | undefined {
  const children = Object.entries(fields).filter(([path]) => path !== '.');
  // No children: a leaf, or a list or map that is owned as one.
  if (children.length === 0) return value;
  if (Array.isArray(value)) return pickElements(value, children);
  if (!isJsonObject(value)) return undefined;
  const wanted = new Map(children);
  const out: Record<string, Json> = {};
  // In the object's order, so that what was applied reads as the object does.
  for (const [name, child] of Object.entries(value)) {
    const below = wanted.get(`f:${name}`);
    if (child === undefined || !isJsonObject(below)) continue;
    const picked = pick(child, below);
    if (picked !== undefined) setOwn(out, name, picked);
  }
  return out;
}

function pickElements(list: readonly Json[], children: readonly (readonly [string, Json | undefined])[]): Json[] {
  const out: Json[] = [];
  for (const [index, element] of list.entries()) {
    for (const [path, below] of children) {
      if (!names(path, element, index)) continue;
      const picked = isJsonObject(below) ? pick(element, below) : undefined;
      const keys = path.startsWith('k:') ? (JSON.parse(path.slice(2)) as JsonObject) : undefined;
      // The keys say which element is meant, so they are there whether owned or not.
      out.push(keys && isJsonObject(picked) ? { ...keys, ...picked } : (picked ?? element));
      break;
    }
  }
  return out;
}

/** Whether a path element of FieldsV1 (`k:{…}` keys, `v:…` value, `i:…` index) means this element. */
function names(path: string, element: Json, index: number): boolean {
  const kind = path.slice(0, 2);
  if (kind === 'i:') return Number(path.slice(2)) === index;
  if (kind !== 'k:' && kind !== 'v:') return false;
  const wanted = JSON.parse(path.slice(2)) as Json;
  if (kind === 'v:') return equal(wanted, element);
  if (!isJsonObject(wanted) || !isJsonObject(element)) return false;
  return Object.entries(wanted).every(([key, value]) => equal(element[key], value));
}
