import { isJsonObject } from '../json.js';
import { getOwn } from '../value/own.js';
import { checkDefault } from './check-default.js';
import { Problems, type SchemaProblem } from './schema-error.js';
import { itemPath, propertyPath, valuePath } from './schema-path.js';
import { re2Problem } from './string-keywords.js';
import { extensionKeywords, type StructuralSchema } from './structural-schema.js';

type Level = 'root' | 'field' | 'item';

/**
 * The problems for which an API server would refuse this schema of a whole object: the rules of structural schemas
 * (`structuralschema.ValidateStructural`), of list and map types, and of defaults. CEL rules are not compiled.
 */
export function structuralProblems(schema: StructuralSchema): readonly SchemaProblem[] {
  const problems = new Problems();
  checkNode(schema, '.', 'root', problems);
  return problems.list();
}

function checkNode(schema: StructuralSchema, path: string, level: Level, problems: Problems): void {
  const intOrString = schema['x-kubernetes-int-or-string'] === true;
  const keeps = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const embedded = schema['x-kubernetes-embedded-resource'] === true;
  if (level === 'root' && schema.type !== 'object') problems.add(path, 'must have type object at the root');
  if (level === 'root' && schema.nullable === true) problems.add(path, 'cannot be nullable at the root');
  if (schema.type === undefined && !intOrString && !keeps) problems.add(path, 'must have a type');
  if (intOrString && (schema.type !== undefined || keeps || embedded)) {
    problems.add(path, 'is int-or-string, so it can neither have a type nor keep unknown fields nor embed an object');
  }
  if (embedded) checkEmbedded(schema, path, problems);
  if (schema.properties !== undefined && schema.additionalProperties !== undefined) {
    problems.add(path, 'cannot have both properties and additionalProperties');
  }
  if (level === 'root' && schema.additionalProperties !== undefined) {
    problems.add(path, 'cannot have additionalProperties at the root');
  }
  if (schema.type === 'array' && schema.items === undefined) problems.add(path, 'must have a schema for its items');
  checkListAndMapTypes(schema, path, problems);
  checkRules(schema, path, problems);
  checkJunctors(schema, schema, path, problems);
  if (schema.default !== undefined) {
    if (level === 'item') problems.add(path, 'an element of a list cannot have a default');
    else checkDefault(schema.default, schema, path, problems);
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    checkNode(property, propertyPath(path, name), 'field', problems);
  }
  if (!keeps && schema.additionalProperties === undefined) {
    for (const name of schema.required ?? []) {
      if (getOwn(schema.properties ?? {}, name) !== undefined) continue;
      problems.add(
        propertyPath(path, name),
        'is required but not a property, so the server would prune it and then refuse the object',
      );
    }
  }
  if (schema.items !== undefined) checkNode(schema.items, itemPath(path), 'item', problems);
  if (schema.additionalProperties !== undefined) {
    checkNode(schema.additionalProperties, valuePath(path), 'field', problems);
  }
}

function checkEmbedded(schema: StructuralSchema, path: string, problems: Problems): void {
  if (schema.type !== 'object') problems.add(path, 'embeds an object, so its type must be object');
  if (schema.additionalProperties !== undefined) problems.add(path, 'embeds an object, so it cannot be a map');
  if (schema.properties === undefined && schema['x-kubernetes-preserve-unknown-fields'] !== true) {
    problems.add(path, "embeds an object, so it needs properties or 'x-kubernetes-preserve-unknown-fields': true");
  }
}

const scalars: readonly unknown[] = ['string', 'integer', 'number', 'boolean'];

