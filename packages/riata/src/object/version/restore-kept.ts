import { isJsonObject, type Json, type JsonObject } from '../json.js';
import type { StructuralSchema } from '../schema/structural-schema.js';
import { equal } from '../value/equal.js';
import { getOwn, setOwn } from '../value/own.js';
import { type KeptField, type KeptStep, listKeyId, listMapKeys, memberSchema } from './kept-field.js';
import { mergeKeptList } from './merge-kept-list.js';

/**
 * Puts kept fields back into `now`, as far as nobody has changed their neighbourhood: a field that has another value
 * than the conversions gave keeps that, and what belonged to something removed is dropped.
 */
export function restoreKept(
  schema: StructuralSchema | undefined,
  now: JsonObject,
  kept: readonly KeptField[],
): JsonObject {
  let result: Json | undefined = now;
  for (const field of kept) result = restoreAt(schema, result, field, 0);
  return (result ?? {}) as JsonObject;
}

function restoreAt(
  schema: StructuralSchema | undefined,
  now: Json | undefined,
  field: KeptField,
  depth: number,
): Json | undefined {
  const step = field.at[depth];
  if (step === undefined) return mergeKept(schema, field.was, field.is, now);
  if (typeof step === 'string') {
    if (!isJsonObject(now)) return now;
    const before = getOwn(now, step) as Json | undefined;
    return withMember(now, step, restoreAt(memberSchema(schema, step), before, field, depth + 1));
  }
  return Array.isArray(now) ? restoreElement(schema, now as Json[], step, field, depth) : now;
}

function restoreElement(
  schema: StructuralSchema | undefined,
  now: readonly Json[],
  step: Exclude<KeptStep, string>,
  field: KeptField,
  depth: number,
): Json {
  // The keys of the step, should the schema's have changed since.
  const keys = Object.keys(step);
  const id = listKeyId(step, keys);
  const index = now.findIndex((element) => listKeyId(element, keys) === id);
  if (index < 0) return now;
  const restored = restoreAt(schema?.items, now[index], field, depth + 1);
  return restored === undefined ? now.filter((_, at) => at !== index) : now.with(index, restored);
}

/** `is` where `now` is still `was`; else `now` with those parts of `is` that were not changed. */
export function mergeKept(
  schema: StructuralSchema | undefined,
  was: Json | undefined,
  is: Json | undefined,
  now: Json | undefined,
): Json | undefined {
  if (equal(was, now)) return is;
  if (equal(was, is)) return now;
  if (Array.isArray(was) && Array.isArray(is) && Array.isArray(now)) {
    const lists = { was: was as Json[], is: is as Json[], now: now as Json[] };
    return mergeKeptList(lists, {
      keys: listMapKeys(schema),
      isSet: schema?.['x-kubernetes-list-type'] === 'set',
      merge: (...element) => mergeKept(schema?.items, ...element),
    });
  }
  if (!isJsonObject(was) || !isJsonObject(is) || !isJsonObject(now)) return now;
  let result: JsonObject = now;
  for (const name of new Set([...Object.keys(was), ...Object.keys(is)])) {
    const [before, kept, current] = [was, is, now].map((object) => getOwn(object, name) as Json | undefined);
    result = withMember(result, name, mergeKept(memberSchema(schema, name), before, kept, current));
  }
  return result;
}

/** The object with another value of a member, or without it; the same object if nothing changes. */
function withMember(object: JsonObject, name: string, value: Json | undefined): JsonObject {
  if (getOwn(object, name) === value) return object;
  if (value === undefined) {
    const { [name]: _, ...rest } = object;
    return rest;
  }
  const copy: Record<string, unknown> = { ...object };
  setOwn(copy, name, value);
  return copy as JsonObject;
}
