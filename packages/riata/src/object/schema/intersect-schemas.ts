import { equal } from '../value/equal.js';
import { setOwn } from '../value/own.js';
import { anything } from './conversion.js';
import type { Problems } from './schema-error.js';
import { itemPath, propertyPath, valuePath } from './schema-path.js';
import {
  copyKeywords,
  extensionKeywords,
  type StructuralDraft,
  type StructuralSchema,
  validationKeywords,
} from './structural-schema.js';

/**
 * The schema of what both allow. Fields come together; where both restrict a value by the same keyword, the second
 * goes into `allOf`.
 */
export function intersectSchemas(
  a: StructuralSchema,
  b: StructuralSchema,
  path: string,
  problems: Problems,
): StructuralSchema {
  if (equal(a, b) || isAnything(b)) return a;
  if (isAnything(a)) return b;
  const result: StructuralDraft = { ...a };
  const type = commonType(a, b);
  if (type === undefined && a.type !== b.type) {
    problems.add(path, `must be ${a.type ?? 'untyped'} and ${b.type ?? 'untyped'} at once; nothing is`);
    return a;
  }
  if (type !== undefined) result.type = type;
  const more: StructuralDraft = {};
  for (const name of validationKeywords) {
    if (b[name] === undefined || equal(a[name], b[name])) continue;
    copyKeywords(b, a[name] === undefined ? result : more, [name]);
  }
  for (const name of ['anyOf', 'oneOf', 'not'] as const) {
    if (b[name] === undefined || equal(a[name], b[name])) continue;
    copyKeywords(b, a[name] === undefined ? result : more, [name]);
  }
  const allOf = [...(a.allOf ?? []), ...(b.allOf ?? []), ...(Object.keys(more).length > 0 ? [more] : [])];
  if (allOf.length > 0) result.allOf = allOf;
  copyKeywords(b, result, ['default', ...extensionKeywords]);
  if (a.description === undefined) copyKeywords(b, result, ['description']);
  if (a.nullable === true && b.nullable !== true) delete result.nullable;
  const required = [...new Set([...(a.required ?? []), ...(b.required ?? [])])];
  if (required.length > 0) result.required = required;
  if (a.items !== undefined && b.items !== undefined) {
    result.items = intersectSchemas(a.items, b.items, itemPath(path), problems);
  } else copyKeywords(b, result, b.items === undefined ? [] : ['items']);
  addFields(a, b, result, path, problems);
  return result;
}

function addFields(
  a: StructuralSchema,
  b: StructuralSchema,
  result: StructuralDraft,
  path: string,
  problems: Problems,
): void {
  if (b.properties !== undefined) {
    const properties: Record<string, StructuralSchema> = { ...a.properties };
    for (const [name, property] of Object.entries(b.properties)) {
      const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
      const both =
        known === undefined ? property : intersectSchemas(known, property, propertyPath(path, name), problems);
      setOwn(properties, name, both);
    }
    result.properties = properties;
  }
  const { additionalProperties: left } = a;
  const { additionalProperties: right } = b;
  if (left !== undefined && right !== undefined) {
    result.additionalProperties = intersectSchemas(left, right, valuePath(path), problems);
  } else if (right !== undefined) result.additionalProperties = right;
  if (result.properties !== undefined && result.additionalProperties !== undefined) {
    problems.add(
      path,
      'has both named properties and a schema for all others; move the others into a map of their own',
    );
  }
}

function commonType(a: StructuralSchema, b: StructuralSchema): StructuralSchema['type'] {
  if (a.type === b.type) return a.type;
  const types = [a.type, b.type];
  return types.includes('integer') && types.includes('number') ? 'integer' : undefined;
}

function isAnything(schema: StructuralSchema): boolean {
  return equal(schema, anything);
}
