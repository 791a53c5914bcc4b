import { isJsonObject, type JsonObject } from '../json.js';
import { equal } from '../value/equal.js';
import { type Bag, getOwn, setOwn } from '../value/own.js';
import {
  deletePrefix,
  directive,
  holdsObjects,
  type Identify,
  identify,
  invalid,
  orderPrefix,
  positions,
  retainKeys,
} from './merge-lists.js';
import { typeName } from './patch-error.js';
import { type PatchSchema, SchemaPlace } from './patch-schema.js';

/**
 * The strategic merge patch that turns `original` into `modified` (`strategicpatch.CreateTwoWayMergePatch`): `{}` when
 * they are equal. Elements of merged lists are matched by their merge key, so the patch works on a list that others
 * have added to. Values in the patch are parts of `modified`. As in a merge patch, `null` means absent. The schema of a
 * built-in kind is `builtinPatchSchema(kind)` of `riata/kinds`.
 *
 * Where a list has several elements with one merge key (as ports that differ in the protocol only), no patch can
 * distinguish them: use server-side apply or an update for these.
 *
 * @throws PatchError when an element lacks its merge key, or a merged list is mixed.
 */
export function createStrategicMergePatch(original: object, modified: object, schema: PatchSchema): JsonObject {
  const place = SchemaPlace.root(schema);
  return diffObjects(asObject(original, place), asObject(modified, place), place, everything) as JsonObject;
}

/** Which differences to look at. */
export interface DiffScope {
  readonly changes: boolean;
  readonly deletions: boolean;
  /** Emit `$setElementOrder`, so that the order of lists is that of the modified object. */
  readonly order: boolean;
}

const everything: DiffScope = { changes: true, deletions: true, order: true };

export function asObject(value: unknown, place: SchemaPlace): JsonObject {
  if (!isJsonObject(value)) throw invalid(place, `expected an object, got ${typeName(value)}`);
  return value;
}

export function diffObjects(
  original: JsonObject,
  modified: JsonObject,
  place: SchemaPlace,
  scope: DiffScope,
  retain = false,
): Bag {
  const patch: Bag = {};
  const kept: string[] = [];
  for (const [key, after] of Object.entries(modified)) {
    if (after === undefined) continue;
    if (after !== null) kept.push(key);
    const before = getOwn(original, key);
    if (before === after) continue;
    if (isJsonObject(before) && isJsonObject(after)) {
      diffObjectField(patch, key, before, after, place.field(key), scope);
    } else if (Array.isArray(before) && Array.isArray(after)) {
      diffListField(patch, key, before, after, place.field(key), scope);
    } else if (scope.changes && !equal(before, after)) {
      setOwn(patch, key, after);
    }
  }
  let cleared = false;
  for (const [key, before] of Object.entries(original)) {
    if (before === undefined || getOwn(modified, key) !== undefined) continue;
    if (before !== null) cleared = true;
    if (scope.deletions) setOwn(patch, key, null);
  }
  if (retain && kept.length > 0 && (cleared || Object.keys(patch).length > 0)) patch[retainKeys] = kept.sort();
  return patch;
}

function diffObjectField(
  patch: Bag,
  key: string,
  before: JsonObject,
  after: JsonObject,
  field: SchemaPlace,
  scope: DiffScope,
): void {
  if (field.replaces) {
    if (scope.changes && !equal(before, after)) setOwn(patch, key, after);
    return;
  }
  const inner = diffObjects(before, after, field, scope, field.retainKeys);
  if (Object.keys(inner).length > 0) setOwn(patch, key, inner);
}

function diffListField(
  patch: Bag,
  key: string,
  before: readonly unknown[],
  after: readonly unknown[],
  field: SchemaPlace,
  scope: DiffScope,
): void {
  if (equal(before, after)) return;
  if (!field.mergesList) {
    if (scope.changes) setOwn(patch, key, after);
    return;
  }
  if (before.length === 0) {
    if (after.length > 0 && scope.changes) setOwn(patch, key, after);
    return;
  }
  const objects = holdsObjects(field, before, after);
  const id = identify(field, objects);
  if (objects) {
    const { changed, order } = diffElements(before, after, field, scope, id);
    if (changed.length > 0) setOwn(patch, key, changed);
    if (order.length > 0) setOwn(patch, `${orderPrefix}/${key}`, order);
  } else {
    const { added, removed, order } = diffPrimitives(before, after, scope);
    if (added.length > 0) setOwn(patch, key, added);
    if (removed.length > 0) setOwn(patch, `${deletePrefix}/${key}`, removed);
    if (order.length > 0) setOwn(patch, `${orderPrefix}/${key}`, order);
  }
}

function diffElements(
  before: readonly unknown[],
  after: readonly unknown[],
  field: SchemaPlace,
  scope: DiffScope,
  id: Identify,
) {
  const mergeKey = field.mergeKey!;
  const items = field.items;
  const olds = positions(before, id);
  const news = positions(after, id);
  const changed: unknown[] = [];
  for (const element of after) {
    const at = olds.get(id(element));
    if (at === undefined) {
      if (scope.changes) changed.push(element);
      continue;
    }
    const inner = diffObjects(before[at] as JsonObject, element as JsonObject, items, scope, field.retainKeys);
    if (Object.keys(inner).length === 0) continue;
    setOwn(inner, mergeKey, id(element));
    changed.push(inner);
  }
  if (scope.deletions) {
    for (const gone of olds.keys()) {
      if (!news.has(gone)) changed.push(Object.fromEntries([[directive, 'delete'] as const, [mergeKey, gone]]));
    }
  }
  const sameOrder = before.length === after.length && before.every((element, i) => id(element) === id(after[i]));
  const matters = changed.length > 0 || (scope.changes && !sameOrder);
  const order = scope.order && matters ? after.map((element) => Object.fromEntries([[mergeKey, id(element)]])) : [];
  return { changed, order };
}

function diffPrimitives(before: readonly unknown[], after: readonly unknown[], scope: DiffScope) {
  const olds = new Set(before);
  const news = new Set(after);
  const added = scope.changes ? [...news].filter((element) => !olds.has(element)) : [];
  const removed = scope.deletions ? [...olds].filter((element) => !news.has(element)) : [];
  const matters = removed.length > 0 || (scope.changes && !equal(before, after));
  return { added, removed, order: scope.order && matters ? after : [] };
}
