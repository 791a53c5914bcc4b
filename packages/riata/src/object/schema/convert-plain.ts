import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { setOwn } from '../value/own.js';
import { anything, type Conversion, intOrString, orNull, unknownSchema } from './conversion.js';
import { differentTypes } from './schema-error.js';
import { itemPath, propertyPath, valuePath } from './schema-path.js';
import { addStringKeywords, knownFormat } from './string-keywords.js';
import type { StructuralDraft, StructuralSchema, StructuralType } from './structural-schema.js';

const structuralTypes: ReadonlySet<string> = new Set(['object', 'array', 'string', 'integer', 'number', 'boolean']);

// Said by a schema, and by no structural schema in these words.
const unsayable: Readonly<Record<string, string>> = {
  not: 'say it in CEL (x-kubernetes-validations)',
  if: 'say it in CEL (x-kubernetes-validations)',
  contains: 'say it in CEL: self.exists(x, …)',
  dependencies: 'say it in CEL: !has(self.a) || has(self.b)',
  dependentRequired: 'say it in CEL: !has(self.a) || has(self.b)',
  dependentSchemas: 'say it in CEL (x-kubernetes-validations)',
  prefixItems: 'a tuple has no structural form: use an object with named fields',
  unevaluatedProperties: 'leave it out: unknown fields are pruned anyway',
  unevaluatedItems: 'use an object with named fields instead of a tuple',
};

/** Converts a schema that is not made of others by `allOf`, `anyOf`, `oneOf` or `$ref`. */
export function convertPlain(
  source: JsonObject,
  path: string,
  conversion: Conversion,
  shape?: StructuralSchema,
): StructuralSchema {
  const { problems } = conversion;
  for (const [name, remedy] of Object.entries(unsayable)) {
    if (source[name] === undefined || source[name] === false) continue;
    const never = name === 'not' && isJsonObject(source.not) && Object.keys(source.not).length === 0;
    problems.add(
      path,
      never
        ? 'no value is valid here (never); omit the field'
        : `${name} cannot be used in a structural schema; ${remedy}`,
    );
  }
  const values = literalsOf(source);
  const named = typesOf(source);
  const types = named.length > 0 ? named.filter((type) => type !== 'null') : impliedTypes(source, values, shape);
  const nullable = named.includes('null') || (values?.includes(null) ?? false) || source.nullable === true;
  const draft: StructuralDraft = {};
  const literals = values?.filter((value) => value !== null);
  if (source['x-kubernetes-int-or-string'] === true || isIntOrString(types)) {
    Object.assign(draft, intOrString);
    addStringKeywords(source, draft, path, problems);
    addNumberKeywords(source, draft, 'integer');
  } else if (types.length > 1) {
    problems.add(path, differentTypes(types));
    return unknownSchema;
  } else if (types.length === 0) {
    if (named.length > 0 || values?.length === 1)
      problems.add(path, 'null alone is not a type; make the field optional or nullable');
    // Said outright, it is taken as it is said.
    return source['x-kubernetes-preserve-unknown-fields'] === true ? unknownSchema : anything;
  } else addTyped(source, types[0] ?? '', draft, path, conversion, shape);
  if (literals !== undefined) addEnum(literals, draft);
  return nullable ? orNull(draft) : draft;
}

function addTyped(
  source: JsonObject,
  type: string,
  draft: StructuralDraft,
  path: string,
  conversion: Conversion,
  shape: StructuralSchema | undefined,
): void {
  if (!structuralTypes.has(type)) {
    conversion.problems.add(
      path,
      `type ${JSON.stringify(type)} has no JSON form; use one of ${[...structuralTypes].join(', ')}`,
    );
    Object.assign(draft, unknownSchema);
    return;
  }
  draft.type = type as StructuralType;
  if (type === 'string') addStringKeywords(source, draft, path, conversion.problems);
  else if (type === 'integer' || type === 'number') addNumberKeywords(source, draft, type);
  else if (type === 'array') addArrayKeywords(source, draft, path, conversion, shape);
  else if (type === 'object') addObjectKeywords(source, draft, path, conversion, shape);
}

