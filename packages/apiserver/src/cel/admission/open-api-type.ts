import { isJsonObject, type Json, type JsonObject, type StructuralSchema } from 'riata/object';
import type { CelType } from '../language/cel-type.js';
import { declaredType } from '../rules/declared-type.js';

/** The type of objects whose schema stands among OpenAPI definitions; undefined if expressions cannot see them. */
export function openApiType(schema: JsonObject, definitions: JsonObject, typeName: string): CelType | undefined {
  return declaredType(resolved(schema, definitions, new Set()), false, typeName)?.type;
}

/** A schema with what it refers to put in; what would contain itself is an object without fields. */
function resolved(schema: JsonObject, definitions: JsonObject, around: ReadonlySet<string>): StructuralSchema {
  const ref = refOf(schema);
  if (ref === undefined) return withParts(schema, definitions, around);
  if (around.has(ref)) return { type: 'object' };
  const found = definitions[ref];
  return isJsonObject(found) ? withParts(found, definitions, new Set([...around, ref])) : {};
}

function withParts(schema: JsonObject, definitions: JsonObject, around: ReadonlySet<string>): StructuralSchema {
  const below = (part: Json | undefined) => (isJsonObject(part) ? resolved(part, definitions, around) : undefined);
  const { type, format, properties, items, additionalProperties } = schema;
  const isEither = format === 'int-or-string' || schema['x-kubernetes-int-or-string'] === true;
  const parts: Record<string, unknown> = {
    ...(typeof type === 'string' ? { type } : {}),
    ...(typeof format === 'string' ? { format } : {}),
    ...(isEither ? { 'x-kubernetes-int-or-string': true } : {}),
  };
  if (isJsonObject(properties)) {
    parts.properties = Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, below(part) ?? {}]));
  }
  const [element, member] = [below(items), below(additionalProperties)];
  if (element !== undefined) parts.items = element;
  if (member !== undefined) parts.additionalProperties = member;
  return parts as StructuralSchema;
}

/** A reference, alone or wrapped so that something can be said beside it. */
function refOf({ $ref, allOf }: JsonObject): string | undefined {
  const first = Array.isArray(allOf) ? allOf[0] : undefined;
  const text = $ref ?? (isJsonObject(first) ? first.$ref : undefined);
  return typeof text === 'string' ? text.slice(text.lastIndexOf('/') + 1) : undefined;
}
