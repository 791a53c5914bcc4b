import type { StandardJSONSchemaV1 } from '@standard-schema/spec';
import { isJsonObject } from '../json.js';
import { equal } from '../value/equal.js';
import { refusalOptions } from './refusals.js';
import type { Problems } from './schema-error.js';
import { itemPath, propertyPath, valuePath } from './schema-path.js';

/** A schema's two sides as JSON Schema documents. */
export interface SchemaSides {
  readonly input: unknown;
  readonly output: unknown;
}

type Converter = StandardJSONSchemaV1.Converter;
type Side = keyof Converter;

// draft-07 before openapi-3.0: arktype has no openapi-3.0, valibot no exclusive bounds in it, and in zod's a tuple
// looks like a list of unions and a record loses its keys.
const targets = ['draft-07', 'openapi-3.0', 'draft-2020-12'] as const;

/** True for what follows the Standard JSON Schema: zod, arktype, valibot by `toStandardJsonSchema`. */
function isStandardJsonSchema(schema: unknown): schema is StandardJSONSchemaV1 {
  return typeof converterOf(schema)?.input === 'function' && typeof converterOf(schema)?.output === 'function';
}

function standardOf(schema: unknown): Partial<StandardJSONSchemaV1.Props> | undefined {
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null) return undefined;
  const standard: unknown = (schema as { readonly '~standard'?: unknown })['~standard'];
  return typeof standard === 'object' && standard !== null ? standard : undefined;
}

function converterOf(schema: unknown): Partial<Converter> | undefined {
  return standardOf(schema)?.jsonSchema;
}

/** Both sides of a schema of any kind; undefined, with the problem noted, when there is nothing to work with. */
export function readSchema(
  schema: unknown,
  path: string,
  problems: Problems,
  isLenient = false,
): SchemaSides | undefined {
  if (isStandardJsonSchema(schema)) return readStandard(schema, path, problems, isLenient);
  const vendor = standardOf(schema)?.vendor;
  if (vendor !== undefined) {
    problems.add(
      path,
      `the ${vendor} schema has no JSON Schema of its own; ` +
        (vendor === 'valibot'
          ? 'wrap it: toStandardJsonSchema(schema) of @valibot/to-json-schema'
          : 'use a version of the library that follows the Standard JSON Schema, or pass a JSON Schema'),
    );
    return undefined;
  }
  if (!isJsonObject(schema)) {
    problems.add(
      path,
      `must be a Standard JSON Schema (zod, arktype, valibot) or a JSON Schema object, got ${nameOf(schema)}`,
    );
    return undefined;
  }
  return { input: schema, output: schema };
}

function readStandard(
  schema: StandardJSONSchemaV1,
  path: string,
  problems: Problems,
  isLenient: boolean,
): SchemaSides | undefined {
  const before = problems.count;
  const ask = (side: Side): unknown => convert(schema, side, path, problems);
  const input = ask('input');
  const output = ask('output');
  if (problems.count > before) return undefined;
  // A library calls the function of a computed default on each read.
  if (!equal(input, ask('input')) || !equal(output, ask('output'))) {
    if (isLenient) {
      return {
        input: withoutMovingDefaults(input, ask('input')),
        output: withoutMovingDefaults(output, ask('output')),
      };
    }
    noteMovingDefaults(input, ask('input'), path, problems);
    if (problems.count === before) problems.add(path, 'the schema produces a different JSON Schema on each call');
  }
  return { input, output };
}

function convert(schema: StandardJSONSchemaV1, side: Side, path: string, problems: Problems): unknown {
  const { jsonSchema, vendor } = schema['~standard'];
  const options = refusalOptions(vendor);
  let reason: unknown;
  for (const target of targets) {
    try {
      const own = side === 'input' && vendor === 'arktype' ? arktypeInput(schema, options) : undefined;
      return own ?? jsonSchema[side]({ target, libraryOptions: options });
    } catch (error) {
      reason ??= error;
    }
  }
  const message = reason instanceof Error ? reason.message : String(reason);
  problems.add(path, `${vendor} cannot put the schema's ${side} into JSON Schema: ${message}`);
  return undefined;
}

/** arktype's own conversion keeps the defaults and notices morphs; its Standard JSON Schema drops both. */
function arktypeInput(schema: object, options: object | undefined): unknown {
  const { toJsonSchema } = schema as { readonly toJsonSchema?: unknown };
  if (typeof toJsonSchema !== 'function') return undefined;
  return toJsonSchema.call(schema, { target: 'draft-07', ...options });
}

function noteMovingDefaults(first: unknown, second: unknown, path: string, problems: Problems): void {
  if (!isJsonObject(first) || !isJsonObject(second)) return;
  if (!equal(first.default, second.default)) {
    problems.add(
      path,
      'the default is computed on each call, but a CustomResourceDefinition holds one fixed value; ' +
        "omit it from the schema and set it in the controller, or leave it to a webhook: beyondCrd: 'webhook'",
    );
    return;
  }
  const properties = isJsonObject(first.properties) ? first.properties : {};
  for (const [name, value] of Object.entries(properties)) {
    const other = isJsonObject(second.properties) ? second.properties[name] : undefined;
    noteMovingDefaults(value, other, propertyPath(path, name), problems);
  }
  noteMovingDefaults(first.items, second.items, itemPath(path), problems);
  noteMovingDefaults(first.additionalProperties, second.additionalProperties, valuePath(path), problems);
}

/** A JSON Schema document without the defaults that are another one in each call. */
function withoutMovingDefaults(first: unknown, second: unknown, isNames = false): unknown {
  if (Array.isArray(first)) return first.map((each, at) => withoutMovingDefaults(each, (second as unknown[])[at]));
  if (!isJsonObject(first) || !isJsonObject(second)) return first;
  const isKept = (name: string): boolean => isNames || name !== 'default' || equal(first.default, second.default);
  const kept = Object.entries(first).filter(([name]) => isKept(name));
  return Object.fromEntries(
    kept.map(([name, value]) => [name, withoutMovingDefaults(value, second[name], name === 'properties' && !isNames)]),
  );
}

function nameOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'an array' : typeof value;
}
