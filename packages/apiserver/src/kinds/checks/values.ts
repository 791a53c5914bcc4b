import { equal, type Json } from 'riata/object';
import { type FieldError, invalid, notSupported, required } from '../../status/field-error.js';

/** A text that must be there and be one of these. */
export function checkOneOf(field: string, value: string, known: readonly string[]): FieldError[] {
  if (value === '') return [required(field)];
  return checkKnown(field, value, known);
}

/** A text that must be one of these. */
export function checkKnown(field: string, value: string, known: readonly string[]): FieldError[] {
  return known.includes(value) ? [] : [notSupported(field, value, known)];
}

/** A field that stays as it is (`ValidateImmutableField`). `shown` is what the complaint shows of the new value. */
export function checkUnchanged(
  field: string,
  value: Json | undefined,
  before: Json | undefined,
  shown: unknown = value,
): FieldError[] {
  return equal(value ?? null, before ?? null) ? [] : [invalid(field, shown, 'field is immutable')];
}

export function checkNotNegative(field: string, value: number): FieldError[] {
  return value < 0 ? [invalid(field, value, 'must be greater than or equal to 0')] : [];
}

/** A text that a rule, e.g. for names, has nothing against. */
export function checkText(field: string, value: string, rule: (text: string) => readonly string[]): FieldError[] {
  return rule(value).map((problem) => invalid(field, value, problem));
}

/** A text that must be there, and that a rule has nothing against. */
export function checkGivenText(field: string, value: string, rule: (text: string) => readonly string[]): FieldError[] {
  return value === '' ? [required(field)] : checkText(field, value, rule);
}
