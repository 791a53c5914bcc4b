import { isJsonObject, type Json } from '../json.js';
import { equal } from '../value/equal.js';
import { getOwn } from '../value/own.js';
import { byListKeys, listKeyId } from './kept-field.js';

/** How the elements of a list are identified and merged. */
export interface ListMerge {
  readonly keys: readonly string[] | undefined;
  /** No element twice. */
  readonly isSet: boolean;
  merge(was: Json | undefined, is: Json | undefined, now: Json | undefined): Json | undefined;
}

interface Lists {
  /** As the conversions give it. */
  readonly was: readonly Json[];
  /** As it was before them. */
  readonly is: readonly Json[];
  /** As it was changed to. */
  readonly now: readonly Json[];
}

/**
 * The changed list with what the conversions had lost: parts of elements that are still there, and elements which the
 * conversions dropped, after their former predecessor. New elements stay as they are, removed ones do not come back.
 */
export function mergeKeptList(lists: Lists, how: ListMerge): readonly Json[] {
  const pairs = pairLists(lists, how.keys);
  if (pairs === undefined) return lists.now;
  const { was, is, now } = lists;
  const { isOfWas, wasOfNow } = pairs;
  /** Elements of the result; each with the place in `is` that it came from. */
  const merged: { readonly from: number; readonly value: Json }[] = [];
  for (const [index, element] of now.entries()) {
    const before = wasOfNow[index] ?? -1;
    const from = before < 0 ? -1 : (isOfWas[before] ?? -1);
    const value = before < 0 ? element : how.merge(was[before], is[from], element);
    if (value !== undefined) merged.push({ from, value });
  }
  const paired = new Set(isOfWas);
  for (const [index, element] of is.entries()) {
    if (paired.has(index) || isThere(element, merged, how)) continue;
    let place = 0;
    for (const [at, { from }] of merged.entries()) if (from >= 0 && from < index) place = at + 1;
    merged.splice(place, 0, { from: index, value: element });
  }
  const values = merged.map(({ value }) => value);
  return how.isSet ? values.filter((value, at) => values.findIndex((other) => equal(other, value)) === at) : values;
}

function isThere(element: Json, merged: readonly { readonly value: Json }[], { keys }: ListMerge): boolean {
  if (keys === undefined) return false;
  const id = listKeyId(element, keys);
  return merged.some(({ value }) => listKeyId(value, keys) === id);
}

interface Pairs {
  /** For each element of `was` its place in `is`, -1 for none. */
  readonly isOfWas: readonly number[];
  /** For each element of `now` its place in `was`, -1 for none. */
  readonly wasOfNow: readonly number[];
}

function pairLists({ was, is, now }: Lists, keys: readonly string[] | undefined): Pairs | undefined {
  const maps = keys && [was, is, now].map((list) => byListKeys(list, keys));
  if (keys !== undefined && maps?.every((map) => map !== undefined)) {
    const [ofWas, ofIs] = maps as Map<string, number>[];
    const places = (list: readonly Json[], map: Map<string, number> | undefined) =>
      list.map((element) => map?.get(listKeyId(element, keys) as string) ?? -1);
    return { isOfWas: places(was, ofIs), wasOfNow: places(now, ofWas) };
  }
  const isOfWas = was.length === is.length ? was.map((_, index) => index) : subsequence(was, is);
  return isOfWas && { isOfWas, wasOfNow: alignChanged(was, now) };
}

/** Where the elements of the shorter list are in the longer one, in order; undefined if one is not. */
function subsequence(was: readonly Json[], is: readonly Json[]): number[] | undefined {
  const [short, long] = was.length < is.length ? [was, is] : [is, was];
  const places: number[] = [];
  let next = 0;
  for (const element of short) {
    while (next < long.length && !equal(long[next], element)) next++;
    if (next === long.length) return undefined;
    places.push(next++);
  }
  if (short === was) return places;
  const shortOfLong = was.map(() => -1);
  for (const [at, place] of places.entries()) shortOfLong[place] = at;
  return shortOfLong;
}

/**
 * For each element of `now` the element of `was` that it is: equal ones first, in order; then a single changed one
 * between two of these, if it still has something in common with what was there.
 */
function alignChanged(was: readonly Json[], now: readonly Json[]): number[] {
  const places = now.map(() => -1);
  const free = new Set(was.keys());
  for (const [index, element] of now.entries()) {
    for (const candidate of free) {
      if (!equal(was[candidate], element)) continue;
      places[index] = candidate;
      free.delete(candidate);
      break;
    }
  }
  for (const [index, element] of now.entries()) {
    if (places[index] !== -1 || (places[index - 1] ?? 0) < 0 || (places[index + 1] ?? 0) < 0) continue;
    const after = index === 0 ? -1 : (places[index - 1] as number);
    const before = index === now.length - 1 ? was.length : (places[index + 1] as number);
    const [candidate] = free.has(after + 1) && before === after + 2 ? [after + 1] : [];
    if (candidate === undefined || !hasCommonField(was[candidate], element)) continue;
    places[index] = candidate;
    free.delete(candidate);
  }
  return places;
}

function hasCommonField(was: Json | undefined, now: Json): boolean {
  if (!isJsonObject(was) || !isJsonObject(now)) return false;
  return Object.entries(was).some(([name, value]) => value !== undefined && equal(value, getOwn(now, name)));
}
