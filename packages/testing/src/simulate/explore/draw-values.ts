import { isJsonObject, type Json, type StructuralSchema } from 'riata/object';
import { schemaProblems } from '../../versions/schema-problems.js';
import { schemaValues } from '../../versions/schema-values.js';
import type { FastCheck } from '../../versions/string-values.js';
import type { DrawValues } from './schema-changes.js';

/** How many values are drawn of each schema, to take the smallest and the largest of them. */
const drawn = 24;

/**
 * Draws values for the changes of a simulation. They are tamer than those for round trips: fields often become names of
 * objects or numbers of replicas, and a name of control characters or a billion replicas show nothing but that.
 */
export function drawValues(fc: FastCheck, seed: number): DrawValues {
  return (schema) => {
    const values = fc.sample(schemaValues(fc, tamed(schema)), { numRuns: drawn, seed });
    const texts = new Set<string>();
    for (const value of values) {
      if (hasPlainKeys(value) && schemaProblems(schema, value).length === 0) texts.add(JSON.stringify(value));
    }
    return [...texts].sort((a, b) => a.length - b.length || (a < b ? -1 : 1)).map((text) => JSON.parse(text) as Json);
  };
}

/** The same schema with short words and small numbers where it leaves both open. */
function tamed(schema: StructuralSchema): StructuralSchema {
  if (schema['x-kubernetes-int-or-string'] === true) return { type: 'integer', minimum: 1, maximum: 3 };
  const { properties, items, additionalProperties, anyOf, oneOf, allOf } = schema;
  const each = (list: readonly StructuralSchema[]) => list.map(tamed);
  return {
    ...schema,
    ...tamedScalar(schema),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, tamed(member)])),
    }),
    ...(items && { items: tamed(items) }),
    ...(additionalProperties && { additionalProperties: tamed(additionalProperties) }),
    ...(anyOf && { anyOf: each(anyOf) }),
    ...(oneOf && { oneOf: each(oneOf) }),
    ...(allOf && { allOf: each(allOf) }),
  };
}

function tamedScalar(schema: StructuralSchema): StructuralSchema {
  const { type, enum: values, format, pattern, minLength = 0, maxLength = 8, minimum, maximum } = schema;
  if (values !== undefined) return {};
  if (type === 'string' && format === undefined && pattern === undefined) {
    const least = Math.max(1, minLength);
    return { pattern: `^[a-z]{${least},${Math.max(least, Math.min(maxLength, least + 5))}}$`, minLength: 0 };
  }
  if (type !== 'integer' && type !== 'number') return {};
  const least = Math.max(minimum ?? 0, -10);
  const most = Math.min(maximum ?? least + 3, least + 3);
  return (minimum ?? 0) > most ? {} : { minimum: least, maximum: most };
}

function hasPlainKeys(value: Json): boolean {
  if (Array.isArray(value)) return (value as readonly Json[]).every(hasPlainKeys);
  if (!isJsonObject(value)) return true;
  return Object.entries(value).every(([key, each]) => /^[A-Za-z][\w-]*$/.test(key) && hasPlainKeys(each as Json));
}
