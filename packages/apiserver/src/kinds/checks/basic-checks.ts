import type { Json } from 'riata/object';
import { type FieldError, invalid, notSupported, required } from '../../status/field-error.js';
import type { TextRule } from './text-rules.js';

/** The problems that a rule for texts finds. */
export function checkText(rule: TextRule, text: string, path: string): FieldError[] {
  return rule(text).map((problem) => invalid(path, text, problem));
}

/** The field has to be there. */
export function checkRequired(value: Json | undefined, path: string, detail = ''): FieldError[] {
  return value === undefined || value === null || value === '' ? [required(path, detail)] : [];
}

/** The value must be one of these; a missing value is fine. Listed alphabetically, as upstream does. */
export function checkEnum(value: Json | undefined, allowed: readonly string[], path: string): FieldError[] {
  if (value === undefined || value === null || allowed.includes(value as string)) return [];
  return [notSupported(path, value, [...allowed].sort())];
}

/** The value is there, and one of these. */
export function checkRequiredEnum(value: Json | undefined, allowed: readonly string[], path: string): FieldError[] {
  return value === undefined || value === null || value === '' ? [required(path)] : checkEnum(value, allowed, path);
}

/** `validation.ValidateNonnegativeField`; a missing value is fine. */
export function checkNonNegative(value: Json | undefined, path: string): FieldError[] {
  return typeof value === 'number' && value < 0 ? [invalid(path, value, 'must be greater than or equal to 0')] : [];
}

/** `validation.ValidatePositiveField`; a missing value is fine. */
export function checkPositive(value: Json | undefined, path: string): FieldError[] {
  return typeof value === 'number' && value <= 0 ? [invalid(path, value, 'must be greater than zero')] : [];
}

/** `validation.IsInRange`; a missing value is fine. */
export function checkRange(value: Json | undefined, min: number, max: number, path: string): FieldError[] {
  if (typeof value !== 'number' || (value >= min && value <= max)) return [];
  return [invalid(path, value, `must be between ${min} and ${max}, inclusive`)];
}

/** The number of a port (`validation.IsValidPortNum`). */
export function checkPort(value: Json | undefined, path: string): FieldError[] {
  return checkRange(typeof value === 'number' ? value : 0, 1, 65535, path);
}
