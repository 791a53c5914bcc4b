import type { Status, StatusCause } from '../../object/meta.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import { type FieldPath, type FieldSteps, formatFieldPath, stepsOf, valueAtPath } from './field-path.js';

/** Why a field is refused, and how Kubernetes words it (`field.ErrorType`). */
const reasons = {
  invalid: ['FieldValueInvalid', 'Invalid value'],
  required: ['FieldValueRequired', 'Required value'],
  forbidden: ['FieldValueForbidden', 'Forbidden'],
  notSupported: ['FieldValueNotSupported', 'Unsupported value'],
  duplicate: ['FieldValueDuplicate', 'Duplicate value'],
  notFound: ['FieldValueNotFound', 'Not found'],
  tooLong: ['FieldValueTooLong', 'Too long'],
  tooMany: ['FieldValueTooMany', 'Too many'],
} as const;

/** The reasons that show the value that is refused. */
const showsValue: ReadonlySet<string> = new Set(['invalid', 'notSupported', 'duplicate', 'notFound']);
const longestValue = 200;

/** The reason of a denial; see {@link DenialOptions}. */
export type DenialReason = keyof typeof reasons;

/** Options of a denial of a field. */
export interface DenialOptions {
  /** The kind of problem, which clients can check (`field.Invalid`, `field.Required`…). @default 'invalid' */
  readonly reason?: DenialReason;
  /**
   * Whether the message repeats the value that is refused, as Kubernetes does.
   * @default true for texts, numbers and booleans; false for Secrets, and for paths given as a text
   */
  readonly showValue?: boolean;
}

const denialOptionNames = optionNames<DenialOptions>({ reason: true, showValue: true });

interface Denial {
  /** `''`: the request as a whole. */
  readonly field: string;
  readonly reason: string;
  /** Without the field. */
  readonly text: string;
  readonly message: string;
}

/** The names that the message of a denied request has. */
export interface DeniedObject {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
}

/** The denials of one request. */
export class Denials {
  readonly #list: Denial[] = [];

  get count(): number {
    return this.#list.length;
  }

  /** `object` is the one that the value is shown of. */
  add(object: unknown, target: FieldPath | string, message: string | undefined, options: DenialOptions = {}): void {
    if (message === undefined) {
      if (typeof target !== 'string') throw new TypeError('deny: expects a message, as in deny(path, message)');
      this.#list.push({ field: '', reason: 'FieldValueForbidden', text: `Forbidden: ${target}`, message: target });
      return;
    }
    refuseUnknownOptions('deny', options, denialOptionNames);
    const steps = stepsOf(target);
    if (steps === undefined && typeof target !== 'string') {
      throw new TypeError("deny: expects a path such as path.spec.zone, or its text 'spec.zone'");
    }
    const { reason = 'invalid', showValue } = options;
    const known = Object.hasOwn(reasons, reason) ? reasons[reason] : undefined;
    if (known === undefined) {
      const names = Object.keys(reasons).join(', ');
      throw new TypeError(`deny: reason must be one of ${names}, got ${JSON.stringify(reason)}`);
    }
    const [cause, words] = known;
    const value = steps !== undefined && showsValue.has(reason) ? shownValue(object, steps, showValue) : undefined;
    const text = [words, value, message === '' ? undefined : message].filter((part) => part !== undefined).join(': ');
    this.#list.push({
      field: steps === undefined ? String(target) : formatFieldPath(steps),
      reason: cause,
      text,
      message,
    });
  }

  /** The denials in words, without values. */
  *details(): Iterable<string> {
    for (const { field, message } of this.#list)
      yield field === '' ? `denied: ${message}` : `denied ${field}: ${message}`;
  }

  /**
   * The answer to the request: `Invalid` (422) as `apierrors.NewInvalid` words it, with a cause for each denial, or
   * `Forbidden` (403) as `admission.Denied` if none is about a field.
   */
  status({ group, kind, name }: DeniedObject): Status {
    if (this.#list.every(({ field }) => field === '')) {
      const message = this.#list.map((denial) => denial.message).join('; ');
      return { status: 'Failure', code: 403, reason: 'Forbidden', message };
    }
    const causes = this.#list.map(({ field, reason, text }): StatusCause => {
      return field === '' ? { reason, message: text } : { reason, message: text, field };
    });
    const texts = new Set(this.#list.map(({ field, text }) => (field === '' ? text : `${field}: ${text}`)));
    const all = texts.size === 1 ? [...texts][0] : `[${[...texts].join(', ')}]`;
    return {
      status: 'Failure',
      code: 422,
      reason: 'Invalid',
      message: `${group === '' ? kind : `${kind}.${group}`} ${JSON.stringify(name)} is invalid: ${all}`,
      details: { name, ...(group === '' ? {} : { group }), kind, causes },
    };
  }
}

function shownValue(object: unknown, path: FieldSteps, showValue: boolean | undefined): string | undefined {
  const isSecret = (object as { kind?: unknown } | null | undefined)?.kind === 'Secret' && path[0] !== 'metadata';
  if (!(showValue ?? !isSecret)) return undefined;
  const value = valueAtPath(object, path);
  const isScalar = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  if (!isScalar && showValue !== true) return undefined;
  const text = JSON.stringify(value ?? null);
  return text.length > longestValue ? undefined : text;
}
