import { equal, formatPointer, isJsonObject, type Json, type StructuralSchema } from 'riata/object';
import type { FieldChange } from '../run/field-change.js';

/** Draws values of a schema, the smallest first. */
export type DrawValues = (schema: StructuralSchema) => readonly Json[];

type Path = readonly (string | number)[];

/** Numbers from here on are what a schema says when it says nothing. */
const unbounded = 2 ** 31 - 1;
/** A longer string is no boundary that anybody has in mind. */
const longest = 1_024;

/**
 * Changes of single fields that the schema allows, from what a value is now: optional fields removed and set, other values
 * of enums, boundaries of numbers and strings, lists emptied, shortened, extended and reordered, keys of maps added and
 * removed, and the same inside of objects, lists and maps. Rules in CEL are the server's business.
 */
export function* schemaChanges(
  schema: StructuralSchema,
  value: Json,
  path: Path,
  draw: DrawValues,
): Generator<FieldChange> {
  const to = (next: Json): FieldChange => ({ path: formatPointer(path), value: next });
  if (schema.nullable === true && value !== null) yield to(null);
  if (Array.isArray(value)) {
    yield* listChanges(schema, value as readonly Json[], path, draw);
    return;
  }
  if (isJsonObject(value)) {
    yield* objectChanges(schema, value as Readonly<Record<string, Json>>, path, draw);
    return;
  }
  const others = schema.enum ?? scalarValues(schema, value, draw);
  for (const other of distinct(others)) if (!equal(other, value)) yield to(other);
}

function scalarValues(schema: StructuralSchema, value: Json, draw: DrawValues): readonly Json[] {
  if (schema['x-kubernetes-int-or-string'] === true) return typeof value === 'number' ? [value + 1, '50%'] : [1];
  if (typeof value === 'boolean') return [!value];
  if (typeof value === 'number')
    return schema.type === 'number' ? [value + 0.5, ...steps(schema, value)] : steps(schema, value);
  if (typeof value !== 'string') return draw(schema);
  const { format, pattern, minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema;
  const drawn = draw(schema);
  if (format !== undefined || pattern !== undefined) return drawn;
  const bounds = minLength === 0 ? [''] : ['a'.repeat(minLength)];
  if (maxLength <= longest) bounds.push('a'.repeat(maxLength));
  return [...drawn.slice(0, 1), ...bounds];
}

/** The neighbours of a number, and the ends of its range as far as the schema gives them. Nothing below 0 if it does not. */
function steps(schema: StructuralSchema, value: number): readonly number[] {
  const { multipleOf: step = 1, minimum = 0, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  const isOpen = minimum <= -unbounded;
  const least = isOpen ? Math.min(0, value) : minimum + (exclusiveMinimum === true ? step : 0);
  const most =
    maximum === undefined || maximum >= unbounded ? undefined : maximum - (exclusiveMaximum === true ? step : 0);
  const all = [value + step, value - step, least, ...(most === undefined ? [] : [most])];
  return all.filter((each) => each >= least && each <= (most ?? Number.POSITIVE_INFINITY));
}

function* listChanges(
  schema: StructuralSchema,
  list: readonly Json[],
  path: Path,
  draw: DrawValues,
): Generator<FieldChange> {
  const { items = {}, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
  const to = (value: readonly Json[]): FieldChange => ({ path: formatPointer(path), value: value as Json });
  const reversed = [...list].reverse();
  if (!equal(reversed, list)) yield to(reversed);
  if (list.length > 1 && list.length > minItems) yield to(list.slice(1));
  if (list.length > 0 && list.length > minItems) yield to(list.slice(0, -1));
  if (list.length > 1 && minItems === 0) yield to([]);
  if (list.length < maxItems) {
    const added = draw(items).find((each) => list.every((known) => !isSameElement(schema, known, each)));
    if (added !== undefined) yield to([...list, added]);
  }
  const [first] = list;
  if (first !== undefined) yield* schemaChanges(items, first, [...path, 0], draw);
}

function isSameElement(schema: StructuralSchema, one: Json, other: Json): boolean {
  const keys = schema['x-kubernetes-list-map-keys'];
  if (keys === undefined || !isJsonObject(one) || !isJsonObject(other)) return equal(one, other);
  const [a, b] = [one, other] as unknown as readonly [Record<string, Json>, Record<string, Json>];
  return keys.every((key) => equal(a[key], b[key]));
}

function* objectChanges(
  schema: StructuralSchema,
  object: Readonly<Record<string, Json>>,
  path: Path,
  draw: DrawValues,
): Generator<FieldChange> {
  if (schema['x-kubernetes-embedded-resource'] === true) return;
  const { properties = {}, required = [], additionalProperties } = schema;
  for (const [name, member] of Object.entries(properties)) {
    const below = [...path, name];
    const value = Object.hasOwn(object, name) ? object[name] : undefined;
    if (value === undefined) {
      const drawn = draw(member);
      const ends = drawn.length > 1 ? [drawn[0], drawn.at(-1)] : drawn;
      for (const each of ends) yield { path: formatPointer(below), value: each as Json };
      continue;
    }
    if (!required.includes(name)) yield { path: formatPointer(below) };
    yield* schemaChanges(member, value, below, draw);
  }
  if (additionalProperties !== undefined) yield* mapChanges(schema, object, path, draw);
}

function* mapChanges(
  { additionalProperties = {}, minProperties = 0, maxProperties = Number.POSITIVE_INFINITY }: StructuralSchema,
  map: Readonly<Record<string, Json>>,
  path: Path,
  draw: DrawValues,
): Generator<FieldChange> {
  const keys = Object.keys(map);
  const [first] = keys;
  if (first !== undefined && keys.length > minProperties) yield { path: formatPointer([...path, first]) };
  if (keys.length > 1 && minProperties === 0) yield { path: formatPointer(path), value: {} };
  const fresh = ['a', 'b', 'c'].find((key) => !keys.includes(key));
  const [value] = draw(additionalProperties);
  if (fresh !== undefined && value !== undefined && keys.length < maxProperties) {
    yield { path: formatPointer([...path, fresh]), value };
  }
  if (first !== undefined) yield* schemaChanges(additionalProperties, map[first] as Json, [...path, first], draw);
}

function distinct(values: readonly Json[]): readonly Json[] {
  return values.filter((value, at) => values.findIndex((other) => equal(other, value)) === at);
}
