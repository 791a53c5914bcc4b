import { isJsonObject, type Json, type JsonObject } from '../json.js';
import type { KubeObject } from '../meta.js';
import { equal } from '../value/equal.js';
import { getOwn, setOwn } from '../value/own.js';
import type { FieldSet } from './fields/field-set.js';
import { parseFieldsV1 } from './fields/fields-v1.js';
import { elementKeys, fieldElement, indexElement, type PathElement, valueElement } from './fields/path-element.js';

/** Whose fields are meant. */
export interface FieldOwner {
  readonly fieldManager: string;
  /** Fields written through this subresource, e.g. `status`. @default '' (the object itself) */
  readonly subresource?: string;
}

/**
 * What a field manager has applied to an object (Go's `ExtractDeployment` and its like): the parts of it that its entry
 * in `metadata.managedFields` names, with `apiVersion`, `kind`, name and namespace, ready to be changed and applied
 * again. Undefined when the manager has applied nothing; fields written by an update do not count. Throws a
 * `FieldsV1Error` when the entry cannot be read.
 */
export function extractFields(object: KubeObject, owner: FieldOwner): JsonObject | undefined {
  const { fieldManager, subresource = '' } = owner;
  const entry = object.metadata.managedFields?.find(
    (e) => e.manager === fieldManager && e.operation === 'Apply' && (e.subresource ?? '') === subresource,
  );
  if (entry === undefined) return undefined;
  const owned = pick(object as unknown as Json, parseFieldsV1(entry.fieldsV1));
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

/** The part of `value` that a set names; undefined if nothing of it is there. */
function pick(value: Json, fields: FieldSet): Json | undefined {
  if (Array.isArray(value)) return pickItems(value, fields);
  if (!isJsonObject(value)) return undefined;
  const out: Record<string, Json> = {};
  // In the object's order, so that what was applied reads as the object does.
  for (const [name, child] of Object.entries(value)) {
    const picked = child === undefined ? undefined : pickAt(child, fields, fieldElement(name));
    if (picked !== undefined) setOwn(out, name, picked);
  }
  return out;
}

/** With nothing below it, the place is a leaf, or a list or map that is owned as one. */
function pickAt(value: Json, fields: FieldSet, element: PathElement): Json | undefined {
  const below = fields.below(element);
  if (below !== undefined) return pick(value, below);
  return fields.isMember(element) ? value : undefined;
}

function pickItems(list: readonly Json[], fields: FieldSet): Json[] {
  const keyed: { element: PathElement; keys: JsonObject }[] = [];
  for (const element of fields.elements()) {
    const keys = elementKeys(element);
    if (keys !== undefined) keyed.push({ element, keys: Object.fromEntries(keys) });
  }
  const out: Json[] = [];
  for (const [index, item] of list.entries()) {
    const match = keyed.find(({ keys }) => hasKeys(item, keys));
    if (match !== undefined) {
      const picked = pickAt(item, fields, match.element) ?? {};
      // The keys say which item is meant, so they are there whether owned or not.
      out.push(isJsonObject(picked) ? { ...match.keys, ...picked } : picked);
      continue;
    }
    const byValue = typeof item === 'object' ? undefined : pickAt(item, fields, valueElement(item));
    const picked = byValue ?? pickAt(item, fields, indexElement(index));
    if (picked !== undefined) out.push(picked);
  }
  return out;
}

function hasKeys(item: Json, keys: JsonObject): boolean {
  if (!isJsonObject(item)) return false;
  return Object.entries(keys).every(([name, value]) => equal(getOwn(item, name), value));
}
