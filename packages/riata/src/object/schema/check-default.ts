import { isJsonObject, type Json } from '../json.js';
import { equal } from '../value/equal.js';
import { getOwn } from '../value/own.js';
import type { Problems } from './schema-error.js';
import type { StructuralSchema } from './structural-schema.js';

/** Notes what makes a server refuse a default: another type, unknown fields, missing ones, values that are not allowed. */
export function checkDefault(value: Json, schema: StructuralSchema, path: string, problems: Problems): void {
  for (const wrong of valueProblems(value, schema, '')) {
    problems.add(path, `the default ${JSON.stringify(value)} is not valid: ${wrong}`);
  }
}

function valueProblems(value: Json, schema: StructuralSchema, at: string): string[] {
  const where = at === '' ? 'it' : at;
  if (value === null)
    return schema.nullable === true || schema.type === undefined ? [] : [`${where} is null, and not nullable`];
  if (schema['x-kubernetes-int-or-string'] === true) {
    return typeof value === 'string' || Number.isInteger(value) ? [] : [`${where} is neither an integer nor a string`];
  }
  if (schema.type !== undefined && !isOfType(value, schema.type)) return [`${where} is not of type ${schema.type}`];
  const problems: string[] = [];
  if (schema.enum !== undefined && !schema.enum.some((allowed) => equal(allowed, value))) {
    problems.push(`${where} must be one of ${JSON.stringify(schema.enum)}`);
  }
  if (typeof value === 'number') {
    const { minimum, maximum } = schema;
    if (minimum !== undefined && (value < minimum || (schema.exclusiveMinimum === true && value === minimum))) {
      problems.push(`${where} is below ${minimum}`);
    }
    if (maximum !== undefined && (value > maximum || (schema.exclusiveMaximum === true && value === maximum))) {
      problems.push(`${where} is above ${maximum}`);
    }
  }
  if (Array.isArray(value) && schema.items !== undefined) {
    for (const [index, item] of value.entries()) problems.push(...valueProblems(item, schema.items, `${at}[${index}]`));
  }
  if (isJsonObject(value)) problems.push(...fieldProblems(value, schema, at));
  return problems;
}

function fieldProblems(
  value: { readonly [name: string]: Json | undefined },
  schema: StructuralSchema,
  at: string,
): string[] {
  const problems: string[] = [];
  for (const [name, field] of Object.entries(value)) {
    const inner = (getOwn(schema.properties ?? {}, name) ?? schema.additionalProperties) as
      | StructuralSchema
      | undefined;
    if (inner !== undefined && field !== undefined) problems.push(...valueProblems(field, inner, `${at}.${name}`));
    else if (inner === undefined && schema['x-kubernetes-preserve-unknown-fields'] !== true) {
      problems.push(`${at}.${name} is unknown`);
    }
  }
  for (const name of schema.required ?? []) {
    const filled = (getOwn(schema.properties ?? {}, name) as StructuralSchema | undefined)?.default !== undefined;
    if (!Object.hasOwn(value, name) && !filled) problems.push(`${at}.${name} is missing`);
  }
  return problems;
}

function isOfType(value: Json, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isJsonObject(value);
  return typeof value === type;
}