// Libraries bound integers to what a double holds exactly; that is a limit of JavaScript, not of the field.
function bound(value: Json | undefined): number | undefined {
  return typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER ? value : undefined;
}

function addNumberKeywords(source: JsonObject, draft: StructuralDraft, type: string): void {
  const format = knownFormat(type, source.format);
  if (format !== undefined) draft.format = format;
  const limits = [
    ['minimum', 'exclusiveMinimum', (a: number, b: number) => a >= b],
    ['maximum', 'exclusiveMaximum', (a: number, b: number) => a <= b],
  ] as const;
  for (const [name, exclusiveName, stricter] of limits) {
    const limit = bound(source[name]);
    const exclusive = source[exclusiveName];
    if (limit !== undefined) draft[name] = limit;
    // A number since draft-06, a remark on the bound beside it in OpenAPI 3.0.
    if (typeof exclusive === 'number' && (limit === undefined || stricter(exclusive, limit))) {
      draft[name] = exclusive;
      draft[exclusiveName] = true;
    } else if (exclusive === true && limit !== undefined) draft[exclusiveName] = true;
  }
  if (typeof source.multipleOf === 'number' && !(type === 'integer' && source.multipleOf === 1)) {
    draft.multipleOf = source.multipleOf;
  }
}

function addCounts(
  source: JsonObject,
  draft: StructuralDraft,
  names: readonly ('minItems' | 'maxItems' | 'minProperties' | 'maxProperties')[],
): void {
  for (const name of names) {
    const value = source[name];
    if (typeof value === 'number') draft[name] = value;
  }
}

function addArrayKeywords(
  source: JsonObject,
  draft: StructuralDraft,
  path: string,
  conversion: Conversion,
  shape: StructuralSchema | undefined,
): void {
  addCounts(source, draft, ['minItems', 'maxItems']);
  const { items } = source;
  if (Array.isArray(items)) {
    conversion.problems.add(path, 'a tuple has no structural form; use an object with named fields');
    draft.items = unknownSchema;
    return;
  }
  draft.items =
    items === undefined
      ? (shape?.items ?? anything)
      : conversion.convert(items, itemPath(path), conversion, shape?.items);
  if (source.uniqueItems !== true || source['x-kubernetes-list-type'] !== undefined) return;
  const { type } = draft.items;
  if (type === 'object' || type === 'array' || type === undefined) {
    conversion.problems.add(
      path,
      "uniqueItems is refused by the server; for objects use 'x-kubernetes-list-type': 'map' with 'x-kubernetes-list-map-keys'",
    );
  } else draft['x-kubernetes-list-type'] = 'set';
}

function addObjectKeywords(
  source: JsonObject,
  draft: StructuralDraft,
  path: string,
  conversion: Conversion,
  shape: StructuralSchema | undefined,
): void {
  addCounts(source, draft, ['minProperties', 'maxProperties']);
  const values = valuesOf(source, path, conversion);
  const keys = keysOf(source, path, conversion);
  const properties: Record<string, StructuralSchema> = {};
  if (isJsonObject(source.properties)) {
    for (const [name, property] of Object.entries(source.properties)) {
      const lent = shape?.properties?.[name];
      setOwn(properties, name, conversion.convert(property, propertyPath(path, name), conversion, lent));
    }
  }
  if (keys !== undefined && values !== undefined) {
    for (const name of keys) setOwn(properties, name, conversion.convert(values, propertyPath(path, name), conversion));
  }
  const hasProperties = Object.keys(properties).length > 0;
  if (hasProperties) draft.properties = properties;
  if (Array.isArray(source.required)) {
    const required = source.required.filter((name): name is string => typeof name === 'string');
    if (required.length > 0) draft.required = required;
  }
  // An object of which nothing is said may hold anything; as a structural schema it would be emptied.
  if (source.properties === undefined && source.additionalProperties === undefined && shape === undefined) {
    if (values === undefined) draft['x-kubernetes-preserve-unknown-fields'] = true;
  }
  if (keys !== undefined || values === undefined) return;
  if (isJsonObject(values) && Object.keys(values).length > 0) {
    if (hasProperties) {
      conversion.problems.add(
        path,
        'has both named properties and a schema for all others; move the others into a map of their own',
      );
    } else
      draft.additionalProperties = conversion.convert(values, valuePath(path), conversion, shape?.additionalProperties);
  } else draft['x-kubernetes-preserve-unknown-fields'] = true;
}

