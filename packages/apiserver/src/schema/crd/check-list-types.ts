import { append } from '../../status/append.js';
import { type FieldError, forbidden, invalid, notSupported, required } from '../../status/field-error.js';
import type { SchemaProps } from './crd-object.js';

/** The problems of the list and map types of a schema. */
export function checkListTypes(schema: SchemaProps, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { type = '' } = schema;
  const mapType = schema['x-kubernetes-map-type'];
  const listType = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const items = Array.isArray(schema.items) ? undefined : (schema.items as SchemaProps | undefined);
  const expects = (expected: string, by: string) => {
    const detail = `must be ${expected} if ${by} is specified`;
    errors.push(type === '' ? required(`${path}.type`, detail) : invalid(`${path}.type`, type, detail));
  };
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    errors.push(invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined'));
  }
  if (mapType !== undefined && type !== 'object') expects('object', 'x-kubernetes-map-type');
  if (mapType !== undefined && mapType !== 'atomic' && mapType !== 'granular') {
    errors.push(notSupported(`${path}.x-kubernetes-map-type`, mapType, ['atomic', 'granular']));
  }
  if (listType !== undefined && type !== 'array') expects('array', 'x-kubernetes-list-type');
  else if (listType === 'set' && items) append(errors, checkSetItems(items, `${path}.items`));
  if (listType !== undefined && !['atomic', 'set', 'map'].includes(listType)) {
    errors.push(notSupported(`${path}.x-kubernetes-list-type`, listType, ['atomic', 'set', 'map']));
  }
  if (keys.length > 0 && listType !== 'map') {
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty';
    const at = `${path}.x-kubernetes-list-type`;
    errors.push(listType === undefined ? required(at, detail) : invalid(at, listType, detail));
  }
  if (listType === 'map') append(errors, checkMapItems(schema.items, items, keys, path));
  if (items && (listType === 'set' || listType === 'map')) append(errors, checkPresence(items, listType, keys, path));
  return errors;
}

/** Elements of a set are compared whole, so they may not be shared in parts. */
function checkSetItems(items: SchemaProps, path: string): FieldError[] {
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const listType = items['x-kubernetes-list-type'];
  if (items.type === 'array' && listType !== undefined && listType !== 'atomic') {
    return [invalid(`${path}.x-kubernetes-list-type`, listType, detail)];
  }
  if (items.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic') {
    return [invalid(`${path}.x-kubernetes-map-type`, listType ?? null, detail)];
  }
  return [];
}

function checkMapItems(
  given: SchemaProps['items'],
  items: SchemaProps | undefined,
  keys: readonly string[],
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  const at = `${path}.x-kubernetes-list-map-keys`;
  if (keys.length === 0) errors.push(required(at, 'must not be empty if x-kubernetes-list-type is map'));
  if (given === undefined)
    errors.push(required(`${path}.items`, 'must have a schema if x-kubernetes-list-type is map'));
  if (!items) return errors;
  if (items.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    return [...errors, invalid(`${path}.items.type`, items.type ?? '', detail)];
  }
  for (const [index, key] of keys.entries()) {
    const property = propertyOf(items, key);
    if (property === undefined) errors.push(invalid(at, keys, 'entries must all be names of item properties'));
    else if (property.type === 'array' || property.type === 'object') {
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      errors.push(invalid(`${path}.items.properties[${key}].type`, items.type, detail));
    }
    if (keys.indexOf(key) < index) errors.push(invalid(at, keys, 'must not contain duplicate entries'));
  }
  return errors;
}

/** Elements and keys must always be there. */
function checkPresence(items: SchemaProps, listType: string, keys: readonly string[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (items.nullable) {
    errors.push(forbidden(`${path}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${listType}`));
  }
  if (listType !== 'map') return errors;
  const why = 'this property is in x-kubernetes-list-map-keys, so it';
  for (const key of keys) {
    const property = propertyOf(items, key);
    if (property === undefined) continue;
    const at = `${path}.items.properties[${key}]`;
    if (!items.required?.includes(key) && property.default === undefined) {
      errors.push(required(`${at}.default`, `${why} must have a default or be a required property`));
    }
    if (property.nullable) errors.push(forbidden(`${at}.nullable`, `${why} cannot be nullable`));
  }
  return errors;
}

function propertyOf(items: SchemaProps, name: string): SchemaProps | undefined {
  return items.properties !== undefined && Object.hasOwn(items.properties, name) ? items.properties[name] : undefined;
}
