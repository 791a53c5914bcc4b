import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { setOwn } from '../value/own.js';
import { anything, type Conversion, orNull, unknownSchema } from './conversion.js';
import { convertPlain } from './convert-plain.js';
import { intersectSchemas } from './intersect-schemas.js';
import { type Refusal, refusalKey, refusalsOf } from './refusals.js';
import { resolveRef } from './resolve-ref.js';
import { knownFormat } from './string-keywords.js';
import { type CelRule, extensionKeywords, type StructuralDraft, type StructuralSchema } from './structural-schema.js';
import { uniteSchemas, type Variant } from './unite-schemas.js';

// Where these stand, a schema has a shape of its own, and is not just a remark on the branches beside it.
const shaping = [
  'type',
  'properties',
  'items',
  'additionalProperties',
  'enum',
  'const',
  'required',
  'patternProperties',
];

/**
 * A JSON Schema (any draft, or OpenAPI 3.0) as the structural schema that an API server accepts. Reports what cannot be
 * expressed as a problem with its path. `shape` lends types to a branch that only restricts the schema beside it.
 */
export function convertSchema(
  node: unknown,
  path: string,
  conversion: Conversion,
  shape?: StructuralSchema,
): StructuralSchema {
  const { problems } = conversion;
  if (node === true) return convertSchema({}, path, conversion, shape);
  if (!isJsonObject(node)) {
    problems.add(path, node === false ? 'no value is valid here (never); omit the field' : 'is not a JSON Schema');
    return unknownSchema;
  }
  if (typeof node.$ref === 'string') return convertRef(node, node.$ref, path, conversion, shape);
  const source = withExtension(node, path, conversion);
  const before = problems.count;
  if (source['x-kubernetes-int-or-string'] === true)
    return annotate(source, convertPlain(source, path, conversion), path, conversion);
  noteRefusals(source, path, conversion);
  let result = convertShape(source, path, conversion, shape);
  // Asked to keep whatever is there, the schema need not say what that is.
  if (problems.count > before && source['x-kubernetes-preserve-unknown-fields'] === true) {
    problems.rewind(before);
    result = openSchema(source);
  }
  return annotate(source, result, path, conversion);
}

function convertShape(
  source: JsonObject,
  path: string,
  conversion: Conversion,
  shape: StructuralSchema | undefined,
): StructuralSchema {
  const { allOf, anyOf, oneOf, ...rest } = source;
  if (Array.isArray(allOf) && allOf.length > 0) return convertAllOf(source, allOf, path, conversion, shape);
  const branches = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined;
  if (branches === undefined) return convertPlain(rest, path, conversion, shape);
  if (Array.isArray(anyOf) && Array.isArray(oneOf)) {
    conversion.problems.add(path, 'has both anyOf and oneOf; keep one, or write a CEL rule for the other');
    return unknownSchema;
  }
  const { base, lent } = baseOf(rest, shape, (own) => convertPlain(own, path, conversion, shape));
  const inner = withoutExtension(conversion, path);
  if (isAnyJson(branches.map((branch) => followRefs(branch, conversion)))) return anything;
  const variants = branches.map((branch): Variant => {
    const target = followRefs(branch, conversion);
    if (isNull(target)) return 'null';
    const converted = convertSchema(branch, path, inner, lent);
    return {
      schema: base === undefined ? converted : intersectSchemas(base, converted, path, conversion.problems),
      closed: conversion.closes && isJsonObject(target) && target.additionalProperties === false,
    };
  });
  return uniteSchemas(Array.isArray(anyOf) ? 'anyOf' : 'oneOf', variants, path, conversion.problems);
}

/** The schema beside the branches of a junctor: a schema of its own, or only a type for the branches. */
function baseOf(
  rest: JsonObject,
  shape: StructuralSchema | undefined,
  convert: (own: JsonObject) => StructuralSchema,
): { readonly base: StructuralSchema | undefined; readonly lent: StructuralSchema | undefined } {
  const said = [...shaping, 'anyOf', 'oneOf'].filter((name) => rest[name] !== undefined);
  if (said.length === 0) return { base: undefined, lent: shape };
  if (said.length === 1 && (rest.type === 'object' || rest.type === 'array')) {
    return { base: undefined, lent: shape ?? { type: rest.type } };
  }
  const base = convert(rest);
  return { base, lent: base };
}

function convertAllOf(
  source: JsonObject,
  allOf: readonly Json[],
  path: string,
  conversion: Conversion,
  shape: StructuralSchema | undefined,
): StructuralSchema {
  const { allOf: _, ...rest } = source;
  const inner = withoutExtension(conversion, path);
  const { base, lent } = baseOf(rest, shape, (own) => convertSchema(own, path, inner, shape));
  let result = base;
  for (const branch of allOf) {
    const next = convertSchema(branch, path, inner, result ?? lent);
    result = result === undefined ? next : intersectSchemas(result, next, path, conversion.problems);
  }
  return result ?? unknownSchema;
}

