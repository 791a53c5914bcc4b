import type { StructuralSchema } from 'riata/object';
import { ValidationResult, type Violation } from './validation-result.js';

/** The violations of a number: its range by format, and `multipleOf`, `minimum`, `maximum`. */
export function checkNumber(
  value: number,
  schema: StructuralSchema,
  type: string | undefined,
  format: string | undefined,
  path: string,
): ValidationResult {
  const result = new ValidationResult();
  const checkRange = (number: number, what: string) => {
    if (isInRange(number, type, format)) return;
    const kind = format === undefined ? `${type} (default format)` : `${type} with format ${format}`;
    result.add({ is: 'plain', path, message: `${what} value must be of type ${kind} in ${path}` });
  };
  const complain = (text: string) => {
    const violation: Violation = { is: 'other', path, message: `${path} in body should be ${text}`, value };
    result.add(violation);
  };
  checkRange(value, 'Checked');
  // Integers are compared as such, with what the bound is without its fraction, unless the type does not allow the bound.
  const bound = (given: number, what: string): number => {
    checkRange(given, what);
    return isInt64(value) && isInRange(given, type, format) ? Math.trunc(given) : given;
  };
  const { multipleOf, minimum, maximum, exclusiveMinimum = false, exclusiveMaximum = false } = schema;
  if (multipleOf !== undefined) {
    const factor = bound(multipleOf, 'MultipleOf');
    if (factor <= 0) {
      const message = `factor MultipleOf declared for ${path} must be positive: ${goNumber(factor)}`;
      result.add({ is: 'other', path, message, value: factor });
    } else if (!isMultiple(value, factor)) complain(`a multiple of ${goNumber(factor)}`);
  }
  if (minimum !== undefined) {
    const least = bound(minimum, 'Minimum boundary');
    if (exclusiveMinimum ? value <= least : value < least) {
      complain(`greater than ${exclusiveMinimum ? '' : 'or equal to '}${goNumber(least)}`);
    }
  }
  if (maximum !== undefined) {
    const most = bound(maximum, 'Maximum boundary');
    if (exclusiveMaximum ? value >= most : value > most) {
      complain(`less than ${exclusiveMaximum ? '' : 'or equal to '}${goNumber(most)}`);
    }
  }
  return result;
}

/** Whether Go reads the number as an `int64`; it reads any other as a float. */
export function isInt64(value: number): boolean {
  return Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63;
}

function isInRange(value: number, type: string | undefined, format: string | undefined): boolean {
  if (type === 'integer') {
    const bound = format === 'int32' ? 2 ** 31 : 2 ** 63;
    return Number.isInteger(value) && value >= -bound && value < bound;
  }
  return format !== 'float' || Number.isFinite(Math.fround(value));
}

function isMultiple(value: number, factor: number): boolean {
  if (Number.isInteger(value) && Number.isInteger(factor)) return value % factor === 0;
  const ratio = factor < 1 ? (1 / factor) * value : value / factor;
  const whole = Math.round(ratio);
  // Go's notion of a float that is an integer: off by no more than a billionth, relatively.
  return ratio === whole || Math.abs(ratio - whole) / (Math.abs(ratio) + Math.abs(whole)) < 1e-9;
}

/** A number as Go's `%v` prints it. */
export function goNumber(value: number): string {
  const text = String(value);
  if (Math.abs(value) >= 1e-4 || value === 0) return text;
  return value.toExponential().replace(/e-(\d)$/, 'e-0$1');
}
