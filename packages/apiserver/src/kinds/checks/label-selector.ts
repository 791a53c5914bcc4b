import type { Json, JsonObject } from 'riata/object';
import { recordOf, recordsOf, stringsOf, textOf } from '../../resource/metadata.js';
import { labelValue, qualifiedName } from '../../schema/name-rules.js';
import { checkLabels } from '../../schema/object-meta.js';
import { type FieldError, forbidden, invalid, required } from '../../status/field-error.js';
import { checkText } from './basic-checks.js';

/** The problems of a label selector (`metav1validation.ValidateLabelSelector`); a missing one is fine. */
export function checkLabelSelector(selector: Json | undefined, path: string): FieldError[] {
  const { matchLabels, matchExpressions } = recordOf(selector);
  return [
    ...checkLabels(recordOf(matchLabels), `${path}.matchLabels`),
    ...recordsOf(matchExpressions).flatMap((one, i) => checkRequirement(one, `${path}.matchExpressions[${i}]`)),
  ];
}

/** Whether a selector says nothing at all, and so selects everything. */
export function isEmptySelector(selector: Json | undefined): boolean {
  const { matchLabels, matchExpressions } = recordOf(selector);
  return Object.keys(recordOf(matchLabels)).length === 0 && recordsOf(matchExpressions).length === 0;
}

function checkRequirement(requirement: JsonObject, path: string): FieldError[] {
  const values = stringsOf(requirement.values);
  return [
    ...checkOperator(textOf(requirement.operator), values, path),
    ...checkText(qualifiedName, textOf(requirement.key), `${path}.key`),
    ...values.flatMap((value, i) => checkText(labelValue, value, `${path}.values[${i}]`)),
  ];
}

function checkOperator(operator: string, values: readonly string[], path: string): FieldError[] {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0
        ? []
        : [required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      return values.length === 0
        ? []
        : [forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
    default:
      return [invalid(`${path}.operator`, operator, 'not a valid selector operator')];
  }
}
