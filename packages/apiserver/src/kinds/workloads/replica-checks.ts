import type { Json, JsonObject } from 'riata/object';
import { numberOf } from '../../resource/metadata.js';
import { append } from '../../status/append.js';
import { type FieldError, invalid, required } from '../../status/field-error.js';
import { checkNonNegative, checkText } from '../checks/basic-checks.js';
import { checkLabelSelector, isEmptySelector } from '../checks/label-selector.js';
import { percent } from '../checks/text-rules.js';
import { checkLastingTemplate, checkTemplateLabels, selectorMatches } from '../pods/checks/pod-template-checks.js';

/** The selector and the template of a kind that keeps Pods running. */
export function checkSelectorAndTemplate(
  spec: JsonObject,
  names: { readonly empty: string; readonly deadline: string; readonly unreadable?: string },
): FieldError[] {
  const { selector, template } = spec;
  const errors: FieldError[] = [];
  if (selector === undefined || selector === null) errors.push(required('spec.selector'));
  else {
    append(errors, checkLabelSelector(selector, 'spec.selector'));
    if (isEmptySelector(selector)) {
      errors.push(invalid('spec.selector', selector, `empty selector is invalid for ${names.empty}`));
    }
  }
  if (selectorMatches(selector, {}) === undefined) {
    return [...errors, invalid('spec.selector', selector, names.unreadable ?? 'invalid label selector')];
  }
  // An empty selector causes no error about labels.
  const says = selector !== undefined && selector !== null && !isEmptySelector(selector);
  const nothing = selector === undefined || selector === null;
  if (says || nothing) append(errors, checkTemplateLabels(selector, template, 'spec.template'));
  return [...errors, ...checkLastingTemplate(template, names.deadline, 'spec.template')];
}

/** Numbers of a spec or a status that are never negative. */
export function checkCounts(of: JsonObject, fields: readonly string[], path: string): FieldError[] {
  return fields.flatMap((field) => checkNonNegative(of[field], `${path}.${field}`));
}

/** No count of Pods in a state may exceed the total. */
export function checkReplicaStatus(
  status: JsonObject,
  fields: readonly string[],
  available = 'readyReplicas',
): FieldError[] {
  const all = numberOf(status.replicas);
  const errors = fields.flatMap((field) =>
    numberOf(status[field]) > all
      ? [invalid(`status.${field}`, numberOf(status[field]), 'cannot be greater than status.replicas')]
      : [],
  );
  if (numberOf(status.availableReplicas) <= numberOf(status.readyReplicas)) return errors;
  const detail = `cannot be greater than ${available}`;
  return [...errors, invalid('status.availableReplicas', numberOf(status.availableReplicas), detail)];
}

/** How often names have collided only rises. */
export function checkCollisions(status: JsonObject, before: JsonObject): FieldError[] {
  const [now, was] = [numberOf(status.collisionCount), before.collisionCount];
  if (was === undefined || now >= numberOf(was)) return [];
  return [invalid('status.collisionCount', now, 'cannot be decremented')];
}

/** A number or a share (`ValidatePositiveIntOrPercent`). */
export function checkAmountOrPercent(value: Json | undefined, path: string): FieldError[] {
  return typeof value === 'string' ? checkText(percent, value, path) : checkNonNegative(value, path);
}

/** The number that it says, of the whole or in percent. */
export function amountOrPercent(value: Json | undefined): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && percent(value).length === 0 ? Number(value.slice(0, -1)) : 0;
}

export function checkAtMostAll(value: Json | undefined, path: string): FieldError[] {
  if (typeof value !== 'string' || amountOrPercent(value) <= 100) return [];
  return [invalid(path, value, 'must not be greater than 100%')];
}
