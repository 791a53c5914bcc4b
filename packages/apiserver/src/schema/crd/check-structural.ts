import { equal, type Json } from 'riata/object';
import { append } from '../../status/append.js';
import { type FieldError, forbidden, formatFieldError, invalid, required } from '../../status/field-error.js';
import { patternProblem } from '../pattern/go-pattern.js';
import type { SchemaProps } from './crd-object.js';

type Level = 'root' | 'item' | 'field';

/** What keeps a schema from being structural (`structuralschema.ValidateStructural`). */
export function checkStructural(schema: SchemaProps, path: string): FieldError[] {
  const errors = [...checkNode(schema, 'root', path), ...checkComplete(schema, schema, path, path)];
  return errors.sort((a, b) => (formatFieldError(a) < formatFieldError(b) ? -1 : 1));
}

function checkNode(schema: SchemaProps, level: Level, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { type = '', properties = {}, additionalProperties } = schema;
  const items = schema.items as SchemaProps | undefined;
  const embedded = schema['x-kubernetes-embedded-resource'] === true;
  const open = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const intOrString = schema['x-kubernetes-int-or-string'] === true;
  if (type === 'array' && items == null) errors.push(required(`${path}.items`, 'must be specified'));
  if (items != null) append(errors, checkNode(items, 'item', `${path}.items`));
  for (const [name, property] of Object.entries(properties)) {
    append(errors, checkNode(property, 'field', `${path}.properties[${name}]`));
  }
  if (additionalProperties !== undefined) {
    const at = `${path}.additionalProperties`;
    if (level === 'root') errors.push(forbidden(at, 'must not be used at the root'));
    if (typeof additionalProperties === 'object') append(errors, checkNode(additionalProperties, 'field', at));
  }
  if (intOrString && open) {
    errors.push(
      invalid(
        `${path}.x-kubernetes-preserve-unknown-fields`,
        true,
        'must be false if x-kubernetes-int-or-string is true',
      ),
    );
  }
  if (intOrString && embedded) {
    errors.push(
      invalid(`${path}.x-kubernetes-embedded-resource`, true, 'must be false if x-kubernetes-int-or-string is true'),
    );
  }
  append(errors, checkValidations(schema, isIntOrString(schema.anyOf), isIntOrString(schema.allOf?.[0]?.anyOf), path));
  if (embedded && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true';
    errors.push(type === '' ? required(`${path}.type`, detail) : invalid(`${path}.type`, type, detail));
  } else if (type === '' && !intOrString && !open) {
    errors.push(required(`${path}.type`, `must not be empty ${where[level]}`));
  }
  if (embedded && additionalProperties !== undefined) {
    errors.push(forbidden(`${path}.additionalProperties`, 'must not be used if x-kubernetes-embedded-resource is set'));
  }
  if (level === 'root' && type !== '' && type !== 'object') {
    errors.push(invalid(`${path}.type`, type, 'must be object at the root'));
  }
  append(errors, checkOwnFields(schema, level, path));
  if (embedded && !open && Object.keys(properties).length === 0) {
    const detail =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    errors.push(required(`${path}.properties`, detail));
  }
  return errors;
}

const where: Readonly<Record<Level, string>> = {
  root: 'at the root',
  item: 'for specified array items',
  field: 'for specified object fields',
};

/** `apiVersion`, `kind` and `metadata` of an object at the root or embedded. */
function checkOwnFields(schema: SchemaProps, level: Level, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { properties = {} } = schema;
  const own = level === 'root' || schema['x-kubernetes-embedded-resource'] === true;
  const of = (name: string) => (Object.hasOwn(properties, name) ? properties[name] : undefined);
  for (const name of ['kind', 'apiVersion']) {
    const property = own ? of(name) : undefined;
    if (property !== undefined && property.type !== 'string') {
      errors.push(invalid(`${path}.properties[${name}].type`, property.type ?? '', 'must be string'));
    }
  }
  const metadata = of('metadata');
  if (metadata === undefined) return errors;
  const at = `${path}.properties[metadata]`;
  if (own && metadata.type !== 'object') errors.push(invalid(`${at}.type`, metadata.type ?? '', 'must be object'));
  if (level !== 'root') return errors;
  const { type: _type, default: _default, properties: fields = {}, ...rest } = metadata;
  const onlyNames = Object.keys(fields).every((name) => name === 'name' || name === 'generateName');
  if (!onlyNames || Object.keys(rest).length > 0) {
    const detail = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
    errors.push(forbidden(at, detail));
  }
  return errors;
}

