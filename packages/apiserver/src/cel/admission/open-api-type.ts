import { isJsonObject, type Json, type JsonObject, type StructuralSchema } from 'riata/object';
import type { CelType } from '../language/cel-type.js';
import { type DeclaredType, declaredType } from '../rules/declared-type.js';

/** The type of objects whose schema stands among OpenAPI definitions; undefined if expressions cannot see them. */
export function openApiType(schema: JsonObject, definitions: JsonObject, typeName: string): CelType | undefined {
  return openApiDeclared(schema, definitions, typeName)?.type;
}

/**
 * As {@link openApiType}, with the sizes that values can have. With `fills`, what upstream's types have no word for, such as
 * a quantity, may be anything; otherwise such a field does not exist, as for upstream.
 */
export function openApiDeclared(
  schema: JsonObject,
  definitions: JsonObject,
  typeName: string,
  fills = false,
): DeclaredType | undefined {
  return declaredType(new Resolver(definitions, fills).resolved(schema, new Set()), false, typeName);
}

const anything: StructuralSchema = { 'x-kubernetes-int-or-string': true };

class Resolver {
  readonly #definitions: JsonObject;
  readonly #fills: boolean;

  constructor(definitions: JsonObject, fills: boolean) {
    this.#definitions = definitions;
    this.#fills = fills;
  }

  /** A schema with what it refers to put in; what would contain itself is an object without fields. */
  resolved(schema: JsonObject, around: ReadonlySet<string>): StructuralSchema {
    const ref = refOf(schema);
    if (ref === undefined) return this.#withParts(schema, around);
    if (around.has(ref)) return this.#fills ? anything : { type: 'object' };
    const found = this.#definitions[ref];
    return isJsonObject(found) ? this.#withParts(found, new Set([...around, ref])) : {};
  }

  #withParts(schema: JsonObject, around: ReadonlySet<string>): StructuralSchema {
    const below = (part: Json | undefined) => (isJsonObject(part) ? this.resolved(part, around) : undefined);
    const { type, format, properties, items, additionalProperties } = schema;
    const isEither = format === 'int-or-string' || schema['x-kubernetes-int-or-string'] === true;
    if (this.#fills && (typeof type !== 'string' || isShapeless(schema))) return anything;
    const parts: Record<string, unknown> = {
      ...(typeof type === 'string' ? { type } : {}),
      ...(typeof format === 'string' ? { format } : {}),
      ...(isEither ? { 'x-kubernetes-int-or-string': true } : {}),
    };
    if (isJsonObject(properties)) {
      const entries = Object.entries(properties).map(([name, part]) => [name, below(part) ?? {}] as const);
      parts.properties = Object.fromEntries(entries);
    }
    const [element, member] = [below(items), below(additionalProperties)];
    if (element !== undefined) parts.items = element;
    if (member !== undefined) parts.additionalProperties = member;
    return parts as StructuralSchema;
  }
}

/** An object of which nothing is known, such as one with fields of the user's own. */
function isShapeless({ type, properties, additionalProperties }: JsonObject): boolean {
  return type === 'object' && properties === undefined && !isJsonObject(additionalProperties);
}

/** A reference, alone or wrapped so that something can be said beside it. */
function refOf({ $ref, allOf }: JsonObject): string | undefined {
  const first = Array.isArray(allOf) ? allOf[0] : undefined;
  const text = $ref ?? (isJsonObject(first) ? first.$ref : undefined);
  return typeof text === 'string' ? text.slice(text.lastIndexOf('/') + 1) : undefined;
}