function checkListAndMapTypes(schema: StructuralSchema, path: string, problems: Problems): void {
  const { 'x-kubernetes-list-type': listType, 'x-kubernetes-list-map-keys': keys = [], items } = schema;
  const mapType = schema['x-kubernetes-map-type'];
  if (mapType !== undefined) {
    if (!['granular', 'atomic'].includes(mapType))
      problems.add(path, `x-kubernetes-map-type must be granular or atomic, got ${mapType}`);
    if (schema.type !== 'object') problems.add(path, `x-kubernetes-map-type is for objects, this is ${schema.type}`);
  }
  if (keys.length > 0 && listType !== 'map') {
    problems.add(path, "x-kubernetes-list-map-keys goes with 'x-kubernetes-list-type': 'map'");
  }
  if (listType === undefined) return;
  if (!['atomic', 'set', 'map'].includes(listType))
    problems.add(path, `x-kubernetes-list-type must be atomic, set or map, got ${listType}`);
  if (schema.type !== 'array') problems.add(path, `x-kubernetes-list-type is for lists, this is ${schema.type}`);
  if (listType !== 'atomic' && items?.nullable === true) {
    problems.add(itemPath(path), `cannot be nullable in a list of type ${listType}`);
  }
  if (listType === 'set') {
    const atomic = items?.['x-kubernetes-map-type'] === 'atomic' || items?.['x-kubernetes-list-type'] === 'atomic';
    const compound = items?.type === 'object' || items?.type === 'array';
    if (compound && !atomic) problems.add(itemPath(path), 'must be a scalar, or atomic, in a list of type set');
  }
  if (listType !== 'map') return;
  if (keys.length === 0) problems.add(path, 'a list of type map needs x-kubernetes-list-map-keys');
  if (items?.type !== 'object') problems.add(itemPath(path), 'must be an object in a list of type map');
  for (const [index, key] of keys.entries()) {
    const at = propertyPath(itemPath(path), key);
    const property =
      items?.properties !== undefined && Object.hasOwn(items.properties, key) ? items.properties[key] : undefined;
    if (keys.indexOf(key) !== index) problems.add(path, `x-kubernetes-list-map-keys names ${key} twice`);
    if (property === undefined) problems.add(at, 'is a key of the list, but not a property of its elements');
    else if (!scalars.includes(property.type)) problems.add(at, 'is a key of the list, so it must be a scalar');
    else if (property.nullable === true) problems.add(at, 'is a key of the list, so it cannot be nullable');
    else if (property.default === undefined && !items?.required?.includes(key)) {
      problems.add(at, 'is a key of the list, so it must be required or have a default');
    }
  }
}

function checkRules(schema: StructuralSchema, path: string, problems: Problems): void {
  const rules: unknown = schema['x-kubernetes-validations'];
  if (rules === undefined) return;
  if (!Array.isArray(rules)) {
    problems.add(path, 'x-kubernetes-validations must be a list of { rule, message? }');
    return;
  }
  for (const rule of rules as readonly unknown[]) {
    const text = isJsonObject(rule) ? rule.rule : undefined;
    if (typeof text !== 'string' || text.trim() === '')
      problems.add(path, 'a CEL rule must have its expression in "rule"');
    else if (text.includes('\n') && !(isJsonObject(rule) && rule.message)) {
      problems.add(path, 'a CEL rule with several lines must have a message');
    }
  }
}

const forbiddenBelow = [
  'type',
  'description',
  'default',
  'nullable',
  'additionalProperties',
  ...extensionKeywords,
] as const;

/** Below a junctor only validations may stand, and only about fields that are defined outside of it. */
function checkJunctors(schema: StructuralSchema, shape: StructuralSchema, path: string, problems: Problems): void {
  if (schema.pattern !== undefined) {
    const wrong = re2Problem(schema.pattern);
    if (wrong !== undefined) problems.add(path, `the pattern uses ${wrong}, which RE2 does not support`);
  }
  const branches = [
    ...(schema.allOf ?? []),
    ...(schema.oneOf ?? []),
    ...(schema.not === undefined ? [] : [schema.not]),
  ];
  // The one place where a branch names types: the two forms of int-or-string.
  if (schema['x-kubernetes-int-or-string'] !== true) branches.push(...(schema.anyOf ?? []));
  for (const branch of branches) checkBranch(branch, shape, path, problems);
}

function checkBranch(
  branch: StructuralSchema,
  shape: StructuralSchema | undefined,
  path: string,
  problems: Problems,
): void {
  if (shape === undefined) {
    problems.add(path, 'is restricted in a branch of allOf, anyOf, oneOf or not, but not defined outside of it');
    return;
  }
  for (const name of forbiddenBelow) {
    if (branch[name] !== undefined) problems.add(path, `${name} cannot be used below allOf, anyOf, oneOf or not`);
  }
  checkJunctors(branch, shape, path, problems);
  if (branch.items !== undefined) checkBranch(branch.items, shape.items, itemPath(path), problems);
  for (const [name, property] of Object.entries(branch.properties ?? {})) {
    const outside =
      shape.properties !== undefined && Object.hasOwn(shape.properties, name) ? shape.properties[name] : undefined;
    checkBranch(property, outside, propertyPath(path, name), problems);
  }
}
