import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { equal } from '../../value/equal.js';
import { getOwn, setOwn } from '../../value/own.js';
import type { PathElement } from '../fields/path-element.js';
import { isItemProblem, itemElement } from './list-items.js';
import { type ListType, listForm, type MapType, type MergeType, mapForm, narrow, scalarForm } from './merge-type.js';

type Maybe = Json | undefined;

/**
 * `live` with the values of `applied` (`TypedValue.Merge`): leaves are taken from `applied`, nothing is removed. Items
 * of a list stand in the order of `applied`, between the items that only `live` has. Both must be valid values of the
 * type; only `live` may hold an item of a list twice. Unchanged parts are shared with `live`: if nothing changes, the
 * result is `live`.
 */
export function mergeTyped(live: Json, applied: Json, type: MergeType): Json | undefined {
  return merge(live, applied, type);
}

function merge(live: Maybe, applied: Maybe, type: MergeType): Maybe {
  if (applied === undefined) return live;
  const forms = narrow(type, applied);
  if (forms & mapForm) return mergeMaps(live, applied, type.map!);
  if (forms & scalarForm) return leaf(live, applied);
  return forms & listForm ? mergeLists(live, applied, type.list!) : undefined;
}

function leaf(live: Maybe, applied: Json): Json {
  return live !== undefined && equal(live, applied) ? live : applied;
}

function mergeMaps(live: Maybe, applied: Json, map: MapType): Maybe {
  const ours = isJsonObject(live) ? live : undefined;
  const theirs = isJsonObject(applied) ? applied : undefined;
  if (map.atomic || (isEmpty(ours) && isEmpty(theirs))) return leaf(live, applied);
  const out: Record<string, Json> = {};
  let changed = ours === undefined;
  const put = (name: string, before: Maybe, merged: Maybe) => {
    if (merged !== before) changed = true;
    if (merged !== undefined) setOwn(out, name, merged);
  };
  for (const name of Object.keys(ours ?? {})) {
    const before = ours![name];
    put(name, before, mergeField(name, before, theirs && (getOwn(theirs, name) as Maybe), map));
  }
  for (const name of Object.keys(theirs ?? {})) {
    if (ours !== undefined && getOwn(ours, name) !== undefined) continue;
    put(name, undefined, mergeField(name, undefined, theirs![name], map));
  }
  if (!changed) return live;
  return Object.keys(out).length === 0 ? undefined : out;
}

function mergeField(name: string, live: Maybe, applied: Maybe, map: MapType): Maybe {
  if (applied === undefined) return live;
  const type = map.field(name)?.type ?? map.values();
  return type === undefined ? live : merge(live, applied, type);
}

function mergeLists(live: Maybe, applied: Json, list: ListType): Maybe {
  const ours: readonly Json[] = Array.isArray(live) ? live : [];
  const theirs: readonly Json[] = Array.isArray(applied) ? applied : [];
  if (list.kind === 'atomic' || (ours.length === 0 && theirs.length === 0)) return leaf(live, applied);
  const out = interleave(indexItems(list, ours), indexItems(list, theirs), list.items());
  if (out.length === ours.length && out.every((item, index) => item === ours[index])) return live;
  return out.length === 0 ? undefined : out;
}

interface Indexed {
  readonly elements: readonly PathElement[];
  readonly items: readonly Json[];
  /** Null for items that are there more than once: they are not merged with anything. */
  readonly byElement: ReadonlyMap<PathElement, Json>;
}

function indexItems(list: ListType, items: readonly Json[]): Indexed {
  const elements: PathElement[] = [];
  const kept: Json[] = [];
  const byElement = new Map<PathElement, Json>();
  for (const item of items) {
    const element = itemElement(list, item);
    if (isItemProblem(element)) continue;
    byElement.set(element, byElement.has(element) ? null : item);
    elements.push(element);
    kept.push(item);
  }
  return { elements, items: kept, byElement };
}

/** Walks both lists at once, so that what both have comes in the order of the applied one. */
function interleave(live: Indexed, applied: Indexed, type: MergeType): Json[] {
  const out: Json[] = [];
  const done = new Set<PathElement>();
  const shared = applied.elements.filter((element) => live.byElement.has(element));
  let next = 0;
  let l = 0;
  let a = 0;
  const take = (element: PathElement) => {
    done.add(element);
    const merged = merge(live.byElement.get(element), applied.byElement.get(element), type);
    if (merged !== undefined) out.push(merged);
    a++;
    if (shared[next] === element) next++;
  };
  while (l < live.elements.length || a < applied.elements.length) {
    const ours = live.elements[l];
    const theirs = applied.elements[a];
    if (ours !== undefined && theirs !== undefined) {
      if (ours === theirs) {
        take(theirs);
        l++;
        continue;
      }
      // Shared, but its turn comes later.
      if (applied.byElement.has(ours) && next < shared.length && shared[next] !== ours) {
        l++;
        continue;
      }
    }
    if (ours !== undefined) {
      if (!applied.byElement.has(ours)) {
        out.push(live.items[l]!);
        l++;
        continue;
      }
      if (done.has(ours)) l++;
    }
    if (theirs !== undefined) take(theirs);
  }
  return out;
}

function isEmpty(object: JsonObject | undefined): boolean {
  if (object === undefined) return true;
  for (const name of Object.keys(object)) if (object[name] !== undefined) return false;
  return true;
}
