import { Buffer } from 'node:buffer';
import { escapeFieldName, type StructuralSchema } from 'riata/object';
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  mapOf,
  stringType,
  timestampType,
} from '../language/cel-type.js';

/** The facts of a schema for rules: the type of values, and their maximum size. */
export interface DeclaredType {
  readonly type: CelType;
  /** How many characters, elements or members there can be at most. */
  readonly maxElements: number;
  /** How long the JSON text is at least. */
  readonly minSize: number;
  /** Of objects, by the name in expressions. */
  readonly fields?: ReadonlyMap<string, DeclaredType>;
  /** Of the elements of a list and the values of a map. */
  readonly of?: DeclaredType;
  readonly key?: DeclaredType;
}

const maxRequestBytes = 3 * 1024 * 1024;
const longestText = maxRequestBytes - 2;

/** The schema of a resource: some of its metadata can always be named. */
export function withTypeAndMeta(schema: StructuralSchema): StructuralSchema {
  const text: StructuralSchema = { type: 'string' };
  const metadata: StructuralSchema = { type: 'object', properties: { name: text, generateName: text } };
  return { ...schema, properties: { ...schema.properties, kind: text, apiVersion: text, metadata } };
}

/** Undefined for what expressions cannot see. The names of object types begin with `name`. */
export function declaredType(schema: StructuralSchema, isRoot: boolean, name: string): DeclaredType | undefined {
  if (schema['x-kubernetes-int-or-string'] === true) {
    return { type: dynType, maxElements: maxLengthOf(schema) ?? longestText, minSize: 1 };
  }
  const own = isRoot ? withTypeAndMeta(schema) : schema;
  switch (own.type) {
    case 'array':
      return listType(own, name);
    case 'object':
      return own.additionalProperties === undefined ? objectType(own, name) : mapType(own, name);
    case 'string':
      return textType(own);
    case 'boolean':
      return { type: boolType, maxElements: 1, minSize: 4 };
    case 'number':
      return { type: doubleType, maxElements: 1, minSize: 1 };
    case 'integer':
      return { type: intType, maxElements: 1, minSize: 1 };
    default:
      return undefined;
  }
}

const below = (schema: StructuralSchema, name: string) =>
  declaredType(schema, schema['x-kubernetes-embedded-resource'] === true, name);

function listType(schema: StructuralSchema, name: string): DeclaredType | undefined {
  const of = schema.items && below(schema.items, `${name}.@idx`);
  if (of === undefined) return undefined;
  const maxElements = atLeastZero(schema.maxItems) ?? Math.floor(longestText / (of.minSize + 1));
  return { type: listOf(of.type), maxElements, minSize: 2, of };
}

function mapType(schema: StructuralSchema, name: string): DeclaredType | undefined {
  const of = schema.additionalProperties && below(schema.additionalProperties, `${name}.@elem`);
  if (of === undefined) return undefined;
  const maxElements = atLeastZero(schema.maxProperties) ?? Math.floor(longestText / (of.minSize + 6));
  // Upstream knows no limit for keys, and counts them as nothing.
  const key = { type: stringType, maxElements: 0, minSize: 2 };
  return { type: mapOf(stringType, of.type), maxElements, minSize: 2, of, key };
}

function objectType(schema: StructuralSchema, name: string): DeclaredType {
  const fields = new Map<string, DeclaredType>();
  let minSize = 2;
  for (const [property, of] of Object.entries(schema.properties ?? {})) {
    const escaped = escapeFieldName(property);
    const type = below(of, `${name}.${escaped ?? property}`);
    if (type === undefined) continue;
    if (escaped !== undefined) fields.set(escaped, type);
    // Words that only the grammar knows may also stand as they are.
    if (escaped === `__${property}__`) fields.set(property, type);
    if (schema.required?.includes(property) && of.default === undefined) {
      minSize += Buffer.byteLength(property) + type.minSize + 4;
    }
  }
  const types = new Map([...fields].map(([field, { type }]) => [field, type]));
  return { type: { kind: 'object', name, fields: types }, maxElements: 1, minSize, fields };
}

function textType(schema: StructuralSchema): DeclaredType {
  switch (schema.format) {
    case 'byte':
      return { type: bytesType, maxElements: atLeastZero(schema.maxLength) ?? longestText, minSize: 2 };
    case 'duration':
      return { type: durationType, maxElements: 32, minSize: 3 };
    case 'date':
      return { type: timestampType, maxElements: 12, minSize: 12 };
    case 'date-time':
      return { type: timestampType, maxElements: 32, minSize: 21 };
    default: {
      const choices = (schema.enum ?? []).filter((value) => typeof value === 'string');
      const longest = choices.length === 0 ? longestText : Math.max(...choices.map((text) => Buffer.byteLength(text)));
      return { type: stringType, maxElements: maxLengthOf(schema) ?? longest, minSize: 2 };
    }
  }
}

/** In bytes: a character has up to four. */
function maxLengthOf(schema: StructuralSchema): number | undefined {
  const length = atLeastZero(schema.maxLength);
  return length === undefined ? undefined : length * 4;
}

function atLeastZero(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.max(0, value);
}

/** How large the value at a path below `self` or `oldSelf` can be. */
export function sizeAt(root: DeclaredType, path: readonly string[]): number | undefined {
  let at: DeclaredType | undefined = root;
  for (const name of path.slice(1)) {
    at = name === '@items' || name === '@values' ? at.of : name === '@keys' ? at.key : at.fields?.get(name);
    if (at === undefined) return undefined;
  }
  return at.maxElements;
}

/** How often the data of a schema can stand in one request. */
export function maxCardinality({ minSize }: DeclaredType): number {
  return Math.floor(maxRequestBytes / (minSize + 1));
}
