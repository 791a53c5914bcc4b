import { append } from '../../status/append.js';
import { type FieldError, forbidden, invalid, notSupported, required } from '../../status/field-error.js';
import { checkListTypes } from './check-list-types.js';
import type { SchemaProps } from './crd-object.js';
import { fieldAtPath } from './field-at-path.js';

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];
const ownFields = ['metadata', 'kind', 'apiVersion'];

/** Where in the schema the check is. */
interface Place {
  /** Why no defaults are allowed here; undefined where they are. */
  readonly noDefaults?: string;
  /** Below `apiVersion`, `kind` or `metadata` of an object. */
  readonly insideMeta: boolean;
}

/**
 * The problems of a schema other than not being structural: features that CRDs don't support, list and map types, rules
 * (`ValidateCustomResourceDefinitionOpenAPISchema`). `checkSchemaRules` checks the expressions of rules.
 */
export function checkCrdSchema(schema: SchemaProps, path: string): FieldError[] {
  return checkNode(schema, path, true, { insideMeta: false });
}

function checkNode(schema: SchemaProps | undefined | null, path: string, root: boolean, place: Place): FieldError[] {
  if (schema == null) return [];
  const errors = checkSupported(schema, path, place);
  if (schema.uniqueItems) {
    const detail = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    errors.push(forbidden(`${path}.uniqueItems`, detail));
  }
  const { additionalProperties: others, properties = {} } = schema;
  if (others !== undefined) {
    const at = `${path}.additionalProperties`;
    if (Object.keys(properties).length > 0 && others !== true) {
      errors.push(forbidden(at, 'additionalProperties and properties are mutual exclusive'));
    }
    const inside = place.insideMeta
      ? { ...place, noDefaults: 'inside additionalProperties applying to object metadata' }
      : place;
    if (typeof others === 'object') append(errors, checkNode(others, at, false, inside));
  }
  for (const [name, property] of Object.entries(properties)) {
    const own = (root || schema['x-kubernetes-embedded-resource']) && ownFields.includes(name);
    const inside: Place = own
      ? { ...place, insideMeta: true, ...(root ? { noDefaults: `in top-level ${name}` } : {}) }
      : place;
    append(errors, checkNode(property, `${path}.properties[${name}]`, false, inside));
  }
  for (const [below, at] of branchesOf(schema)) append(errors, checkNode(below, `${path}.${at}`, false, place));
  errors.push(...checkListTypes(schema, path), ...checkRules(schema, path));
  return errors;
}

function branchesOf(schema: SchemaProps): [schema: SchemaProps | undefined, path: string][] {
  const found: [SchemaProps | undefined, string][] = [[schema.not, 'not']];
  for (const key of ['allOf', 'oneOf', 'anyOf'] as const) {
    for (const [i, one] of (schema[key] ?? []).entries()) found.push([one, `${key}[${i}]`]);
  }
  for (const [name, one] of Object.entries(schema.definitions ?? {})) found.push([one, `definitions[${name}]`]);
  if (Array.isArray(schema.items)) for (const [i, one] of schema.items.entries()) found.push([one, `items[${i}]`]);
  else found.push([schema.items as SchemaProps | undefined, 'items']);
  for (const [name, one] of Object.entries(schema.dependencies ?? {})) {
    if (!Array.isArray(one)) found.push([one as SchemaProps, `dependencies[${name}]`]);
  }
  return found;
}

/** Keywords that OpenAPI has and CRDs do not. */
function checkSupported(schema: SchemaProps, path: string, place: Place): FieldError[] {
  const errors: FieldError[] = [];
  const { type = '' } = schema;
  if (type !== '' && !types.includes(type)) errors.push(notSupported(`${path}.type`, type, types));
  if (schema.default !== undefined && place.noDefaults !== undefined) {
    errors.push(forbidden(`${path}.default`, `must not be set ${place.noDefaults}`));
  }
  const not = (key: string, given: boolean) => {
    if (given) errors.push(forbidden(`${path}.${key}`, `${key} is not supported`));
  };
  not('id', !!schema.id);
  not('additionalItems', schema.additionalItems !== undefined);
  not('patternProperties', Object.keys(schema.patternProperties ?? {}).length > 0);
  not('definitions', Object.keys(schema.definitions ?? {}).length > 0);
  not('dependencies', schema.dependencies !== undefined);
  not('$ref', schema.$ref !== undefined);
  if (type === 'null') {
    errors.push(forbidden(`${path}.type`, 'type cannot be set to null, use nullable as an alternative'));
  }
  if (Array.isArray(schema.items) && schema.items.length > 0) {
    errors.push(forbidden(`${path}.items`, 'items must be a schema object and not an array'));
  }
  if (place.insideMeta && schema['x-kubernetes-embedded-resource']) {
    errors.push(forbidden(`${path}.x-kubernetes-embedded-resource`, 'must not be used inside of resource meta'));
  }
  return errors;
}

function checkRules(schema: SchemaProps, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [i, rule] of (schema['x-kubernetes-validations'] ?? []).entries()) {
    const at = `${path}.x-kubernetes-validations[${i}]`;
    const { message = '', messageExpression = '', fieldPath = '', reason } = rule;
    if (rule.rule.trim() === '') errors.push(required(`${at}.rule`, 'rule is not specified'));
    else if (message !== '' && message.trim() === '') {
      errors.push(invalid(`${at}.message`, message, 'must be non-empty if specified'));
    } else if (breaks.test(message.trim())) {
      errors.push(invalid(`${at}.message`, message, 'must not contain line breaks'));
    } else if (breaks.test(rule.rule.trim()) && message.trim() === '') {
      errors.push(required(`${at}.message`, 'message must be specified if rule contains line breaks'));
    }
    if (messageExpression !== '' && messageExpression.trim() === '') {
      errors.push(required(`${at}.messageExpression`, 'messageExpression must be non-empty if specified'));
    }
    if (reason !== undefined && !reasons.includes(reason)) errors.push(notSupported(`${at}.reason`, reason, reasons));
    if (fieldPath === '') continue;
    if (fieldPath.trim() === '') errors.push(invalid(`${at}.fieldPath`, fieldPath, 'must be non-empty if specified'));
    if (breaks.test(fieldPath)) errors.push(invalid(`${at}.fieldPath`, fieldPath, 'must not contain line breaks'));
    if ('problem' in fieldAtPath(fieldPath, schema)) {
      errors.push(invalid(`${at}.fieldPath`, fieldPath, 'must be a valid path'));
    }
  }
  return errors;
}

const breaks = /[\n\r]/;
