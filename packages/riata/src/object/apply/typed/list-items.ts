import { isJsonObject, type Json } from '../../json.js';
import { getOwn } from '../../value/own.js';
import { keyElement, type PathElement, valueElement } from '../fields/path-element.js';
import type { ListType } from './merge-type.js';

/** Why a list item has no identity; the words are upstream's. */
export interface ItemProblem {
  readonly problem: string;
}

/** The path element of an item of a `set` or `map` list. */
export function itemElement(list: ListType, item: Json): PathElement | ItemProblem {
  if (list.kind === 'map') return keyedElement(list, item);
  if (item === null) return { problem: "associative list without keys has an element that's an explicit null" };
  if (Array.isArray(item)) return { problem: 'not supported: associative list with lists as elements' };
  if (typeof item === 'object') return { problem: "associative list without keys has an element that's a map type" };
  return valueElement(item);
}

function keyedElement(list: ListType, item: Json): PathElement | ItemProblem {
  if (item === null) return { problem: 'associative list with keys may not have a null element' };
  if (!isJsonObject(item)) return { problem: 'associative list with keys may not have non-map elements' };
  const keys: [string, Json][] = [];
  for (const name of list.keys) {
    const value = getOwn(item, name) as Json | undefined;
    if (value !== undefined) {
      keys.push([name, value]);
      continue;
    }
    const { map } = list.items();
    if (map === undefined) {
      return {
        problem: `couldn't find default value for ${name}: associative list may not have non-map types`,
      };
    }
    const fallback = map.field(name)?.default;
    // Without a default the key is left out: an item that has it is another one.
    if (fallback !== undefined && fallback !== null) keys.push([name, fallback]);
  }
  if (keys.length > 0) return keyElement(keys);
  const names = list.keys.map((name) => JSON.stringify(name)).join(' ');
  return {
    problem: `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
  };
}

export function isItemProblem(element: PathElement | ItemProblem): element is ItemProblem {
  return typeof element !== 'string';
}

/** The items by path element, in order of first appearance. Items without one are left out. */
export function itemsByElement(list: ListType, items: readonly Json[]): Map<PathElement, Json[]> {
  const found = new Map<PathElement, Json[]>();
  for (const item of items) {
    const element = itemElement(list, item);
    if (isItemProblem(element)) continue;
    const same = found.get(element);
    if (same === undefined) found.set(element, [item]);
    else same.push(item);
  }
  return found;
}
