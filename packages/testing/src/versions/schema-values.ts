import type { Arbitrary } from 'fast-check';
import type { Json, StructuralSchema } from 'riata/object';
import { type FastCheck, stringValues } from './string-values.js';

/**
 * Values of a structural schema, edge cases included: optional fields and fields with defaults there or not, null where it
 * is allowed, lists and maps that are empty. What a combination of schemas (`oneOf` and the like) rules out may be among
 * them.
 */
export function schemaValues(fc: FastCheck, schema: StructuralSchema): Arbitrary<Json> {
  const own = combined(fc, schema);
  return schema.nullable === true ? fc.option(own, { freq: 5, nil: null }) : own;
}

/** One of the variants that the schema allows, laid over the rest of it. */
function combined(fc: FastCheck, schema: StructuralSchema): Arbitrary<Json> {
  const { anyOf, oneOf, allOf, not: _, ...rest } = schema;
  if (schema['x-kubernetes-int-or-string'] === true) return fc.oneof(fc.integer(), fc.string());
  if (allOf !== undefined) return combined(fc, { ...rest, anyOf, oneOf, ...overlay(rest, allOf) } as StructuralSchema);
  const variants = anyOf ?? oneOf;
  if (variants === undefined || variants.length === 0) return plain(fc, rest);
  const others = anyOf === undefined ? {} : { oneOf };
  return fc.oneof(
    ...variants.map((variant) => combined(fc, { ...rest, ...others, ...overlay(rest, [variant]) } as StructuralSchema)),
  );
}

function overlay(base: StructuralSchema, over: readonly StructuralSchema[]): StructuralSchema {
  let result = base;
  for (const one of over) {
    const properties = { ...result.properties };
    for (const [name, schema] of Object.entries(one.properties ?? {})) {
      properties[name] = { ...properties[name], ...schema };
    }
    const required = [...new Set([...(result.required ?? []), ...(one.required ?? [])])];
    result = {
      ...result,
      ...one,
      ...(Object.keys(properties).length > 0 ? { properties } : {}),
      ...(required.length > 0 ? { required } : {}),
    };
  }
  return result;
}

function plain(fc: FastCheck, schema: StructuralSchema): Arbitrary<Json> {
  if (schema.enum !== undefined && schema.enum.length > 0) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return integers(fc, schema);
    case 'number':
      return numbers(fc, schema);
    case 'string':
      return stringValues(fc, schema);
    case 'array':
      return lists(fc, schema);
    case 'object':
      return objects(fc, schema);
    default:
      return fc.jsonValue({ maxDepth: 2 }).filter((value) => value !== null) as Arbitrary<Json>;
  }
}

function integers(fc: FastCheck, schema: StructuralSchema): Arbitrary<number> {
  const { format, minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf = 1 } = schema;
  const [low, high] =
    format === 'int32' ? [-(2 ** 31), 2 ** 31 - 1] : [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];
  const least = Math.max(low, Math.ceil(minimum ?? low) + (exclusiveMinimum === true ? 1 : 0));
  const most = Math.min(high, Math.floor(maximum ?? high) - (exclusiveMaximum === true ? 1 : 0));
  const step = Number.isInteger(multipleOf) ? multipleOf : 1;
  const range = { min: Math.ceil(least / step), max: Math.max(Math.ceil(least / step), Math.floor(most / step)) };
  // A difference shows in small numbers as well, and those are easier to read.
  const small = { min: range.min, max: Math.max(range.min, Math.min(range.max, 10)) };
  const near = small.min > 10 || small.max < -10 ? small : { min: Math.max(small.min, -10), max: small.max };
  return fc.oneof({ weight: 3, arbitrary: fc.integer(near) }, fc.integer(range)).map((value) => value * step);
}

function numbers(fc: FastCheck, schema: StructuralSchema): Arbitrary<number> {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (multipleOf !== undefined) return integers(fc, { ...schema, multipleOf: Math.max(1, Math.ceil(multipleOf)) });
  return fc
    .double({
      ...{ min: minimum ?? -1e12, max: maximum ?? 1e12, noNaN: true, noDefaultInfinity: true },
      ...{ minExcluded: exclusiveMinimum ?? false, maxExcluded: exclusiveMaximum ?? false },
    })
    .map((value) => (Object.is(value, -0) ? 0 : value));
}

function lists(fc: FastCheck, schema: StructuralSchema): Arbitrary<Json> {
  const element = schemaValues(fc, schema.items ?? {});
  const minLength = schema.minItems ?? 0;
  const lengths = {
    minLength,
    maxLength: Math.max(minLength, Math.min(schema.maxItems ?? minLength + 3, minLength + 3)),
  };
  const keys = schema['x-kubernetes-list-map-keys'];
  if (schema['x-kubernetes-list-type'] === 'map' && keys !== undefined) {
    const selector = (value: Json) => JSON.stringify(keys.map((key) => (value as Record<string, Json>)[key] ?? null));
    return fc.uniqueArray(element, { ...lengths, selector });
  }
  if (schema['x-kubernetes-list-type'] === 'set') {
    return fc.uniqueArray(element, { ...lengths, selector: (value) => JSON.stringify(value) });
  }
  return fc.array(element, lengths);
}

function objects(fc: FastCheck, schema: StructuralSchema): Arbitrary<Json> {
  const { properties, required = [], additionalProperties, minProperties = 0 } = schema;
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  const embedded = isEmbedded
    ? fc.constant({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'embedded' } })
    : fc.constant({});
  const key = fc.oneof(fc.stringMatching(/^[a-z]{1,4}$/), fc.string({ minLength: 1, maxLength: 8 }));
  const maxKeys = Math.max(minProperties, Math.min(schema.maxProperties ?? minProperties + 3, minProperties + 3));
  if (additionalProperties !== undefined) {
    return fc.dictionary(key, schemaValues(fc, additionalProperties), {
      minKeys: minProperties,
      maxKeys,
      noNullPrototype: true,
    });
  }
  const known = Object.fromEntries(
    Object.entries(properties ?? {}).map(([name, member]) => [name, schemaValues(fc, member)]),
  );
  // A field with a default may be left out, whatever else is said.
  const requiredKeys = required.filter(
    (name) => known[name] !== undefined && properties?.[name]?.default === undefined,
  );
  const own = fc.record(known, { requiredKeys, noNullPrototype: true });
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const others = isOpen
    ? fc.dictionary(key, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2, noNullPrototype: true })
    : fc.constant({});
  return fc.tuple(others, own, embedded).map((parts) => Object.assign({}, ...parts) as Json);
}
