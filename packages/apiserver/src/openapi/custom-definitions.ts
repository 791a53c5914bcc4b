import { isJsonObject, type Json, type JsonObject } from 'riata/object';
import type { Resource } from '../resource/resource.js';
import { customKindName } from './definition-names.js';
import { type Definitions, type Dialect, kindExtension } from './definitions.js';

/** Refers to a custom kind: the schema of its definition, with the fields of every object. */
export function customKind(definitions: Definitions, dialect: Dialect, resource: Resource): JsonObject {
  const { group, version, kind } = resource;
  return definitions.add(customKindName(group, version, kind), () => customSchema(definitions, dialect, resource));
}

/** Refers to the list of a custom kind. */
export function customList(definitions: Definitions, dialect: Dialect, resource: Resource): JsonObject {
  const { group, version, listKind } = resource;
  const item = customKind(definitions, dialect, resource);
  const named = { group, version, kind: listKind };
  return definitions.add(customKindName(group, version, listKind), () => ({
    ...definitions.listOf(item, named, false),
    ...selectableFields(resource),
  }));
}

function customSchema(definitions: Definitions, dialect: Dialect, resource: Resource): JsonObject {
  const { definition = {} } = resource;
  const given = definition.schema?.openAPIV3Schema as JsonObject | undefined;
  const extension = kindExtension([resource]);
  const isOpen = given?.['x-kubernetes-preserve-unknown-fields'] === true;
  // In v2 a client would take what is not named for an error.
  if (given === undefined || (dialect === 'v2' && isOpen)) return { type: 'object', ...extension };
  const meta = definitions.meta('ObjectMeta');
  const metadata = dialect === 'v3' ? { allOf: [meta] } : meta;
  const schema = published(given, dialect, metadata);
  const properties = { ...asObject(schema.properties), ...typeMeta, metadata };
  return { ...schema, properties: sorted(properties), ...extension, ...selectableFields(resource) };
}

/** Which fields selectors may name. */
function selectableFields({ definition }: Resource): JsonObject {
  const fields = definition?.selectableFields ?? [];
  const paths = fields.map(({ jsonPath = '' }) => ({ fieldPath: jsonPath.replace(/^\./, '') }));
  return paths.length === 0 ? {} : { 'x-kubernetes-selectable-fields': paths };
}

const typeMeta: JsonObject = { apiVersion: { type: 'string' }, kind: { type: 'string' } };

/** A schema of a definition as it is published: complete in v3, without what v2 cannot say there. */
function published(schema: JsonObject, dialect: Dialect, metadata: JsonObject): JsonObject {
  const plain = dialect === 'v2' ? forV2(schema) : unfolded(schema);
  const { properties, items, additionalProperties: more } = plain;
  const below = (inner: Json | undefined) =>
    isJsonObject(inner) ? published(inner, dialect, metadata) : (inner as Json);
  const made: JsonObject = {
    ...plain,
    ...(isJsonObject(properties)
      ? { properties: Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, below(inner)])) }
      : {}),
    ...(items === undefined ? {} : { items: below(items) }),
    ...(more === undefined ? {} : { additionalProperties: below(more) }),
  };
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (schema['x-kubernetes-embedded-resource'] !== true || (dialect === 'v2' && isOpen)) return made;
  const required = new Set([...(Array.isArray(made.required) ? made.required : []), 'kind', 'apiVersion']);
  return { ...made, properties: { ...asObject(made.properties), ...typeMeta, metadata }, required: [...required] };
}

const either: Json = [{ type: 'integer' }, { type: 'string' }];

/** Says of an integer or string that it is one of them, unless that is said already. */
function unfolded(schema: JsonObject): JsonObject {
  if (schema['x-kubernetes-int-or-string'] !== true) return schema;
  const { anyOf, allOf } = schema;
  const first = Array.isArray(allOf) ? allOf[0] : undefined;
  if (saysEither(anyOf) || (isJsonObject(first) && saysEither(first.anyOf))) return schema;
  if (anyOf === undefined) return { ...schema, anyOf: either };
  return { ...schema, allOf: [{ anyOf: either }, ...(Array.isArray(allOf) ? allOf : [])] };
}

function saysEither(anyOf: Json | undefined): boolean {
  const types = Array.isArray(anyOf) ? anyOf.map((one) => (isJsonObject(one) ? one.type : undefined)) : [];
  return types.length === 2 && types[0] === 'integer' && types[1] === 'string';
}

/** Features that clients of v2 cannot read are left out. */
function forV2(schema: JsonObject): JsonObject {
  const { allOf: _a, oneOf: _o, anyOf: _y, not: _n, default: _d, nullable, ...rest } = schema;
  const kept: Record<string, Json | undefined> = { ...rest };
  const isOpen = kept['x-kubernetes-preserve-unknown-fields'] === true;
  if (nullable === true || isOpen) {
    delete kept.items;
    delete kept.properties;
  }
  const lacksItems = kept.type === 'array' && kept.items === undefined;
  if (nullable === true || lacksItems || (isOpen && kept.type === 'object')) delete kept.type;
  return withoutNullableRequired(kept as JsonObject);
}

function withoutNullableRequired(schema: JsonObject): JsonObject {
  const { required, properties, additionalProperties: more, ...rest } = schema;
  const known = asObject(properties);
  const isNullable = (inner: Json | undefined) => isJsonObject(inner) && inner.nullable === true;
  const names = Array.isArray(required) ? required.filter((name) => !isNullable(known[String(name)])) : [];
  return {
    ...rest,
    ...(names.length === 0 || isNullable(more) ? {} : { required: names }),
    ...(properties === undefined ? {} : { properties }),
    ...(more === undefined ? {} : { additionalProperties: more }),
  };
}

function asObject(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function sorted(properties: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(properties).sort(([a], [b]) => (a < b ? -1 : 1)));
}
