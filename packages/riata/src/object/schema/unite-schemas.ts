import type { Json } from '../json.js';
import { equal } from '../value/equal.js';
import { setOwn } from '../value/own.js';
import { intOrString, orNull, unknownSchema } from './conversion.js';
import { differentTypes, type Problems } from './schema-error.js';
import { itemPath, propertyPath, valuePath } from './schema-path.js';
import { patternOf } from './string-keywords.js';
import {
  copyKeywords,
  extensionKeywords,
  type StructuralDraft,
  type StructuralSchema,
  validationKeywords,
} from './structural-schema.js';

/** One way that a value may look: a schema, and whether it allows no other fields than its own; or null. */
export type Variant = 'null' | { readonly schema: StructuralSchema; readonly closed: boolean };

/**
 * The structural schema of a union. Literals become an enum, an integer or a string becomes int-or-string, and `null`
 * nullable. Objects become one object with the fields of all, where `oneOf` or `anyOf` says what each variant requires
 * and allows in its fields: a server accepts exactly the same values, except that a field of one variant may appear
 * beside another one, unless that is closed. Variants that differ in the type of a field are a problem.
 */
export function uniteSchemas(
  junctor: 'anyOf' | 'oneOf',
  variants: readonly Variant[],
  path: string,
  problems: Problems,
): StructuralSchema {
  const real = variants.filter((variant) => variant !== 'null');
  const schemas = real.map(({ schema }) => schema);
  const nullable = real.length < variants.length || schemas.some((schema) => schema.nullable === true);
  const [first, ...others] = schemas;
  if (first === undefined) {
    problems.add(path, 'null alone is not a type; make the field optional or nullable');
    return unknownSchema;
  }
  if (others.length === 0) return withNull(first, nullable);
  const mixed = mixIntAndString(schemas);
  if (mixed !== undefined) return withNull(mixed, nullable);
  const before = problems.count;
  const merged = mergeStructure(schemas, path, problems);
  if (problems.count > before) return unknownSchema;
  if (schemas.every(isLiteral)) return withNull(merged, nullable);
  const names = Object.keys(merged.properties ?? {});
  const branches = real.map(({ schema, closed }) => {
    const branch = restrictions(schema, merged);
    const foreign = closed ? names.filter((name) => !Object.hasOwn(schema.properties ?? {}, name)) : [];
    if (foreign.length > 0) branch.not = noneOf(foreign);
    return branch;
  });
  const says = branches.filter((branch) => Object.keys(branch).length > 0).length;
  // A variant without restrictions of its own allows everything that the merged schema does.
  const needed = junctor === 'oneOf' ? says > 0 : says === branches.length;
  return withNull(needed ? { ...merged, [junctor]: branches } : merged, nullable);
}

/** True for a schema that its enum says all of. */
function isLiteral(schema: StructuralSchema): boolean {
  const says = Object.keys(schema).filter((name) => !['type', 'description', 'nullable'].includes(name));
  return equal(says, ['enum']);
}

function noneOf(names: readonly string[]): StructuralSchema {
  const [only, ...more] = names.map((name): StructuralSchema => ({ required: [name] }));
  return only !== undefined && more.length === 0 ? only : { anyOf: names.map((name) => ({ required: [name] })) };
}

function withNull(schema: StructuralSchema, nullable: boolean): StructuralSchema {
  return nullable ? orNull(schema) : schema;
}

/** Strings and integers as int-or-string, if their restrictions can be kept apart; undefined if not. */
function mixIntAndString(schemas: readonly StructuralSchema[]): StructuralSchema | undefined {
  const ints = schemas.filter((schema) => schema.type === 'integer');
  const strings = schemas.filter((schema) => schema.type === 'string');
  if (ints.length === 0 || strings.length === 0 || ints.length + strings.length < schemas.length) return undefined;
  const literals = schemas.map((schema) => schema.enum);
  if (literals.every((values) => values !== undefined)) return { ...intOrString, enum: literals.flat() };
  const [int] = ints;
  if (ints.length > 1 || int?.enum !== undefined) return undefined;
  const result: StructuralDraft = { ...intOrString };
  copyKeywords(int ?? {}, result, ['minimum', 'exclusiveMinimum', 'maximum', 'exclusiveMaximum', 'multipleOf']);
  const words = strings.flatMap((schema) => schema.enum ?? []).filter((word) => typeof word === 'string');
  if (strings.every((schema) => schema.enum !== undefined)) return { ...result, pattern: patternOf(words) };
  if (strings.length > 1) return undefined;
  copyKeywords(strings[0] ?? {}, result, ['format', 'pattern', 'minLength', 'maxLength']);
  return result;
}

