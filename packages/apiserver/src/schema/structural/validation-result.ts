import type { Json } from 'riata/object';
import {
  type FieldError,
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
  typeInvalid,
} from '../../status/field-error.js';

/** A violation of a schema, before it becomes a field error. */
export interface Violation {
  readonly is: 'type' | 'required' | 'tooLong' | 'enum' | 'tooMany' | 'other' | 'plain';
  /** The place, e.g. `spec.items[0].name`; messages speak of it too. Ignored by `plain` ones, which are about the whole object. */
  readonly path: string;
  readonly message: string;
  readonly value?: Json | undefined;
  readonly limit?: number;
  readonly values?: readonly Json[];
}

/**
 * Violations without repetition, and how much matched: of several alternatives, the best one reports its violations.
 */
export class ValidationResult {
  readonly violations: Violation[] = [];
  matches = 0;
  /** There can be as many violations as a request has bytes. */
  #messages: Set<string> | undefined;

  get valid(): boolean {
    return this.violations.length === 0;
  }

  add(violation: Violation): void {
    this.#messages ??= new Set();
    if (this.#messages.has(violation.message)) return;
    this.#messages.add(violation.message);
    this.violations.push(violation);
  }

  merge(other: ValidationResult): void {
    for (const violation of other.violations) this.add(violation);
    this.matches += other.matches;
  }
}

/** As the server reports it. `root` is the path of the validated value, e.g. `status`. */
export function fieldErrorOf(violation: Violation, root: string): FieldError {
  const own = violation.path.replace(/^\./, '');
  const field = violation.is === 'plain' || own === '' ? root || '<nil>' : root === '' ? own : `${root}.${own}`;
  const { message, value = '', limit = -1 } = violation;
  switch (violation.is) {
    case 'required':
      return required(field);
    case 'enum': {
      const values = (violation.values ?? []).map((v) => (typeof v === 'string' ? v : JSON.stringify(v)));
      return notSupported(field, violation.value, values);
    }
    case 'tooLong':
      return tooLong(field, limit);
    case 'tooMany':
      return tooMany(field, value as number, limit);
    case 'type':
      return typeInvalid(field, value, message);
    case 'plain':
      return invalid(field, '', message);
    default:
      return invalid(field, value, message);
  }
}
