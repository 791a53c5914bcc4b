import { isJsonObject } from '../json.js';
import { equal } from '../value/equal.js';
import { getOwn } from '../value/own.js';
import { escapeToken } from './json-pointer.js';

/** One step of a JSON patch. Paths are JSON pointers (RFC 6901): `/spec/containers/0`, `/metadata/labels/a.io~1b`. */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly from: string; readonly path: string };

/** A JSON patch (RFC 6902): steps, done in order, all or none. */
export type JsonPatch = readonly JsonPatchOperation[];

/**
 * A JSON patch (RFC 6902) that turns `from` into `to`; `[]` when they are equal. Made of `add`, `remove` and `replace`;
 * in lists, what is alike at both ends is left alone, so one added or removed element is one operation. A property that
 * is `undefined` is absent. Values in the patch are parts of `to`.
 */
export function createJsonPatch(from: unknown, to: unknown): JsonPatch {
  const operations: JsonPatchOperation[] = [];
  diff(from, to, '', operations);
  return operations;
}

function diff(from: unknown, to: unknown, path: string, out: JsonPatchOperation[]): void {
  if (from === to) return;
  if (Array.isArray(from) && Array.isArray(to)) diffLists(from, to, path, out);
  else if (isJsonObject(from) && isJsonObject(to)) diffObjects(from, to, path, out);
  else if (!equal(from, to)) out.push({ op: 'replace', path, value: to });
}

function diffObjects(from: object, to: object, path: string, out: JsonPatchOperation[]): void {
  for (const [key, before] of Object.entries(from) as [string, unknown][]) {
    if (before === undefined) continue;
    const at = `${path}/${escapeToken(key)}`;
    const after = getOwn(to, key);
    if (after === undefined) out.push({ op: 'remove', path: at });
    else diff(before, after, at, out);
  }
  for (const [key, after] of Object.entries(to) as [string, unknown][]) {
    if (after === undefined || getOwn(from, key) !== undefined) continue;
    out.push({ op: 'add', path: `${path}/${escapeToken(key)}`, value: after });
  }
}

function diffLists(from: readonly unknown[], to: readonly unknown[], path: string, out: JsonPatchOperation[]): void {
  const shorter = Math.min(from.length, to.length);
  let start = 0;
  while (start < shorter && equal(from[start], to[start])) start++;
  let tail = 0;
  while (tail < shorter - start && equal(from[from.length - 1 - tail], to[to.length - 1 - tail])) tail++;
  const fromEnd = from.length - tail;
  const toEnd = to.length - tail;
  const common = Math.min(fromEnd, toEnd);
  for (let i = start; i < common; i++) diff(from[i], to[i], `${path}/${i}`, out);
  // From the back, so that no removal shifts the next one.
  for (let i = fromEnd - 1; i >= common; i--) out.push({ op: 'remove', path: `${path}/${i}` });
  for (let i = common; i < toEnd; i++) out.push({ op: 'add', path: `${path}/${i}`, value: to[i] });
}
