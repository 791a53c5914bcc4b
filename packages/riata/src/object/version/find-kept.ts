import { isJsonObject, type Json, type JsonObject } from '../json.js';
import type { StructuralSchema } from '../schema/structural-schema.js';
import { equal } from '../value/equal.js';
import { getOwn } from '../value/own.js';
import { byListKeys, type KeptField, type KeptStep, listMapKeys, memberSchema } from './kept-field.js';

/** The fields in which `is` differs from `was`, as deep as a later change can be distinguished from them. */
export function findKept(schema: StructuralSchema | undefined, was: JsonObject, is: JsonObject): KeptField[] {
  const found: KeptField[] = [];
  compareObjects(schema, was, is, [], found);
  return found;
}

function compare(
  schema: StructuralSchema | undefined,
  was: Json | undefined,
  is: Json | undefined,
  at: readonly KeptStep[],
  found: KeptField[],
): void {
  if (equal(was, is)) return;
  if (isJsonObject(was) && isJsonObject(is)) compareObjects(schema, was, is, at, found);
  else if (Array.isArray(was) && Array.isArray(is)) compareLists(schema, was as Json[], is as Json[], at, found);
  else found.push({ at, ...(was === undefined ? {} : { was }), ...(is === undefined ? {} : { is }) });
}

function compareObjects(
  schema: StructuralSchema | undefined,
  was: JsonObject,
  is: JsonObject,
  at: readonly KeptStep[],
  found: KeptField[],
): void {
  for (const name of new Set([...Object.keys(was), ...Object.keys(is)])) {
    const [before, after] = [getOwn(was, name) as Json | undefined, getOwn(is, name) as Json | undefined];
    compare(memberSchema(schema, name), before, after, [...at, name], found);
  }
}

/** Element by element where keys identify them; else the list is one field. */
function compareLists(
  schema: StructuralSchema | undefined,
  was: readonly Json[],
  is: readonly Json[],
  at: readonly KeptStep[],
  found: KeptField[],
): void {
  const keys = listMapKeys(schema);
  if (keys === undefined || !hasSameKeys(was, is, keys)) {
    found.push({ at, was, is });
    return;
  }
  for (const [index, element] of is.entries()) {
    const step = Object.fromEntries(keys.map((key) => [key, (element as JsonObject)[key]]));
    compare(schema?.items, was[index], element, [...at, step], found);
  }
}

function hasSameKeys(was: readonly Json[], is: readonly Json[], keys: readonly string[]): boolean {
  const [before, after] = [byListKeys(was, keys), byListKeys(is, keys)];
  if (before === undefined || after === undefined || before.size !== after.size) return false;
  for (const [id, index] of after) if (before.get(id) !== index) return false;
  return true;
}