/** The fields and types that all variants share, with what they agree to restrict. */
function mergeStructure(schemas: readonly StructuralSchema[], path: string, problems: Problems): StructuralSchema {
  const [first = unknownSchema] = schemas;
  if (schemas.every((schema) => equal(schema, first))) return first;
  const types = [...new Set(schemas.map(typeName))];
  if (types.length > 1) {
    problems.add(path, differentTypes(types));
    return first;
  }
  const result: StructuralDraft = first.type === undefined ? {} : { type: first.type };
  const description = schemas.find((schema) => schema.description !== undefined)?.description;
  if (description !== undefined) result.description = description;
  const values = schemas.map((schema) => schema.enum);
  if (values.every((list) => list !== undefined)) result.enum = distinct(values.flat());
  for (const name of [
    ...validationKeywords,
    ...extensionKeywords,
    'default',
    'allOf',
    'anyOf',
    'oneOf',
    'not',
  ] as const) {
    if (name === 'enum') continue;
    if (schemas.every((schema) => equal(schema[name], first[name]))) copyKeywords(first, result, [name]);
    else if (name === 'default' || name.startsWith('x-kubernetes-')) {
      problems.add(
        path,
        `the variants differ in ${name}, which a structural schema can only say for all of them; move it out of the union`,
      );
    }
  }
  if (schemas.some((schema) => schema.nullable === true)) result.nullable = true;
  const required = (first.required ?? []).filter((name) => schemas.every((schema) => schema.required?.includes(name)));
  if (required.length > 0) result.required = required;
  const items = schemas.flatMap((schema) => schema.items ?? []);
  if (items.length > 0) result.items = mergeStructure(items, itemPath(path), problems);
  mergeFields(schemas, result, path, problems);
  return result;
}

function mergeFields(
  schemas: readonly StructuralSchema[],
  result: StructuralDraft,
  path: string,
  problems: Problems,
): void {
  const names = new Set(schemas.flatMap((schema) => Object.keys(schema.properties ?? {})));
  const properties: Record<string, StructuralSchema> = {};
  for (const name of names) {
    const found = schemas.flatMap(({ properties: own }) =>
      own !== undefined && Object.hasOwn(own, name) ? (own[name] ?? []) : [],
    );
    const at = propertyPath(path, name);
    const merged = mergeStructure(found, at, problems);
    if (merged.default !== undefined && found.length < schemas.length) {
      problems.add(
        at,
        'a default in one variant of a union would be set in the others too; move the field out of the union, or drop the default',
      );
    }
    setOwn(properties, name, merged);
  }
  if (names.size > 0) result.properties = properties;
  const maps = schemas.flatMap((schema) => schema.additionalProperties ?? []);
  const [map] = maps;
  if (map === undefined) return;
  if (maps.length < schemas.length || names.size > 0 || !maps.every((one) => equal(one, map))) {
    problems.add(
      valuePath(path),
      'the variants differ in the values of a map, which a structural schema cannot distinguish; use a field per variant',
    );
  }
  result.additionalProperties = map;
}

/**
 * The restrictions of a variant beyond the merged schema: validations only, as a structural schema requires below a
 * junctor.
 */
function restrictions(schema: StructuralSchema, merged: StructuralSchema): StructuralDraft {
  const result: StructuralDraft = {};
  for (const name of [...validationKeywords, 'allOf', 'anyOf', 'oneOf', 'not'] as const) {
    if (!equal(schema[name], merged[name])) copyKeywords(schema, result, [name]);
  }
  const required = (schema.required ?? []).filter((name) => !merged.required?.includes(name));
  if (required.length > 0) result.required = required;
  if (schema.items !== undefined && merged.items !== undefined) {
    const items = restrictions(schema.items, merged.items);
    if (Object.keys(items).length > 0) result.items = items;
  }
  const properties: Record<string, StructuralSchema> = {};
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const below = restrictions(property, merged.properties?.[name] ?? {});
    if (Object.keys(below).length > 0) setOwn(properties, name, below);
  }
  if (Object.keys(properties).length > 0) result.properties = properties;
  return result;
}

function typeName(schema: StructuralSchema): string {
  return schema.type ?? (schema['x-kubernetes-int-or-string'] === true ? 'integer or string' : 'anything');
}

function distinct(values: readonly Json[]): readonly Json[] {
  return values.filter((value, index) => values.findIndex((other) => equal(value, other)) === index);
}
