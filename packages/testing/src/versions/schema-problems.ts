import { isJsonObject, type Json, type StructuralSchema } from 'riata/object';

/** What a server would hold against a value, as `path: problem`. Rules in CEL are not evaluated. */
export function schemaProblems(schema: StructuralSchema, value: Json, path = ''): string[] {
  const found: string[] = [];
  const at = path === '' ? 'the object' : path;
  const add = (problem: string) => found.push(`${at}: ${problem}`);
  if (value === null && schema.nullable === true) return [];
  const type = typeProblem(schema, value);
  if (type !== undefined) {
    add(type);
    return found;
  }
  for (const problem of valueProblems(schema, value)) add(problem);
  if (Array.isArray(value)) {
    const { items } = schema;
    for (const [index, element] of (value as Json[]).entries()) {
      if (items !== undefined) found.push(...schemaProblems(items, element, `${path}[${index}]`));
    }
  } else if (isJsonObject(value)) {
    found.push(...memberProblems(schema, value, path));
  }
  return found;
}

function typeProblem(schema: StructuralSchema, value: Json): string | undefined {
  const { type } = schema;
  const got = typeOf(value);
  if (schema['x-kubernetes-int-or-string'] === true) {
    return got === 'string' || Number.isInteger(value) ? undefined : `must be an integer or a string, got ${got}`;
  }
  if (type === undefined || type === got) return undefined;
  if (type === 'integer' && Number.isInteger(value)) return undefined;
  return `must be of type ${type}, got ${type === 'integer' && got === 'number' ? String(value) : got}`;
}

function typeOf(value: Json): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function* valueProblems(schema: StructuralSchema, value: Json): Generator<string> {
  const { enum: allowed, allOf = [], anyOf, oneOf, not } = schema;
  const fits = (branch: StructuralSchema) => schemaProblems({ ...branch, ...open }, value).length === 0;
  if (allowed !== undefined && !allowed.some((one) => JSON.stringify(one) === JSON.stringify(value))) {
    yield `must be one of ${JSON.stringify(allowed)}, got ${JSON.stringify(value)}`;
  }
  if (!allOf.every(fits)) yield 'must fit all of its schemas (allOf)';
  if (anyOf !== undefined && !anyOf.some(fits)) yield 'must fit one of its schemas (anyOf)';
  if (oneOf !== undefined && oneOf.filter(fits).length !== 1) yield 'must fit exactly one of its schemas (oneOf)';
  if (not !== undefined && fits(not)) yield 'must not fit a schema (not)';
  if (typeof value === 'number') yield* numberProblems(schema, value);
  if (typeof value === 'string') {
    yield* sizeProblems([...value].length, schema.minLength, schema.maxLength, 'characters');
    if (schema.pattern !== undefined && !matches(schema.pattern, value)) yield `must match ${schema.pattern}`;
  }
  if (Array.isArray(value)) yield* sizeProblems(value.length, schema.minItems, schema.maxItems, 'elements');
  else if (isJsonObject(value)) {
    yield* sizeProblems(Object.keys(value).length, schema.minProperties, schema.maxProperties, 'fields');
  }
}

/** Branches say nothing about fields that they do not name. */
const open = { 'x-kubernetes-preserve-unknown-fields': true } as const;

function* numberProblems(schema: StructuralSchema, value: number): Generator<string> {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (minimum !== undefined && (value < minimum || (exclusiveMinimum === true && value === minimum))) {
    yield `must be ≥ ${minimum}, got ${value}`;
  }
  if (maximum !== undefined && (value > maximum || (exclusiveMaximum === true && value === maximum))) {
    yield `must be ≤ ${maximum}, got ${value}`;
  }
  if (multipleOf !== undefined && !Number.isInteger(value / multipleOf)) yield `must be a multiple of ${multipleOf}`;
}

function* sizeProblems(size: number, least = 0, most = Number.POSITIVE_INFINITY, what: string): Generator<string> {
  if (size < least) yield `must have at least ${least} ${what}, got ${size}`;
  if (size > most) yield `must have at most ${most} ${what}, got ${size}`;
}

/** True for patterns that only Go understands. */
function matches(pattern: string, value: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(value);
  } catch {
    return true;
  }
}

function memberProblems(
  schema: StructuralSchema,
  value: Record<string, Json | undefined> | object,
  path: string,
): string[] {
  const found: string[] = [];
  const below = (name: string) => (path === '' ? name : `${path}.${name}`);
  const { properties = {}, additionalProperties, required = [] } = schema;
  for (const name of required) {
    if ((value as Record<string, unknown>)[name] === undefined) found.push(`${below(name)}: is required`);
  }
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true || schema.type === undefined;
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  for (const [name, member] of Object.entries(value) as [string, Json][]) {
    const known = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (known !== undefined) found.push(...schemaProblems(known, member, below(name)));
    else if (!isOpen && !(isEmbedded && ['apiVersion', 'kind', 'metadata'].includes(name)) && path !== 'metadata') {
      found.push(`${below(name)}: is not a field of the schema`);
    }
  }
  return found;
}