/** The two forms of int-or-string: the one place where a branch may name types. */
function isIntOrString(branches: readonly SchemaProps[] | undefined): boolean {
  return branches?.length === 2 && equal(branches as unknown as Json, [{ type: 'integer' }, { type: 'string' }]);
}

function checkValidations(
  schema: SchemaProps,
  skipAnyOf: boolean,
  skipFirstAllOf: boolean,
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  if (!skipAnyOf)
    for (const [i, one] of (schema.anyOf ?? []).entries())
      append(errors, checkBranch(one, false, `${path}.anyOf[${i}]`));
  for (const [i, one] of (schema.allOf ?? []).entries()) {
    append(errors, checkBranch(one, skipFirstAllOf && i === 0, `${path}.allOf[${i}]`));
  }
  for (const [i, one] of (schema.oneOf ?? []).entries()) append(errors, checkBranch(one, false, `${path}.oneOf[${i}]`));
  if (schema.not !== undefined) append(errors, checkBranch(schema.not, false, `${path}.not`));
  const problem = schema.pattern ? patternProblem(schema.pattern) : undefined;
  if (problem !== undefined) {
    const detail = `must be a valid regular expression, but isn't: error parsing regexp: ${problem}`;
    errors.push(invalid(`${path}.pattern`, schema.pattern, detail));
  }
  return errors;
}

/** The keywords that are forbidden below a junctor, and the word for how they are present. */
const forbiddenBelow: readonly (readonly [key: keyof SchemaProps, word: string])[] = [
  ['type', 'empty'],
  ['default', 'undefined'],
  ['title', 'empty'],
  ['description', 'empty'],
  ['nullable', 'false'],
  ['x-kubernetes-preserve-unknown-fields', 'false'],
  ['x-kubernetes-embedded-resource', 'false'],
  ['x-kubernetes-int-or-string', 'false'],
  ['x-kubernetes-list-map-keys', 'empty'],
  ['x-kubernetes-list-type', 'undefined'],
  ['x-kubernetes-map-type', 'undefined'],
  ['x-kubernetes-validations', 'empty'],
];

function checkBranch(branch: SchemaProps, skipAnyOf: boolean, path: string): FieldError[] {
  const errors = checkValidations(branch, skipAnyOf, false, path);
  const items = branch.items as SchemaProps | undefined;
  if (items != null) append(errors, checkBranch(items, false, `${path}.items`));
  for (const [name, property] of Object.entries(branch.properties ?? {})) {
    append(errors, checkBranch(property, false, `${path}.properties[${name}]`));
  }
  if (branch.additionalProperties) {
    errors.push(forbidden(`${path}.additionalProperties`, 'must be undefined to be structural'));
  }
  for (const [key, word] of forbiddenBelow) {
    const value = branch[key];
    if (value === undefined || value === '' || value === false || (key === 'default' && value === null)) continue;
    errors.push(forbidden(`${path}.${key}`, `must be ${word} to be structural`));
  }
  if (branch.properties !== undefined && Object.hasOwn(branch.properties, 'metadata')) {
    errors.push(forbidden(`${path}.properties[metadata]`, 'must not be specified in a nested context'));
  }
  return errors;
}

/** The properties in a branch must be defined outside of all branches. `shape` is what is defined. */
function checkComplete(branch: SchemaProps, shape: SchemaProps, shapePath: string, path: string): FieldError[] {
  const inside: [SchemaProps, string][] = [];
  if (branch.not !== undefined) inside.push([branch.not, `${path}.not`]);
  for (const key of ['allOf', 'anyOf', 'oneOf'] as const) {
    for (const [i, one] of (branch[key] ?? []).entries()) inside.push([one, `${path}.${key}[${i}]`]);
  }
  return inside.flatMap(([one, at]) => checkBranchComplete(one, shape, shapePath, at));
}

function checkBranchComplete(
  branch: SchemaProps,
  shape: SchemaProps | undefined,
  shapePath: string,
  path: string,
): FieldError[] {
  if (shape === undefined) return [required(shapePath, `because it is defined in ${path}`)];
  const errors = checkComplete(branch, shape, shapePath, path);
  const items = branch.items as SchemaProps | undefined;
  if (items != null) {
    const known = (shape.items ?? undefined) as SchemaProps | undefined;
    append(errors, checkBranchComplete(items, known, `${shapePath}.items`, `${path}.items`));
  }
  for (const [name, property] of Object.entries(branch.properties ?? {})) {
    const known =
      shape.properties !== undefined && Object.hasOwn(shape.properties, name) ? shape.properties[name] : undefined;
    errors.push(
      ...checkBranchComplete(property, known, `${shapePath}.properties[${name}]`, `${path}.properties[${name}]`),
    );
  }
  return errors;
}
