import { equal, isJsonObject, type Json, type JsonObject, type StructuralSchema } from 'riata/object';
import type { FieldError } from '../../status/field-error.js';
import { goPattern } from '../pattern/go-pattern.js';
import { checkNumber, isInt64 } from './check-number.js';
import { correlator, isUnchanged } from './correlate.js';
import { schemaOf } from './drop-nulls.js';
import { hasFormat, knownFormat } from './formats.js';
import { fieldErrorOf, ValidationResult, type Violation } from './validation-result.js';

/** How a value is validated. */
export interface ValidateOptions {
  /** The stored form of the value: violations of unchanged parts are ignored (ratcheting). */
  readonly old?: Json | undefined;
  /** Where the value stands in its object, e.g. `status`. @default '' */
  readonly path?: string;
}

/**
 * The violations of a value (`validation.ValidateCustomResource`), in the words of the API server. The order is that of
 * the schema's properties.
 */
export function validateValue(value: Json, schema: StructuralSchema, options: ValidateOptions = {}): FieldError[] {
  const result = validate(value, schema, '', options.old);
  return result.violations.map((violation) => fieldErrorOf(violation, options.path ?? ''));
}

/** `old` is undefined where there is nothing to compare with. */
function validate(value: Json, schema: StructuralSchema, path: string, old: Json | undefined): ValidationResult {
  const result = new ValidationResult();
  const apply = (part: ValidationResult | Violation | undefined, matches = 1) => {
    if (part instanceof ValidationResult) result.merge(part);
    else if (part !== undefined) result.add(part);
    result.matches += matches;
  };
  const types = typesOf(schema);
  const format = knownFormat(schema.format, types.length === 1 ? types[0] : undefined);
  if (value === null) {
    apply(checkType(value, types, format, schema.nullable === true, path), 0);
    apply(checkEnum(value, schema, path), 0);
    return ratchet(result, value, schema, old);
  }
  if (types.length > 0 || format !== undefined) {
    const violation = checkType(value, types, format, false, path);
    apply(violation, violation === undefined ? 2 : 1);
  }
  apply(checkJunctors(value, schema, path, old), 2);
  if (typeof value === 'string') {
    apply(checkString(value, schema, path));
    if (format !== undefined && !hasFormat(value, format)) apply(typeViolation(path, format, value));
    else if (format !== undefined) apply(undefined);
  } else if (typeof value === 'number') {
    apply(checkNumber(value, schema, types.length === 1 ? types[0] : undefined, format, path), 2);
  } else if (Array.isArray(value)) apply(checkList(value, schema, path, old), 2);
  apply(checkEnum(value, schema, path));
  if (isJsonObject(value)) apply(checkObject(value, schema, path, old));
  result.matches += 1;
  return ratchet(result, value, schema, old);
}

/** Lets pass what is wrong with a value that is the same as before. */
function ratchet(
  result: ValidationResult,
  value: Json,
  schema: StructuralSchema,
  old: Json | undefined,
): ValidationResult {
  return result.valid || old === undefined || !isUnchanged(value, schema, old) ? result : new ValidationResult();
}

function typesOf(schema: StructuralSchema): readonly string[] {
  if (schema['x-kubernetes-int-or-string']) return ['integer', 'string'];
  return schema.type === undefined || (schema.type as string) === '' ? [] : [schema.type];
}

function checkType(
  value: Json,
  types: readonly string[],
  format: string | undefined,
  nullable: boolean,
  path: string,
): Violation | undefined {
  if (value === null) {
    return types.length > 0 && !nullable ? typeViolation(path, types.join(','), 'null') : undefined;
  }
  const [actual, actualFormat] = describe(value);
  const fits = types.includes(actual) || (actual === 'integer' && types.includes('number'));
  const flat = typeof value === 'string' || Array.isArray(value);
  if (!flat && format !== undefined && !fits) return typeViolation(path, format, actualFormat);
  // Upstream trusts the format check here, which then looks at texts only.
  if (flat && format !== undefined && !types.includes('number') && !types.includes('integer')) return undefined;
  return fits || types.length === 0 ? undefined : typeViolation(path, types.join(','), actual);
}

/** The type and format of a value. */
function describe(value: Json): readonly [type: string, format: string] {
  if (Array.isArray(value)) return ['array', ''];
  if (typeof value === 'number') return isInt64(value) ? ['integer', 'int64'] : ['number', 'float64'];
  return [typeof value, ''];
}

function typeViolation(path: string, expected: string, got: string): Violation {
  const message = `${path} in body must be of type ${expected}: ${JSON.stringify(got)}`;
  return { is: 'type', path, message, value: got };
}

