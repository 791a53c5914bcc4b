import { isJsonObject, type Json, type JsonObject, type StructuralSchema } from 'riata/object';
import { append } from '../../status/append.js';
import { duplicate, type FieldError, invalid } from '../../status/field-error.js';

/** Duplicate elements of lists that are sets or maps (`listtype.ValidateListSetsAndMaps`). */
export function checkListTypes(value: Json, schema: StructuralSchema | undefined, path = ''): FieldError[] {
  if (schema === undefined) return [];
  if (Array.isArray(value)) return checkList(value, schema, path);
  if (!isJsonObject(value)) return [];
  const errors: FieldError[] = [];
  const others = schema.additionalProperties;
  for (const key of Object.keys(value)) {
    const known = schema.properties !== undefined && Object.hasOwn(schema.properties, key);
    const child = value[key] as Json;
    if (known) append(errors, checkListTypes(child, schema.properties?.[key], path === '' ? key : `${path}.${key}`));
    else if (typeof others === 'object') append(errors, checkListTypes(child, others, `${path}[${key}]`));
  }
  return errors;
}

function checkList(list: readonly Json[], schema: StructuralSchema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const listType = schema['x-kubernetes-list-type'];
  if (listType === 'set')
    append(
      errors,
      repeated(list).map((i) => duplicate(`${path}[${i}]`, list[i])),
    );
  else if (listType === 'map') append(errors, checkMap(list, schema['x-kubernetes-list-map-keys'] ?? [], path));
  for (const [index, item] of list.entries()) append(errors, checkListTypes(item, schema.items, `${path}[${index}]`));
  return errors;
}

function checkMap(list: readonly Json[], keyNames: readonly string[], path: string): FieldError[] {
  const odd = list.findIndex((item) => item !== null && !isJsonObject(item));
  if (odd !== -1) return [invalid(`${path}[${odd}]`, list[odd], 'must be an object for an array of list-type map')];
  const keys = list.map((item) => keyOf(item as JsonObject | null, keyNames));
  return repeated(keys).map((i) => duplicate(`${path}[${i}]`, keys[i]));
}

function keyOf(item: JsonObject | null, names: readonly string[]): JsonObject {
  const present = names.filter((name) => item !== null && Object.hasOwn(item, name)).sort();
  return Object.fromEntries(present.map((name) => [name, (item as JsonObject)[name] as Json]));
}

/** The index of a value's second occurrence. Further ones are not reported. */
function repeated(list: readonly Json[]): number[] {
  const seen = new Map<string, number>();
  const found: number[] = [];
  for (const [index, item] of list.entries()) {
    const text = canonical(item);
    const times = seen.get(text) ?? 0;
    seen.set(text, times + 1);
    if (times === 1) found.push(index);
  }
  return found;
}

/** One text for equal values, whatever the order of their members. */
function canonical(value: Json): string {
  return JSON.stringify(value, (_key, part: Json) =>
    isJsonObject(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
}