function convertRef(
  node: JsonObject,
  ref: string,
  path: string,
  conversion: Conversion,
  shape: StructuralSchema | undefined,
): StructuralSchema {
  const target = resolveRef(conversion.root, ref);
  if (!isJsonObject(target)) {
    conversion.problems.add(path, `$ref ${JSON.stringify(ref)} does not resolve within the schema; write it inline`);
    return unknownSchema;
  }
  const { $ref: _, ...beside } = node;
  const keeps = { ...withExtension({ ...target, ...beside }, path, conversion) };
  if (conversion.within.includes(target)) {
    if (keeps['x-kubernetes-preserve-unknown-fields'] === true)
      return annotate(keeps, openSchema(keeps), path, conversion);
    conversion.problems.add(
      path,
      'the schema is recursive here, which a structural schema cannot be; end it with ' +
        `extend: { ${JSON.stringify(path)}: { 'x-kubernetes-preserve-unknown-fields': true } }`,
    );
    return unknownSchema;
  }
  return convertSchema(
    { ...target, ...beside },
    path,
    { ...conversion, within: [...conversion.within, target] },
    shape,
  );
}

function followRefs(node: unknown, conversion: Conversion): unknown {
  let at = node;
  for (let hops = 0; hops < 20 && isJsonObject(at) && typeof at.$ref === 'string'; hops += 1) {
    at = resolveRef(conversion.root, at.$ref);
  }
  return at;
}

/** True for the union of all JSON types, as z.json() is. */
function isAnyJson(branches: readonly unknown[]): boolean {
  const types = branches.map((branch) => (isJsonObject(branch) ? branch.type : undefined));
  return ['string', 'number', 'boolean', 'array', 'object'].every((type) => types.includes(type));
}

function isNull(node: unknown): boolean {
  if (!isJsonObject(node)) return false;
  if (node.type === 'null' || node.const === null) return true;
  return Array.isArray(node.enum) && node.enum.length === 1 && node.enum[0] === null;
}

/** The keywords that remain for a value of any type. */
function openSchema(source: JsonObject): StructuralSchema {
  return source.type === 'object' ? { type: 'object' } : {};
}

/** Branches of a node have its path: keywords laid over the node must not be laid over each branch again. */
function withoutExtension(conversion: Conversion, path: string): Conversion {
  const { [path]: _, ...extend } = conversion.extend;
  return { ...conversion, extend };
}

function withExtension(node: JsonObject, path: string, conversion: Conversion): JsonObject {
  const extension = Object.hasOwn(conversion.extend, path) ? conversion.extend[path] : undefined;
  if (extension === undefined) return node;
  conversion.met.add(path);
  const rules = [...rulesOf(node), ...rulesOf(extension)];
  const laid = { ...node, ...(extension as object) };
  return rules.length > 0 ? { ...laid, 'x-kubernetes-validations': rules as unknown as Json } : laid;
}

function rulesOf(node: object): readonly CelRule[] {
  const rules: unknown = (node as Record<string, unknown>)['x-kubernetes-validations'];
  return Array.isArray(rules) ? rules : [];
}

const byWebhook = "or leave it to a webhook: beyondCrd: 'webhook'";

const remedies: Readonly<Record<Refusal['is'], (path: string) => string>> = {
  refinement: (path) =>
    `is not in the JSON Schema, so no server would check it; say it in CEL: ` +
    `extend: { ${JSON.stringify(path)}: { 'x-kubernetes-validations': [{ rule: … }] } }, ${byWebhook}`,
  rewrite: () =>
    'makes what is read differ from what was written, and a server stores what was written; ' +
    `describe the stored form, ${byWebhook}`,
  transform: () =>
    'makes what is read differ from what was written, and a server stores what was written; ' +
    'describe the stored form and convert it in the controller',
  type: (path) =>
    'has no JSON form; describe the value as it is on the wire, e.g. a string with a format, or have servers take any: ' +
    `extend: { ${JSON.stringify(path)}: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }`,
};

function noteRefusals(source: JsonObject, path: string, { problems, isLenient }: Conversion): void {
  for (const { is, what } of refusalsOf(source)) {
    if (isLenient && (is === 'refinement' || is === 'rewrite')) continue;
    if (is === 'refinement' && (rulesOf(source).length > 0 || isFormatCheck(source))) continue;
    problems.add(path, `${what} ${remedies[is](path)}`);
  }
  // TypeBox keeps its transforms under a symbol.
  for (const symbol of Object.getOwnPropertySymbols(source)) {
    if (symbol.description === 'TypeBox.Transform') problems.add(path, `Type.Transform() ${remedies.transform(path)}`);
  }
}

/** arktype checks some formats, such as string.url, by a predicate of its own: the format says the same. */
function isFormatCheck(source: JsonObject): boolean {
  const [first, ...more] = refusalsOf(source);
  return first?.what === '.narrow()' && more.length === 0 && knownFormat('string', source.format) !== undefined;
}

/** Adds what the source says about the value besides its shape. */
function annotate(source: JsonObject, shape: StructuralSchema, path: string, conversion: Conversion): StructuralSchema {
  const result: StructuralDraft = {};
  if (typeof source.description === 'string') result.description = source.description;
  Object.assign(result, source.nullable === true && shape.nullable !== true ? orNull(shape) : shape);
  if (typeof source.description === 'string') result.description = source.description;
  if (source.default !== undefined) {
    if (isJsonObject(source.default) && source.default[refusalKey] !== undefined) {
      conversion.problems.add(path, 'the default is not JSON; give the value as it is on the wire');
    } else result.default = source.default;
  }
  for (const [name, value] of Object.entries(source)) {
    if (!name.startsWith('x-kubernetes-')) continue;
    if ((extensionKeywords as readonly string[]).includes(name)) setOwn(result, name, value);
    else
      conversion.problems.add(
        path,
        `${name} is not an extension of CRD schemas; known are ${extensionKeywords.join(', ')}`,
      );
  }
  return result;
}