function checkString(text: string, schema: StructuralSchema, path: string): Violation | undefined {
  const { minLength, maxLength, pattern } = schema;
  const length = minLength === undefined && maxLength === undefined ? 0 : codePoints(text);
  if (maxLength !== undefined && length > maxLength) {
    const message = `${path} in body should be at most ${maxLength} chars long`;
    return { is: 'tooLong', path, message, limit: maxLength };
  }
  if (minLength !== undefined && length < minLength) {
    return { is: 'other', path, message: `${path} in body should be at least ${minLength} chars long`, value: text };
  }
  if (pattern !== undefined && pattern !== '' && goPattern(pattern)?.test(text) === false) {
    return { is: 'other', path, message: `${path} in body should match '${pattern}'`, value: text };
  }
  return undefined;
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

function checkEnum(value: Json, schema: StructuralSchema, path: string): Violation | undefined {
  const values = schema.enum;
  if (values === undefined || values.length === 0) return undefined;
  if (value !== null && values.some((allowed) => equal(allowed, value))) return undefined;
  const message = `${path} in body should be one of [${values.map(goText).join(' ')}]`;
  return { is: 'enum', path, message, value, values };
}

/** A value as Go's `%v` prints it, nearly. */
function goText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function checkList(
  list: readonly Json[],
  schema: StructuralSchema,
  path: string,
  old: Json | undefined,
): ValidationResult {
  const result = new ValidationResult();
  const { items, minItems, maxItems } = schema;
  if (items !== undefined) {
    const correlate = correlator(schema, old);
    for (const [index, item] of list.entries()) {
      result.merge(validate(item, items, `${path}[${index}]`, correlate(item)));
    }
  }
  if (minItems !== undefined && list.length < minItems) {
    const message = `${path} in body should have at least ${minItems} items`;
    result.add({ is: 'other', path, message, value: list.length });
  }
  if (maxItems !== undefined && list.length > maxItems) {
    const message = `${path} in body should have at most ${maxItems} items`;
    result.add({ is: 'tooMany', path, message, value: list.length, limit: maxItems });
  }
  if (
    (schema as { uniqueItems?: boolean }).uniqueItems &&
    list.some((a, i) => list.slice(0, i).some((b) => equal(a, b)))
  ) {
    result.add({ is: 'other', path, message: `${path} in body shouldn't contain duplicates` });
  }
  return result;
}

function checkObject(
  object: JsonObject,
  schema: StructuralSchema,
  path: string,
  old: Json | undefined,
): ValidationResult {
  const result = new ValidationResult();
  const count = Object.keys(object).length;
  const { minProperties, maxProperties, properties = {} } = schema;
  if (minProperties !== undefined && count < minProperties) {
    const message = `${path} in body should have at least ${minProperties} properties`;
    result.add({ is: 'other', path, message, value: count });
  }
  if (maxProperties !== undefined && count > maxProperties) {
    const message = `${path} in body should have at most ${maxProperties} properties`;
    result.add({ is: 'tooMany', path, message, value: count, limit: maxProperties });
  }
  const before = isJsonObject(old) ? old : undefined;
  const oldOf = (key: string) => {
    if (before === undefined || !Object.hasOwn(before, key)) return undefined;
    return path === '' && (key === 'apiVersion' || key === 'kind') ? undefined : before[key];
  };
  for (const key of Object.keys(object)) {
    if (Object.hasOwn(properties, key)) continue;
    const of = schemaOf(key, schema);
    if (of !== undefined) result.merge(validate(object[key] as Json, of, `${path}.${key}`, oldOf(key)));
  }
  for (const key of Object.keys(properties)) {
    if (!Object.hasOwn(object, key)) continue;
    const at = path === '' ? key : `${path}.${key}`;
    result.merge(validate(object[key] as Json, properties[key] as StructuralSchema, at, oldOf(key)));
  }
  for (const key of schema.required ?? []) {
    if (Object.hasOwn(object, key)) continue;
    result.add({ is: 'required', path: `${path}.${key}`, message: `${path}.${key} in body is required` });
  }
  return result;
}

/** `anyOf`, `oneOf`, `allOf` and `not`. */
function checkJunctors(value: Json, schema: StructuralSchema, path: string, old: Json | undefined): ValidationResult {
  const result = new ValidationResult();
  const plain = (text: string) => result.add({ is: 'plain', path, message: `${JSON.stringify(path)} must ${text}` });
  const tryAll = (schemas: readonly StructuralSchema[]) => schemas.map((s) => validate(value, s, path, old));
  if (schema.anyOf?.length) {
    const tried = tryAll(schema.anyOf);
    const fitting = tried.find((one) => one.valid);
    if (fitting === undefined) plain('validate at least one schema (anyOf)');
    result.merge(fitting ?? best(tried));
  }
  if (schema.oneOf?.length) {
    const tried = tryAll(schema.oneOf);
    const fitting = tried.filter((one) => one.valid);
    if (fitting.length !== 1) {
      const found = fitting.length === 0 ? 'Found none valid' : `Found ${fitting.length} valid alternatives`;
      plain(`validate one and only one schema (oneOf). ${found}`);
    }
    if (fitting.length === 0) result.merge(best(tried));
    else if (fitting.length === 1) result.merge(fitting[0] as ValidationResult);
  }
  if (schema.allOf?.length) {
    const tried = tryAll(schema.allOf);
    for (const one of tried) result.merge(one);
    if (tried.some((one) => !one.valid)) {
      plain(`validate all the schemas (allOf)${tried.some((one) => one.valid) ? '' : '. None validated'}`);
    }
  }
  if (schema.not !== undefined && validate(value, schema.not, path, undefined).valid) {
    plain('not validate the schema (not)');
  }
  return result;
}

/** The alternative that fitted most. */
function best(tried: readonly ValidationResult[]): ValidationResult {
  return tried.reduce((most, one) => (one.matches > most.matches ? one : most));
}
