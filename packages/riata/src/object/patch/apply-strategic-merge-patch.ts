import { isJsonObject, type JsonObject } from '../json.js';
import { equal } from '../value/equal.js';
import { carryLoss } from '../value/lossy.js';
import { getOwn } from '../value/own.js';
import { cleanAdded, cleanTaken } from './clean-patch.js';
import {
  arrange,
  asList,
  deletePrefix,
  directive,
  holdsObjects,
  identify,
  invalid,
  orderPrefix,
  positions,
  retainKeys,
} from './merge-lists.js';
import { typeName } from './patch-error.js';
import { type PatchSchema, SchemaPlace } from './patch-schema.js';

/**
 * Applies a strategic merge patch (`strategicpatch.StrategicMergePatch`): a merge patch that merges lists by key where
 * the schema says so; that of a built-in kind is `builtinPatchSchema(kind)` of `riata/kinds`. `null` removes a field.
 * Directives in the patch:
 * - `$patch: replace` takes the object (or, as an element of its own, the list) from the patch as it is;
 * - `$patch: delete` empties the object, or removes the element with that merge key from its list;
 * - `$retainKeys: […]` removes every field that it does not name;
 * - `$deleteFromPrimitiveList/<field>: […]` removes these from a merged list of primitives;
 * - `$setElementOrder/<field>: […]` orders a merged list; what it does not name keeps its place among the others.
 *
 * Neither argument is touched; the result may share parts with both, and holds no directives. Unlike the original, a
 * field that the schema does not know is no error: its objects are merged, its lists replaced. As in the original,
 * `$patch: merge` is refused, since merging is what happens anyway.
 *
 * @throws PatchError that names the field: a missing merge key, mixed lists, a value of the wrong type.
 */
export function applyStrategicMergePatch<T extends object>(target: T, patch: object, schema: PatchSchema): T {
  const place = SchemaPlace.root(schema);
  if (!isJsonObject(target)) throw invalid(place, `the target has to be an object, got ${typeName(target)}`);
  if (!isJsonObject(patch)) throw invalid(place, `the patch has to be an object, got ${typeName(patch)}`);
  const result = mergeObjects(target, patch, place, 'document');
  carryLoss(target, result);
  return result as T;
}

/**
 * What a patch is merged into. Into a document, directives are obeyed and `null` removes. Into another patch (as a
 * three-way diff does), both are kept, for the one who applies the sum.
 */
export type MergeInto = 'document' | 'patch';

export function mergeObjects(target: JsonObject, patch: JsonObject, place: SchemaPlace, into: MergeInto): JsonObject {
  const whole = getOwn(patch, directive);
  if (whole === 'delete') return {};
  if (whole === 'replace') {
    return cleanTaken(patch);
  }
  if (whole !== undefined) throw invalid(place, unknownDirective(whole));

  const out = new Map<string, unknown>(Object.entries(target).filter(([, value]) => value !== undefined));
  const rest = new Map<string, unknown>(Object.entries(patch).filter(([, value]) => value !== undefined));
  applyRetainKeys(out, rest, place, into);
  applyElementOrders(out, rest, place, into);
  for (const [key, change] of rest) if (!key.startsWith(deletePrefix)) mergeField(out, key, change, place, into);
  for (const [key, change] of rest) if (key.startsWith(deletePrefix)) applyDeletions(out, key, change, place, into);
  // Defines own properties, whatever their names.
  return Object.fromEntries(out) as JsonObject;
}

function mergeField(
  out: Map<string, unknown>,
  key: string,
  change: unknown,
  place: SchemaPlace,
  into: MergeInto,
): void {
  if (change === null) {
    if (into === 'document') out.delete(key);
    else out.set(key, null);
    return;
  }
  const before = out.get(key);
  if (Array.isArray(before) && Array.isArray(change)) {
    out.set(key, mergeLists(before, change, place.field(key), into).merged);
  } else if (isJsonObject(before) && isJsonObject(change)) {
    const field = place.field(key);
    out.set(key, field.replaces ? taken(change, into) : mergeObjects(before, change, field, into));
  } else {
    const value = into === 'patch' ? change : cleanAdded(change);
    if (value === undefined) out.delete(key);
    else out.set(key, value);
  }
}

interface MergedList {
  readonly merged: readonly unknown[];
  /** The order that an order list falls back on. */
  readonly live: readonly unknown[];
}

/** Merges a list: as the field's strategy says, elements by merge key, primitives as a set. */
function mergeLists(
  before: readonly unknown[],
  change: readonly unknown[],
  field: SchemaPlace,
  into: MergeInto,
): MergedList {
  if (!field.mergesList) return { merged: taken(change, into), live: before };
  const objects = holdsObjects(field, before, change);
  if (!objects) {
    const id = identify(field, objects);
    return { merged: arrange([...new Set([...before, ...change])], change, before, id), live: before };
  }
  const { kept, replaced, elements } = obeyElementDirectives(before, change, field);
  if (replaced) return { merged: taken(elements, into), live: kept };
  const id = identify(field, objects);
  const merged: unknown[] = [...kept];
  const at = positions(merged, id);
  for (const element of elements) {
    const index = at.get(id(element));
    if (index === undefined) {
      at.set(id(element), merged.length);
      merged.push(taken(element as JsonObject, into));
    } else {
      merged[index] = mergeObjects(merged[index] as JsonObject, element as JsonObject, field.items, into);
    }
  }
  // API servers append to the very array that they took deleted elements out of, and look at its old length afterwards:
  // as many additions as there were deletions count as live. Visible in the order only, but visible.
  const live = merged.slice(0, before.length);
  return { merged: arrange(merged, elements, kept, id), live };
}

