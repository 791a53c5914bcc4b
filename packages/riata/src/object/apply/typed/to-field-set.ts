import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { FieldSet } from '../fields/field-set.js';
import { fieldElement, type PathElement } from '../fields/path-element.js';
import { itemsByElement } from './list-items.js';
import { type ListType, listForm, type MapType, type MergeType, mapForm, narrow, scalarForm } from './merge-type.js';

/**
 * The fields that a value mentions (`TypedValue.ToFieldSet`), as an applier owns them: leaves (scalars, atomic lists and
 * maps, empty maps, null), items of lists, and keys of maps; a declared field that has fields below it is no member.
 */
export function toFieldSet(value: Json, type: MergeType): FieldSet {
  return below(value, type).below ?? FieldSet.empty;
}

interface Owned {
  /** The place itself is a leaf. */
  readonly leaf: boolean;
  readonly below: FieldSet | undefined;
}

const leaf: Owned = { leaf: true, below: undefined };
const nothing: Owned = { leaf: false, below: undefined };

function below(value: Json, type: MergeType): Owned {
  const forms = narrow(type, value);
  if (forms & mapForm) return ofMap(value, type.map!);
  if (forms & scalarForm) return leaf;
  if (forms & listForm) return ofList(value, type.list!);
  return nothing;
}

function ofMap(value: Json, map: MapType): Owned {
  if (map.atomic) return leaf;
  if (!isJsonObject(value)) return nothing;
  const level: [PathElement, boolean, FieldSet | undefined][] = [];
  for (const name of Object.keys(value)) {
    const child = value[name];
    if (child === undefined) continue;
    const field = map.field(name);
    const type = field?.type ?? map.values();
    const owned = type === undefined ? nothing : below(child, type);
    const member = owned.leaf || field === undefined || child === null || isEmptyMap(child);
    level.push([fieldElement(name), member, owned.below]);
  }
  return { leaf: false, below: FieldSet.level(level) };
}

function ofList(value: Json, list: ListType): Owned {
  if (list.kind === 'atomic') return leaf;
  if (!Array.isArray(value)) return nothing;
  const level: [PathElement, boolean, FieldSet | undefined][] = [];
  for (const [element, items] of itemsByElement(list, value as readonly Json[])) {
    // Duplicate items have no identity of their own, so nothing below them can be owned.
    level.push([element, true, items.length > 1 ? undefined : below(items[0]!, list.items()).below]);
  }
  return { leaf: false, below: FieldSet.level(level) };
}

function isEmptyMap(value: Json): boolean {
  if (!isJsonObject(value)) return false;
  for (const name of Object.keys(value)) if ((value as JsonObject)[name] !== undefined) return false;
  return true;
}
