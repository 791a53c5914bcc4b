import type { JsonObject } from 'riata/object';
import { systemPriorities } from '../../resource/built-in/own-objects.js';
import { metaOf, numberOf, textOf, withMeta } from '../../resource/metadata.js';
import { checkImmutable } from '../../schema/object-meta.js';
import { type FieldError, forbidden, notSupported, required } from '../../status/field-error.js';
import { forbiddenWrite } from '../../status/refusal.js';
import type { KindRules } from '../kind-rules.js';

const highest = 1_000_000_000;
export const priorityClassRules: KindRules = {
  defaults: { preemptionPolicy: 'PreemptLowerPriority' },
  // It never counts further.
  prepare: (priorityClass, before) =>
    before === undefined ? withMeta(priorityClass, { generation: 1 }) : priorityClass,
  refuseDelete: (resource, name) =>
    systemPriorities[name] === undefined
      ? undefined
      : forbiddenWrite(resource, name, 'this is a system priority class and cannot be deleted'),
  validate: (priorityClass, before) => (before === undefined ? checkNew(priorityClass) : []),
  validateUpdate: (now, before) => [
    ...(numberOf(now.value) === numberOf(before.value) ? [] : [forbidden('value', 'may not be changed in an update.')]),
    ...checkImmutable(now.preemptionPolicy ?? null, before.preemptionPolicy ?? null, 'preemptionPolicy'),
  ],
};

function checkNew(priorityClass: JsonObject): FieldError[] {
  const name = textOf(metaOf(priorityClass).name);
  const policy = textOf(priorityClass.preemptionPolicy);
  const policies = ['PreemptLowerPriority', 'Never'];
  const errors = policy === '' ? [required('preemptionPolicy')] : [];
  if (policy !== '' && !policies.includes(policy)) errors.push(notSupported('preemptionPolicy', policy, policies));
  if (!name.startsWith('system-')) {
    if (numberOf(priorityClass.value) <= highest) return errors;
    return [...errors, forbidden('value', `maximum allowed value of a user defined priority is ${highest}`)];
  }
  const problem = systemProblem(name, priorityClass);
  if (problem === undefined) return errors;
  const words = "priority class names with 'system-' prefix are reserved for system use only. error:";
  return [...errors, forbidden('metadata.name', `${words} ${problem}`)];
}

function systemProblem(name: string, { value, globalDefault }: JsonObject): string | undefined {
  const expected = systemPriorities[name];
  if (expected === undefined) return `${name} is not a known system priority class`;
  if (numberOf(value) !== expected) return `value of ${name} PriorityClass must be ${expected}`;
  return globalDefault === true ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}