/** Takes the elements that carry `$patch` out of the patch, and what they delete out of the list. */
function obeyElementDirectives(before: readonly unknown[], change: readonly unknown[], field: SchemaPlace) {
  const id = identify(field, true);
  let kept = before;
  let replaced = false;
  const elements: unknown[] = [];
  for (const element of change) {
    const order = getOwn(element as object, directive);
    if (order === undefined) {
      elements.push(element);
    } else if (order === 'delete') {
      const gone = id(element);
      kept = kept.filter((other) => id(other) !== gone);
    } else if (order === 'replace') {
      replaced = true;
    } else {
      throw invalid(field, unknownDirective(order));
    }
  }
  return { kept, replaced, elements };
}

/** `$retainKeys`: drops what it does not name, and requires that it names all that the patch sets. */
function applyRetainKeys(
  out: Map<string, unknown>,
  rest: Map<string, unknown>,
  place: SchemaPlace,
  into: MergeInto,
): void {
  const list = rest.get(retainKeys);
  if (list === undefined) return;
  rest.delete(retainKeys);
  if (into === 'patch') {
    const other = out.get(retainKeys);
    if (other !== undefined && !equal(other, list)) throw invalid(place, `two different ${retainKeys} lists`);
    out.set(retainKeys, list);
    return;
  }
  if (!Array.isArray(list))
    throw invalid(place, `${retainKeys} has to be a list of field names, got ${typeName(list)}`);
  const names = new Set<unknown>(list);
  for (const [key, value] of rest) {
    if (value === null || names.has(key) || key.startsWith(deletePrefix) || key.startsWith(orderPrefix)) continue;
    throw invalid(place, `the patch sets "${key}", which its ${retainKeys} list does not name`);
  }
  for (const key of [...out.keys()]) if (!names.has(key)) out.delete(key);
}

/** `$setElementOrder/<field>`, together with the patch of that field. */
function applyElementOrders(
  out: Map<string, unknown>,
  rest: Map<string, unknown>,
  place: SchemaPlace,
  into: MergeInto,
): void {
  for (const [key, orderValue] of [...rest]) {
    if (!key.startsWith(orderPrefix)) continue;
    const name = fieldOf(key, orderPrefix, place);
    const field = place.field(name);
    const order = asList(orderValue, field);
    rest.delete(key);
    if (into === 'patch') {
      const other = out.get(key);
      if (other !== undefined && !equal(other, order)) throw invalid(field, `two different ${orderPrefix} lists`);
      out.set(key, order);
    }
    const before = out.has(name) ? asList(out.get(name), field) : undefined;
    const change = rest.has(name) ? asList(rest.get(name), field) : undefined;
    if (before === undefined && change === undefined) continue;
    rest.delete(name);
    const objects = holdsObjects(field, before ?? [], change ?? []) || field.mergeKey !== undefined;
    checkOrder(change ?? [], order, field, objects);
    let list: MergedList;
    if (before === undefined)
      list = { merged: (into === 'patch' ? change : cleanAdded(change)) as unknown[], live: [] };
    else if (change === undefined) list = { merged: before, live: before };
    else list = mergeLists(before, change, field, into);
    out.set(name, arrange(list.merged, order, list.live, identify(field, objects)));
  }
}

/** The patch of a list may hold only what its order list names, in the same order. Deletions do not count. */
function checkOrder(change: readonly unknown[], order: readonly unknown[], field: SchemaPlace, objects: boolean): void {
  if (order.length === 0) return;
  const id = identify(field, objects);
  const set = change.filter((element) => !(isJsonObject(element) && getOwn(element, directive) !== undefined));
  let next = 0;
  for (const named of order) {
    if (next < set.length && id(set[next]) === id(named)) next++;
  }
  if (next < set.length) {
    throw invalid(field, `${orderPrefix} does not name all elements of the patch, or has them in another order`);
  }
}

/** `$deleteFromPrimitiveList/<field>`. */
function applyDeletions(
  out: Map<string, unknown>,
  key: string,
  change: unknown,
  place: SchemaPlace,
  into: MergeInto,
): void {
  if (into === 'patch') {
    out.set(key, change);
    return;
  }
  const name = fieldOf(key, deletePrefix, place);
  const before = out.get(name);
  if (!Array.isArray(before) || change === null) return;
  const gone = new Set(asList(change, place.field(name)));
  if (holdsObjects(place.field(name), before))
    throw invalid(place.field(name), `${deletePrefix} is for primitives only`);
  out.set(
    name,
    before.filter((element) => !gone.has(element)),
  );
}

function fieldOf(key: string, prefix: string, place: SchemaPlace): string {
  const name = key.slice(prefix.length + 1);
  if (key[prefix.length] !== '/' || name === '')
    throw invalid(place, `"${key}" has to be written as ${prefix}/<field>`);
  return name;
}

function unknownDirective(found: unknown): string {
  const shown = typeof found === 'string' ? `"${found}"` : typeName(found);
  return `${directive} has to be "replace" or "delete", got ${shown}`;
}

/** Another patch keeps what is taken over as it is, with directives; a document does not. */
function taken<T extends readonly unknown[] | JsonObject>(value: T, into: MergeInto): T {
  return into === 'patch' ? value : (cleanTaken(value) as T);
}
