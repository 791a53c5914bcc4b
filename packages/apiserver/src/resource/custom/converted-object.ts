import { isJsonObject, type Json, type JsonObject } from 'riata/object';
import { checkAnnotations, checkLabels } from '../../schema/object-meta.js';
import { formatFieldError } from '../../status/field-error.js';
import { goKind } from '../../status/go-kind.js';
import { metaOf, textOf } from '../metadata.js';
import { jsonType } from './conversion-review.js';

/**
 * The object that a webhook returned, with its original metadata: only labels and annotations may change. Throws an
 * `Error` with kube-apiserver's message.
 */
export function convertedObject(original: JsonObject, converted: Json, apiVersion: string): JsonObject {
  const hook = `conversion webhook for ${goKind(textOf(original.apiVersion), textOf(original.kind))}`;
  if (!isJsonObject(converted)) {
    throw new Error(`json: cannot unmarshal ${jsonType(converted)} into Go value of type map[string]interface {}`);
  }
  const [kind, got] = [textOf(converted.kind), textOf(converted.apiVersion)];
  if (kind === '') throw new Error(`Object 'Kind' is missing in '${JSON.stringify(converted)}'`);
  const wrong = (what: string, expected: string, received: string) =>
    new Error(
      `${hook} returned invalid object at index 0: invalid ${what} (expected ${expected}, received ${received})`,
    );
  if (got !== apiVersion) throw wrong('groupVersion', apiVersion, got);
  if (kind !== original.kind) throw wrong('kind', textOf(original.kind), kind);
  const [before, after] = [metaOf(original), metaOf(converted)];
  for (const [field, name] of [
    ['name', 'name'],
    ['namespace', 'namespace'],
    ['uid', 'UID'],
  ] as const) {
    const [e, a] = [textOf(before[field]), textOf(after[field])];
    if (e !== a) throw new Error(`${hook} returned invalid object: must have the same ${name}: ${e} != ${a}`);
  }
  return { ...converted, metadata: restoredMeta(before, converted.metadata, `${hook} returned invalid metadata`) };
}

function restoredMeta(before: JsonObject, answered: Json | undefined, problem: string): JsonObject {
  if (answered === undefined) throw new Error(`${problem}: missing metadata in converted object`);
  if (!isJsonObject(answered))
    throw new Error(`${problem}: invalid metadata of type ${goType(answered)} in converted object`);
  const restored: Record<string, Json | undefined> = { ...before };
  for (const field of ['labels', 'annotations'] as const) {
    const said = answered[field];
    if (said === undefined || said === null) {
      delete restored[field];
      continue;
    }
    if (!isJsonObject(said)) {
      throw new Error(`${problem}: invalid metadata.${field} of type ${goType(said)} in converted object`);
    }
    for (const [key, value] of Object.entries(said)) {
      if (typeof value === 'string') continue;
      const type = goType(value as Json);
      throw new Error(`${problem}: metadata.${field}[${key}] must be a string, but is ${type} in converted object`);
    }
    if (!isSame(before[field], said)) checkTexts(field, said, problem);
    restored[field] = said;
  }
  return restored as JsonObject;
}

function isSame(before: Json | undefined, after: JsonObject): boolean {
  const known = isJsonObject(before) ? before : {};
  const names = Object.keys(after);
  return names.length === Object.keys(known).length && names.every((name) => known[name] === after[name]);
}

function checkTexts(field: 'labels' | 'annotations', texts: JsonObject, problem: string): void {
  const errors =
    field === 'labels' ? checkLabels(texts, 'metadata.labels') : checkAnnotations(texts, 'metadata.annotation');
  if (errors.length === 0) return;
  const all = [...new Set(errors.map(formatFieldError))];
  throw new Error(`${problem}: ${all.length === 1 ? all[0] : `[${all.join(', ')}]`}`);
}

/** The Go type of a JSON value. */
function goType(value: Json): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'object') return 'map[string]interface {}';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value === 'boolean' ? 'bool' : 'string';
}
