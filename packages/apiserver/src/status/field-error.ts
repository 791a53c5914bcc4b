import type { StatusCause } from 'riata/object';
import { goQuote } from './go-quote.js';

/** What is wrong with a field (`field.ErrorType`). */
export type FieldErrorType =
  | 'FieldValueNotFound'
  | 'FieldValueRequired'
  | 'FieldValueDuplicate'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid'
  | 'InternalError';

/** A complaint about one field, with the words that Kubernetes uses (`field.Error`). */
export interface FieldError {
  readonly type: FieldErrorType;
  /** E.g. `spec.containers[0].name`. */
  readonly field: string;
  /** Everything after the field, e.g. `Invalid value: -1: must be greater than or equal to 0`. */
  readonly body: string;
}

/** The field is missing or empty (`field.Required`). */
export function required(field: string, detail = ''): FieldError {
  return { type: 'FieldValueRequired', field, body: join('Required value', detail) };
}

/** The value is not allowed (`field.Invalid`). */
export function invalid(field: string, value: unknown, detail: string): FieldError {
  return { type: 'FieldValueInvalid', field, body: join(`Invalid value: ${show(value)}`, detail) };
}

/** The value is not allowed, and too much to be shown (`field.Invalid` with `field.OmitValueType`). */
export function invalidWithoutValue(field: string, detail: string): FieldError {
  return { type: 'FieldValueInvalid', field, body: join('Invalid value', detail) };
}

/** The value has the wrong type (`field.TypeInvalid`). */
export function typeInvalid(field: string, value: unknown, detail: string): FieldError {
  return { type: 'FieldValueTypeInvalid', field, body: join(`Invalid value: ${show(value)}`, detail) };
}

/** The value is not one of the supported ones (`field.NotSupported`). */
export function notSupported(field: string, value: unknown, values: readonly unknown[]): FieldError {
  const list = values.map((v) => (typeof v === 'string' ? goQuote(v) : String(v))).join(', ');
  const body = values.length === 0 ? '' : `supported values: ${list}`;
  return { type: 'FieldValueNotSupported', field, body: join(`Unsupported value: ${show(value)}`, body) };
}

/** The field may not be set, or not now (`field.Forbidden`). */
export function forbidden(field: string, detail: string): FieldError {
  return { type: 'FieldValueForbidden', field, body: join('Forbidden', detail) };
}

/** The value stands twice (`field.Duplicate`). */
export function duplicate(field: string, value: unknown): FieldError {
  return { type: 'FieldValueDuplicate', field, body: `Duplicate value: ${show(value)}` };
}

/** What the value refers to is not there (`field.NotFound`). */
export function absent(field: string, value: unknown): FieldError {
  return { type: 'FieldValueNotFound', field, body: `Not found: ${show(value)}` };
}

/** The text is too long (`field.TooLong`). */
export function tooLong(field: string, maxBytes: number): FieldError {
  return {
    type: 'FieldValueTooLong',
    field,
    body: `Too long: may not be more than ${maxBytes} ${maxBytes === 1 ? 'byte' : 'bytes'}`,
  };
}

/** There are too many elements (`field.TooMany`). */
export function tooMany(field: string, actual: number, max: number): FieldError {
  return {
    type: 'FieldValueTooMany',
    field,
    body: `Too many: ${actual}: must have at most ${max} ${max === 1 ? 'item' : 'items'}`,
  };
}

/** The server could not look at the value (`field.InternalError`). */
export function internalError(field: string, detail: string): FieldError {
  return { type: 'InternalError', field, body: join('Internal error', detail) };
}

/** As it stands in a message. */
export function formatFieldError(error: FieldError): string {
  return `${error.field}: ${error.body}`;
}

export function causeOf(error: FieldError): StatusCause {
  return { reason: error.type, message: error.body, field: error.field };
}

/** A text to which Go has a pointer: it is shown in JSON, not in quotes of Go's own. */
export function pointer(text: unknown): unknown {
  return { toJSON: () => text };
}

/** A value as Go prints it in such an error. */
function show(value: unknown): string {
  if (typeof value === 'string') return goQuote(value);
  // Go's encoder makes JSON safe to stand in HTML.
  return JSON.stringify(value ?? null).replace(/[<>&]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`);
}

function join(head: string, detail: string): string {
  return detail === '' ? head : `${head}: ${detail}`;
}
