import { isJsonObject, type JsonObject } from '../json.js';
import { getOwn } from '../value/own.js';
import { PatchError, typeName } from './patch-error.js';
import type { SchemaPlace } from './patch-schema.js';

/** The identity of an element of a merged list: the merge key's value for objects, else the element itself. */
export type Identify = (element: unknown) => unknown;

export const directive = '$patch';
export const retainKeys = '$retainKeys';
export const deletePrefix = '$deleteFromPrimitiveList';
export const orderPrefix = '$setElementOrder';

/** True for a list of objects, false for one of primitives; a mixed list, or a list of lists, is an error. */
export function holdsObjects(place: SchemaPlace, ...lists: (readonly unknown[])[]): boolean {
  let found: string | undefined;
  for (const list of lists) {
    for (const element of list) {
      const type = typeName(element);
      if (type === 'array') throw invalid(place, 'lists of lists cannot be merged');
      if (type === 'null') throw invalid(place, 'a merged list cannot hold null');
      if (found !== undefined && found !== type) {
        throw invalid(place, `the elements of a merged list have to be of one type, found ${found} and ${type}`);
      }
      found = type;
    }
  }
  return found === 'object';
}

/** The identity of elements of this list. */
export function identify(place: SchemaPlace, objects: boolean): Identify {
  if (!objects) return (element) => element;
  const key = place.mergeKey;
  if (key === undefined) throw invalid(place, 'objects in a list cannot be merged without a merge key');
  return (element) => mergeKeyOf(element, key, place);
}

/** The value of the merge key, which every element has to have. */
function mergeKeyOf(element: unknown, key: string, place: SchemaPlace): unknown {
  if (!isJsonObject(element)) throw invalid(place, `expected an object in the list, got ${typeName(element)}`);
  const value = getOwn(element, key);
  if (value === undefined || value === null) {
    throw invalid(
      place,
      `an element does not have the merge key "${key}" (it has: ${Object.keys(element).join(', ')})`,
    );
  }
  if (typeof value === 'object') {
    throw invalid(place, `the merge key "${key}" has to be a primitive, got ${typeName(value)}`);
  }
  return value;
}

export function asList(value: unknown, place: SchemaPlace): readonly unknown[] {
  if (!Array.isArray(value)) throw invalid(place, `expected a list, got ${typeName(value)}`);
  return value;
}

function isDeletion(element: unknown): element is JsonObject {
  return isJsonObject(element) && getOwn(element, directive) === 'delete';
}

/**
 * Orders a merged list: elements in `order` come in that order, the rest in the order of `live`, and the two are
 * interleaved as in `live` where it has both; otherwise named elements come first.
 */
export function arrange(
  merged: readonly unknown[],
  order: readonly unknown[],
  live: readonly unknown[],
  id: Identify,
): unknown[] {
  const ordered = positions(order, id);
  const lived = positions(live, id);
  const named = sortBy(
    merged.filter((element) => ordered.has(id(element))),
    ordered,
    id,
  );
  const others = sortBy(
    merged.filter((element) => !ordered.has(id(element))),
    lived,
    id,
  );
  const out: unknown[] = [];
  let next = 0;
  for (const element of named) {
    const at = lived.get(id(element));
    while (next < others.length && at !== undefined) {
      const otherAt = lived.get(id(others[next]));
      if (otherAt === undefined || otherAt >= at) break;
      out.push(others[next++]);
    }
    out.push(element);
  }
  return [...out, ...others.slice(next)];
}

/** Sorted by position, stably; deletions go last, what has no position stays behind what has one. */
function sortBy(list: readonly unknown[], at: ReadonlyMap<unknown, number>, id: Identify): unknown[] {
  const rank = (element: unknown): number => at.get(id(element)) ?? Number.MAX_SAFE_INTEGER;
  const kept = list.filter((element) => !isDeletion(element));
  return [...kept.sort((a, b) => rank(a) - rank(b)), ...list.filter(isDeletion)];
}

/** Where each identity is found first. */
export function positions(list: readonly unknown[], id: Identify): Map<unknown, number> {
  const at = new Map<unknown, number>();
  for (const [index, element] of list.entries()) {
    const key = id(element);
    if (!at.has(key)) at.set(key, index);
  }
  return at;
}

export function invalid(place: SchemaPlace, why: string): PatchError {
  const path = place.path === '' ? '(root)' : place.path;
  return new PatchError('invalid', place.path, `strategic merge patch at ${path}: ${why}`);
}