/** The schema of the properties that are not named; undefined if there shall be none. */
function valuesOf(source: JsonObject, path: string, conversion: Conversion): Json | undefined {
  const { additionalProperties, patternProperties } = source;
  if (isJsonObject(patternProperties)) {
    const entries = Object.entries(patternProperties);
    const [only] = entries;
    if (entries.length === 1 && only !== undefined && ['^(.*)$', '^.*$', '.*', ''].includes(only[0])) return only[1];
    conversion.problems.add(
      path,
      'patternProperties cannot be used in a structural schema; use a map and check its keys in CEL: self.all(key, …)',
    );
    return undefined;
  }
  if (additionalProperties === false || additionalProperties === undefined) return undefined;
  return additionalProperties === true ? {} : additionalProperties;
}

/** The names that a map is restricted to; undefined if it is not. */
function keysOf(source: JsonObject, path: string, conversion: Conversion): readonly string[] | undefined {
  const names = source.propertyNames;
  if (!isJsonObject(names)) return undefined;
  const literals = literalsOf(names);
  if (literals?.every((name): name is string => typeof name === 'string')) return literals;
  const harmless = Object.keys(names).every((keyword) => keyword === 'type' || keyword === 'description');
  if (!harmless && !Array.isArray(source['x-kubernetes-validations'])) {
    conversion.problems.add(
      path,
      'the keys of a map cannot be restricted in a structural schema; say it in CEL: self.all(key, key.matches(…))',
    );
  }
  return undefined;
}

function typesOf(source: JsonObject): readonly string[] {
  const { type } = source;
  return typeof type === 'string' ? [type] : Array.isArray(type) ? type.filter((one) => typeof one === 'string') : [];
}

function literalsOf(source: JsonObject): readonly Json[] | undefined {
  if (source.const !== undefined) return [source.const];
  return Array.isArray(source.enum) ? source.enum : undefined;
}

function impliedTypes(
  source: JsonObject,
  literals: readonly Json[] | undefined,
  shape: StructuralSchema | undefined,
): readonly string[] {
  if (shape?.['x-kubernetes-int-or-string'] === true) return ['integer', 'string'];
  if (shape?.type !== undefined) return [shape.type];
  if (literals !== undefined) return typesOfLiterals(literals);
  if (source.properties !== undefined || source.patternProperties !== undefined || source.required !== undefined)
    return ['object'];
  if (source.additionalProperties !== undefined && source.additionalProperties !== false) return ['object'];
  if (source.items !== undefined) return ['array'];
  if (typeof source.pattern === 'string' || source.minLength !== undefined || source.maxLength !== undefined)
    return ['string'];
  return [];
}

function typesOfLiterals(literals: readonly Json[]): readonly string[] {
  const types = new Set<string>();
  for (const value of literals) {
    if (Array.isArray(value)) types.add('array');
    else if (typeof value === 'number') types.add(Number.isInteger(value) ? 'integer' : 'number');
    else if (value !== null) types.add(typeof value);
  }
  if (types.has('number')) types.delete('integer');
  return [...types];
}

function isIntOrString(types: readonly string[]): boolean {
  return types.length === 2 && types.includes('integer') && types.includes('string');
}

function addEnum(literals: readonly Json[], draft: StructuralDraft): void {
  if (draft.type === 'number' && literals.every(Number.isInteger)) draft.type = 'integer';
  // Both values of a boolean are all there are.
  if (draft.type === 'boolean' && literals.includes(true) && literals.includes(false)) return;
  draft.enum = literals;
}
