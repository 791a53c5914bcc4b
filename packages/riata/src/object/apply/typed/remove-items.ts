import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { setOwn } from '../../value/own.js';
import { FieldSet } from '../fields/field-set.js';
import { elementKeys, fieldElement, type Path } from '../fields/path-element.js';
import { isItemProblem, itemElement } from './list-items.js';
import {
  type ListType,
  listForm,
  type MapType,
  type MergeType,
  mapForm,
  narrow,
  scalarForm,
  typeOfField,
} from './merge-type.js';
import { toFieldSet } from './to-field-set.js';

/**
 * The value without the members of the set (`TypedValue.RemoveItems`): a member goes with everything below it. A value
 * that becomes empty by that becomes null, as upstream has it; a place above members is kept otherwise.
 */
export function removeItems(value: Json, items: FieldSet, type: MergeType): Json {
  return walk(value, items, type, false);
}

/**
 * The parts of the value that are members of the set (`TypedValue.ExtractItems`). With `withKeys`, items of lists keep
 * the fields that identify them, whether these are members or not.
 */
export function extractItems(
  value: Json,
  items: FieldSet,
  type: MergeType,
  { withKeys = false }: { readonly withKeys?: boolean } = {},
): Json {
  return walk(value, withKeys ? items.union(keyFields(value, items, type)) : items, type, true);
}

/** The key fields of every list item that a member found in the value passes through. */
function keyFields(value: Json, items: FieldSet, type: MergeType): FieldSet {
  const present = toFieldSet(value, type);
  const found: Path[] = [];
  for (const path of items.paths()) {
    if (!present.has(path)) continue;
    for (const [depth, element] of path.entries()) {
      for (const [name] of elementKeys(element) ?? []) found.push([...path.slice(0, depth + 1), fieldElement(name)]);
    }
  }
  return FieldSet.of(...found);
}

function walk(value: Json, items: FieldSet, type: MergeType | undefined, extract: boolean): Json {
  if (type === undefined) return null;
  const forms = narrow(type, value);
  if (forms & mapForm) return walkMap(value, items, type.map!, extract);
  if (forms & scalarForm) return value;
  return forms & listForm ? walkList(value, items, type.list!, extract) : null;
}

function walkMap(value: Json, items: FieldSet, map: MapType, extract: boolean): Json {
  if (!isJsonObject(value)) return null;
  if (map.atomic || isEmpty(value)) return extract ? value : null;
  const out: Record<string, Json> = {};
  let some = false;
  for (const name of Object.keys(value)) {
    let child = value[name];
    if (child === undefined) continue;
    const element = fieldElement(name);
    const below = items.below(element);
    if (items.isMember(element)) {
      if (!extract) continue;
      // As upstream: what is below a member is looked up among the member's siblings, which matters only for a member
      // that is a map others have filled.
      child = walk(child, items, typeOfField(map, name), extract);
    } else if (below !== undefined) {
      child = walk(child, below, typeOfField(map, name), extract);
    } else if (extract) {
      continue;
    }
    setOwn(out, name, child);
    some = true;
  }
  return some ? out : null;
}

function walkList(value: Json, items: FieldSet, list: ListType, extract: boolean): Json {
  if (!Array.isArray(value)) return null;
  if (list.kind === 'atomic' || value.length === 0) return extract ? value : null;
  const out: Json[] = [];
  for (const item of value as readonly Json[]) {
    const element = itemElement(list, item);
    const member = !isItemProblem(element) && items.isMember(element);
    const below = isItemProblem(element) ? undefined : items.below(element);
    if (extract ? !member && below === undefined : member) continue;
    out.push(below === undefined ? item : walk(item, below, list.items(), extract));
  }
  return out.length === 0 ? null : out;
}

function isEmpty(object: JsonObject): boolean {
  for (const name of Object.keys(object)) if (object[name] !== undefined) return false;
  return true;
}
