import { isJsonObject, type Json, type JsonObject } from 'riata/object';

/** What a value of a chart is, as far as templates care. `any`: a union, or anything. */
export type ValueType = 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'map' | 'object' | 'any';

/** A value of a chart, or a group of values. */
export interface ValueNode {
  /** From the root: `['image', 'tag']`. */
  readonly path: readonly string[];
  readonly type: ValueType;
  /** It, or a group that it is in, may be absent. */
  readonly isOptional: boolean;
  readonly description: string | undefined;
  /** Undefined without one. */
  readonly default: Json | undefined;
  /** All that it may be, if the schema lists it. */
  readonly choices: readonly Json[];
  /** Of an `object`, by name. */
  readonly properties: Readonly<Record<string, ValueNode>>;
}

/** Reads the JSON Schema of a chart's values. */
export function readValuesSchema(schema: JsonObject): ValueNode {
  const root = nodeOf(schema, [], false, schema);
  if (root.type !== 'object') throw new TypeError('chart: values must be the schema of an object with properties');
  return root;
}

function nodeOf(given: JsonObject, path: readonly string[], isOptional: boolean, root: JsonObject): ValueNode {
  const schema = resolved(given, root, path);
  const properties = isJsonObject(schema.properties) ? Object.entries(schema.properties) : [];
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const type = typeOf(schema);
  const children = properties.map(([name, child]): [string, ValueNode] => {
    if (!isJsonObject(child)) return [name, nodeOf({}, [...path, name], isOptional, root)];
    const isAbsent = !required.has(name) && resolved(child, root, path).default === undefined;
    return [name, nodeOf(child, [...path, name], isOptional || isAbsent, root)];
  });
  return {
    ...{ path, type, isOptional },
    description: typeof schema.description === 'string' ? schema.description : undefined,
    default: schema.default as Json | undefined,
    choices: Array.isArray(schema.enum) ? (schema.enum as Json[]) : [],
    properties: type === 'object' ? Object.fromEntries(children) : {},
  };
}

function typeOf(schema: JsonObject): ValueType {
  const { type, properties } = schema;
  if (type === 'object') return isJsonObject(properties) && Object.keys(properties).length > 0 ? 'object' : 'map';
  if (type === 'array' || type === 'boolean' || type === 'integer' || type === 'number' || type === 'string')
    return type;
  const choices = Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const] : [];
  return choices.length > 0 && choices.every((choice) => typeof choice === 'string') ? 'string' : 'any';
}

/** A schema with its reference followed, and null as one of two kinds taken for absence. */
function resolved(schema: JsonObject, root: JsonObject, path: readonly string[]): JsonObject {
  if (typeof schema.$ref === 'string') {
    const { $ref, ...rest } = schema;
    const target = String($ref)
      .replace(/^#\/?/, '')
      .split('/')
      .filter((part) => part !== '')
      .reduce<unknown>((value, part) => (isJsonObject(value) ? value[part] : undefined), root);
    if (!isJsonObject(target)) throw new TypeError(`chart: values.${path.join('.')}: ${$ref} is not in the schema`);
    return { ...resolved(target, root, path), ...rest };
  }
  const branches = Array.isArray(schema.anyOf) ? schema.anyOf.filter(isJsonObject) : [];
  const others = branches.filter((branch) => branch.type !== 'null');
  const { anyOf: _, ...rest } = schema;
  return branches.length === 2 && others.length === 1
    ? { ...resolved(others[0] as JsonObject, root, path), ...rest }
    : schema;
}

/** The node of a value by its path, or undefined. */
export function nodeAt(root: ValueNode, path: readonly string[]): ValueNode | undefined {
  return path.reduce<ValueNode | undefined>((node, name) => node?.properties[name], root);
}

/** All values, groups left out. */
export function leavesOf(node: ValueNode): ValueNode[] {
  return node.type === 'object' ? Object.values(node.properties).flatMap(leavesOf) : [node];
}

/** The values of a chart that nobody changes; those without a default are absent. */
export function defaultValues(node: ValueNode): JsonObject {
  const entries = Object.entries(node.properties).flatMap(([name, child]): [string, Json][] => {
    if (child.type === 'object' && !(child.isOptional && child.default === undefined)) {
      const own = isJsonObject(child.default) ? child.default : {};
      return [[name, { ...defaultValues(child), ...own }]];
    }
    return child.default === undefined ? [] : [[name, child.default]];
  });
  return Object.fromEntries(entries);
}
