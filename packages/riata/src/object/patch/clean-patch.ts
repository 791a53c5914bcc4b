import { isJsonObject, type JsonObject } from '../json.js';
import { getOwn } from '../value/own.js';
import { deletePrefix, directive, orderPrefix, retainKeys } from './merge-lists.js';

/**
 * A part of a patch as it becomes part of a document, as a new field: without `null` fields, and without objects that a
 * `$patch` directive marks, since there is nothing for it to work on. `undefined` when it is marked itself.
 */
export function cleanAdded(value: unknown): unknown {
  return isMarked(value) ? undefined : clean(value, true);
}

/**
 * A part of a patch that is taken as it is (a replaced list or object, a new element): without `null` fields and
 * directives. Marked objects in it stay, less their mark, as they do on API servers.
 */
export function cleanTaken(value: readonly unknown[]): readonly unknown[];
export function cleanTaken(value: JsonObject): JsonObject;
export function cleanTaken(value: unknown): unknown;
export function cleanTaken(value: unknown): unknown {
  return clean(value, false);
}

function clean(value: unknown, dropMarked: boolean): unknown {
  if (Array.isArray(value)) {
    const kept = dropMarked ? value.filter((element) => !isMarked(element)) : value;
    return kept.map((element) => clean(element, dropMarked));
  }
  if (!isJsonObject(value)) return value;
  const entries: [string, unknown][] = [];
  for (const [key, child] of Object.entries(value)) {
    if (child === null || child === undefined || isDirective(key) || (dropMarked && isMarked(child))) continue;
    entries.push([key, clean(child, dropMarked)]);
  }
  // Defines own properties, whatever their names.
  return Object.fromEntries(entries);
}

function isMarked(value: unknown): boolean {
  return isJsonObject(value) && getOwn(value, directive) !== undefined;
}

function isDirective(key: string): boolean {
  return (
    key === directive || key === retainKeys || key.startsWith(`${deletePrefix}/`) || key.startsWith(`${orderPrefix}/`)
  );
}
