import { Buffer } from 'node:buffer';
import { equal, escapeFieldName, isJsonObject, type Json, type JsonObject, type StructuralSchema } from 'riata/object';
import { CelError } from '../language/cel-error.js';
import {
  Duration,
  equals,
  itemsOf,
  type List,
  type ListRule,
  list,
  type Mapping,
  type OpaqueValue,
  Timestamp,
  type Value,
} from '../language/value.js';
import { parseDuration, parseTimestamp } from '../library/time-text.js';
import { withTypeAndMeta } from './declared-type.js';

/** JSON as rules see it. Inner values are converted on first use. */
export function schemaValue(json: Json, schema: StructuralSchema, typeName: string): Value {
  if (json === null) {
    if (schema.nullable === true) return null;
    throw new CelError('invalid data, got null for schema with nullable=false');
  }
  if (schema['x-kubernetes-int-or-string'] === true) {
    if (typeof json === 'string') return json;
    if (typeof json === 'number' && Number.isInteger(json)) return BigInt(json);
    throw new CelError('invalid data, expected XIntOrString value to be either a string or integer');
  }
  switch (schema.type) {
    case 'object':
      if (!isJsonObject(json))
        throw new CelError('invalid data, expected a map for the provided schema with type=object');
      return objectValue(json, schema, typeName);
    case 'array':
      if (!Array.isArray(json)) {
        throw new CelError('invalid data, expected an array for the provided schema with type=array');
      }
      return listValue(json, schema, typeName);
    case 'string':
      if (typeof json !== 'string') throw new CelError(`invalid data, expected string, got ${typeof json}`);
      return textValue(json, schema.format);
    case 'number':
      if (typeof json !== 'number') throw new CelError(`invalid data, expected float, got ${typeof json}`);
      return json;
    case 'integer':
      if (typeof json !== 'number') throw new CelError(`invalid data, expected int, got ${typeof json}`);
      return BigInt(json);
    case 'boolean':
      if (typeof json !== 'boolean') throw new CelError(`invalid data, expected bool, got ${typeof json}`);
      return json;
    default:
      return new Preserved(json);
  }
}

/** A value without a type in the schema: it can only be compared. */
class Preserved implements OpaqueValue {
  readonly isOpaque = true;
  readonly typeName = 'unknown';
  readonly #json: Json;

  constructor(json: Json) {
    this.#json = json;
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof Preserved && equal(this.#json, other.#json);
  }
}

function objectValue(json: JsonObject, given: StructuralSchema, typeName: string): Mapping {
  const schema = given['x-kubernetes-embedded-resource'] === true ? withTypeAndMeta(given) : given;
  const { properties, additionalProperties } = schema;
  const isMap = properties === undefined && additionalProperties !== undefined;
  const nameOf = (property: string) => (isMap ? property : escapeFieldName(property));
  const own = Object.keys(json).filter((key) => isMap || (properties !== undefined && Object.hasOwn(properties, key)));
  const byName = new Map<string, string>();
  for (const property of own) {
    const name = nameOf(property);
    if (name !== undefined) byName.set(name, property);
  }
  return {
    isMapping: true,
    size: byName.size,
    typeName: isMap ? undefined : typeName,
    keys: () => [...byName.keys()],
    get: (key) => {
      if (typeof key !== 'string') return undefined;
      const property = byName.get(key) ?? byName.get(`__${key}__`);
      if (property === undefined) return undefined;
      const of = isMap ? additionalProperties : properties?.[property];
      const value = json[property];
      if (of === undefined || value === undefined) return undefined;
      return schemaValue(value, of, isMap ? `${typeName}.@elem` : `${typeName}.${key}`);
    },
  };
}

function listValue(json: readonly Json[], schema: StructuralSchema, typeName: string): List {
  const { items } = schema;
  if (items === undefined) throw new CelError('invalid array type, expected Items with a non-empty Schema');
  const rule = ruleOf(schema);
  return {
    isList: true,
    size: json.length,
    at: (index) => schemaValue(json[index] as Json, items, `${typeName}.@idx`),
    ...(rule && { rule }),
  };
}

function ruleOf(schema: StructuralSchema): ListRule | undefined {
  if (schema['x-kubernetes-list-type'] === 'set') return setRule;
  if (schema['x-kubernetes-list-type'] !== 'map') return undefined;
  const keys = (schema['x-kubernetes-list-map-keys'] ?? []).map((key) => escapeFieldName(key) ?? key);
  const sameKeys = (a: Value, b: Value) => keys.every((key) => equals(memberOf(a, key), memberOf(b, key)));
  const rule: ListRule = {
    equals: (a, b) =>
      a.size === b.size &&
      itemsOf(b).every((item) => itemsOf(a).some((other) => sameKeys(item, other) && equals(other, item))),
    add: (a, b) => {
      const merged = itemsOf(a);
      for (const item of itemsOf(b)) {
        const at = merged.findIndex((other) => sameKeys(item, other));
        if (at < 0) merged.push(item);
        else merged[at] = item;
      }
      return { ...list(merged), rule };
    },
  };
  return rule;
}

function memberOf(of: Value, key: string): Value {
  return (of as Mapping).get?.(key) ?? null;
}

const setRule: ListRule = {
  equals: (a, b) => {
    const own = itemsOf(a);
    return a.size === b.size && itemsOf(b).every((item) => own.some((other) => equals(item, other)));
  },
  add: (a, b) => {
    const own = itemsOf(a);
    const more = itemsOf(b).filter((item) => !own.some((other) => equals(item, other)));
    return { ...list([...own, ...more]), rule: setRule };
  },
};

function textValue(text: string, format: string | undefined): Value {
  switch (format) {
    case 'duration':
      return new Duration(parseDuration(text));
    case 'date':
      return new Timestamp(parseTimestamp(`${text}T00:00:00Z`));
    case 'date-time':
      return new Timestamp(parseTimestamp(text));
    case 'byte':
      return Buffer.from(text, 'base64');
    default:
      return text;
  }
}
