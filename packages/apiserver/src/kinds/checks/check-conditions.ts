import type { Json, JsonObject } from 'riata/object';
import { numberOf, recordsOf, textOf } from '../../resource/metadata.js';
import { byteLength, qualifiedName } from '../../schema/name-rules.js';
import { append } from '../../status/append.js';
import { duplicate, type FieldError, invalid, notSupported, required, tooLong } from '../../status/field-error.js';
import { checkText } from './basic-checks.js';
import { byPattern } from './text-rules.js';

const reason = byPattern(
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'",
  '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?',
  'my_name',
  'MY_NAME',
  'MyName',
  'ReasonA,ReasonB',
  'ReasonA:ReasonB',
);
const states = ['False', 'True', 'Unknown'];

/** The problems of conditions of the common form (`metav1validation.ValidateConditions`). */
export function checkConditions(given: Json | undefined, path: string): FieldError[] {
  const types = new Set<string>();
  return recordsOf(given).flatMap((condition, index) => {
    const type = textOf(condition.type);
    const again = types.has(type);
    types.add(type);
    return [
      ...(again ? [duplicate(`${path}[${index}].type`, type)] : []),
      ...checkCondition(condition, `${path}[${index}]`),
    ];
  });
}

function checkCondition(condition: JsonObject, path: string): FieldError[] {
  const why = textOf(condition.reason);
  const observed = numberOf(condition.observedGeneration);
  const time = condition.lastTransitionTime;
  const errors = checkText(qualifiedName, textOf(condition.type), `${path}.type`);
  if (!states.includes(textOf(condition.status))) {
    errors.push(notSupported(`${path}.status`, textOf(condition.status), states));
  }
  if (observed < 0) {
    errors.push(invalid(`${path}.observedGeneration`, observed, 'must be greater than or equal to zero'));
  }
  if (time === undefined || time === null) errors.push(required(`${path}.lastTransitionTime`));
  if (why === '') errors.push(required(`${path}.reason`));
  else append(errors, checkText(reason, why, `${path}.reason`));
  if (byteLength(why) > 1024) errors.push(tooLong(`${path}.reason`, 1024));
  if (byteLength(textOf(condition.message)) > 32 * 1024) errors.push(tooLong(`${path}.message`, 32 * 1024));
  return errors;
}
