import type { JsonObject } from 'riata/object';
import { numberOf, recordOf, recordsOf, textOf } from '../../resource/metadata.js';
import { dnsLabel, qualifiedName } from '../../schema/name-rules.js';
import { append } from '../../status/append.js';
import {
  duplicate,
  type FieldError,
  invalid,
  invalidWithoutValue,
  notSupported,
  required,
  tooLong,
  tooMany,
} from '../../status/field-error.js';
import { checkText } from '../checks/basic-checks.js';
import { checkDomainPath } from '../checks/domain-names.js';
import { checkPodTemplate } from '../pods/checks/pod-template-checks.js';
import { parseIndexes } from './job-indexes.js';
import { checkCounts } from './replica-checks.js';

const manyCompletions = 100_000;
const numbers = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
];

/** The problems of the spec of a Job, selector apart (`validateJobSpec`). */
export function checkJobSpec(spec: JsonObject, path: string): FieldError[] {
  const { completionMode: mode, managedBy, maxFailedIndexes, backoffLimitPerIndex } = spec;
  const errors = checkCounts(spec, numbers, path);
  if (maxFailedIndexes !== undefined && backoffLimitPerIndex === undefined) {
    errors.push(required(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified'));
  }
  if (managedBy !== undefined) {
    append(errors, checkDomainPath(textOf(managedBy), `${path}.managedBy`));
    if (textOf(managedBy).length > 63) errors.push(tooLong(`${path}.managedBy`, 63));
  }
  if (mode !== undefined && mode !== 'NonIndexed' && mode !== 'Indexed') {
    errors.push(notSupported(`${path}.completionMode`, mode, ['NonIndexed', 'Indexed']));
  }
  if (mode === 'Indexed') append(errors, checkIndexed(spec, path));
  if (mode === undefined || mode === 'NonIndexed') {
    for (const field of ['backoffLimitPerIndex', 'maxFailedIndexes']) {
      if (spec[field] === undefined) continue;
      errors.push(invalid(`${path}.${field}`, spec[field], 'requires indexed completion mode'));
    }
  }
  return [
    ...errors,
    ...checkFailurePolicy(spec, `${path}.podFailurePolicy`),
    ...checkSuccessPolicy(spec, `${path}.successPolicy`),
    ...checkReplacement(spec, `${path}.podReplacementPolicy`),
    ...checkPodTemplate(spec.template, `${path}.template`),
    ...checkRestartPolicy(spec, `${path}.template.spec.restartPolicy`),
  ];
}

function checkIndexed(spec: JsonObject, path: string): FieldError[] {
  const { completions, parallelism, maxFailedIndexes: failed, backoffLimitPerIndex } = spec;
  const errors: FieldError[] = [];
  if (completions === undefined) errors.push(required(`${path}.completions`, 'when completion mode is Indexed'));
  const most = (field: string, limit: number, when = '') => {
    if (numberOf(spec[field]) <= limit) return;
    errors.push(invalid(`${path}.${field}`, spec[field], `must be less than or equal to ${limit}${when}`));
  };
  most('parallelism', 100_000, ' when completion mode is Indexed');
  if (completions !== undefined && failed !== undefined && numberOf(failed) > numberOf(completions)) {
    errors.push(invalid(`${path}.maxFailedIndexes`, failed, 'must be less than or equal to completions'));
  }
  most('maxFailedIndexes', 100_000);
  if (numberOf(completions) <= manyCompletions || backoffLimitPerIndex === undefined) return errors;
  if (failed === undefined) {
    const detail = `must be specified when completions is above ${manyCompletions}`;
    errors.push(required(`${path}.maxFailedIndexes`, detail));
  }
  const when = ` when completions are above ${manyCompletions} and used with backoff limit per index`;
  if (parallelism !== undefined) most('parallelism', 10_000, when);
  most('maxFailedIndexes', 10_000, when);
  return errors;
}

const actions = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const listed = (values: readonly string[]) => `valid values: [${values.map((v) => JSON.stringify(v)).join(' ')}]`;

function checkFailurePolicy(spec: JsonObject, path: string): FieldError[] {
  if (spec.podFailurePolicy === undefined) return [];
  const rules = recordsOf(recordOf(spec.podFailurePolicy).rules);
  const pod = recordOf(recordOf(spec.template).spec);
  const names = [...recordsOf(pod.containers), ...recordsOf(pod.initContainers)].map(({ name }) => textOf(name));
  const perIndex = spec.backoffLimitPerIndex !== undefined;
  return [
    ...(rules.length > 20 ? [tooMany(`${path}.rules`, rules.length, 20)] : []),
    ...rules.flatMap((rule, index) => checkFailureRule(rule, names, perIndex, `${path}.rules[${index}]`)),
  ];
}

function checkFailureRule(rule: JsonObject, names: readonly string[], perIndex: boolean, path: string): FieldError[] {
  const action = textOf(rule.action);
  const conditions = recordsOf(rule.onPodConditions);
  const errors: FieldError[] = [];
  if (action === '') errors.push(required(`${path}.action`, listed(actions)));
  else if (action === 'FailIndex' && !perIndex) {
    errors.push(invalid(`${path}.action`, action, 'requires the backoffLimitPerIndex to be set'));
  } else if (!actions.includes(action)) errors.push(notSupported(`${path}.action`, action, actions));
  if (rule.onExitCodes !== undefined) {
    append(errors, checkExitCodes(recordOf(rule.onExitCodes), names, `${path}.onExitCodes`));
  }
  if (conditions.length > 20) errors.push(tooMany(`${path}.onPodConditions`, conditions.length, 20));
  append(
    errors,
    conditions.flatMap((one, i) => checkConditionPattern(one, `${path}.onPodConditions[${i}]`)),
  );
  const both = (rule.onExitCodes !== undefined) === conditions.length > 0;
  if (!both) return errors;
  const what =
    conditions.length > 0
      ? 'specifying both OnExitCodes and OnPodConditions is not supported'
      : 'specifying one of OnExitCodes and OnPodConditions is required';
  return [...errors, invalidWithoutValue(path, what)];
}

function checkConditionPattern({ type, status }: JsonObject, path: string): FieldError[] {
  const states = ['False', 'True', 'Unknown'];
  const errors = checkText(qualifiedName, textOf(type), `${path}.type`);
  if (textOf(status) === '') return [...errors, required(`${path}.status`, listed(states))];
  return states.includes(textOf(status)) ? errors : [...errors, notSupported(`${path}.status`, status, states)];
}

function checkExitCodes(codes: JsonObject, names: readonly string[], path: string): FieldError[] {
  const { operator, containerName } = codes;
  const values = (Array.isArray(codes.values) ? codes.values : []).map(numberOf);
  const errors: FieldError[] = [];
  if (textOf(operator) === '') errors.push(required(`${path}.operator`, listed(['In', 'NotIn'])));
  else if (operator !== 'In' && operator !== 'NotIn') {
    errors.push(notSupported(`${path}.operator`, operator, ['In', 'NotIn']));
  }
  if (containerName !== undefined && !names.includes(textOf(containerName))) {
    const detail = 'must be one of the container or initContainer names in the pod template';
    errors.push(invalid(`${path}.containerName`, containerName, detail));
  }
  const at = `${path}.values`;
  if (values.length === 0) errors.push(invalid(at, codes.values ?? null, 'at least one value is required'));
  if (values.length > 255) errors.push(tooMany(at, values.length, 255));
  for (const [i, value] of values.entries()) {
    if (operator === 'In' && value === 0)
      errors.push(invalid(`${at}[${i}]`, value, 'must not be 0 for the In operator'));
    if (values.indexOf(value) < i) errors.push(duplicate(`${at}[${i}]`, value));
  }
  const ordered = values.every((value, i) => i === 0 || numberOf(values[i - 1]) <= value);
  return ordered ? errors : [...errors, invalid(at, values, 'must be ordered')];
}

function checkSuccessPolicy(spec: JsonObject, path: string): FieldError[] {
  if (spec.successPolicy === undefined) return [];
  const rules = recordsOf(recordOf(spec.successPolicy).rules);
  if (spec.completionMode !== 'Indexed') {
    const shown = rules.map((rule) => ({
      SucceededIndexes: rule.succeededIndexes ?? null,
      SucceededCount: rule.succeededCount ?? null,
    }));
    return [invalid(path, { Rules: rules.length === 0 ? null : shown }, 'requires indexed completion mode')];
  }
  const at = `${path}.rules`;
  return [
    ...(rules.length === 0
      ? [required(at, 'at least one rules must be specified when the successPolicy is specified')]
      : []),
    ...(rules.length > 20 ? [tooMany(at, rules.length, 20)] : []),
    ...rules.flatMap((rule, i) => checkSuccessRule(rule, numberOf(spec.completions), `${at}[${i}]`)),
  ];
}

function checkSuccessRule(rule: JsonObject, completions: number, path: string): FieldError[] {
  const { succeededCount: count, succeededIndexes: indexes } = rule;
  if (count === undefined && indexes === undefined) {
    return [required(path, 'at least one of succeededCount or succeededIndexes must be specified')];
  }
  const errors: FieldError[] = [];
  const parsed = parseIndexes(textOf(indexes), completions);
  if (indexes !== undefined && 'problem' in parsed) {
    const detail = `error parsing succeededIndexes: ${parsed.problem}`;
    errors.push(invalid(`${path}.succeededIndexes`, indexes, detail));
  }
  if (count === undefined) return errors;
  const at = `${path}.succeededCount`;
  append(errors, checkCounts(rule, ['succeededCount'], path));
  if (numberOf(count) > completions) {
    const detail = `must be less than or equal to ${completions} (the number of specified completions)`;
    errors.push(invalid(at, count, detail));
  }
  const total = 'total' in parsed ? parsed.total : 0;
  if (indexes !== undefined && numberOf(count) > total) {
    const what = 'the number of indexes in the specified succeededIndexes field';
    errors.push(invalid(at, count, `must be less than or equal to ${total} (${what})`));
  }
  return errors;
}

function checkReplacement({ podReplacementPolicy: policy, podFailurePolicy }: JsonObject, path: string): FieldError[] {
  if (policy === undefined) return [];
  const allowed = podFailurePolicy === undefined ? ['Failed', 'TerminatingOrFailed'] : ['Failed'];
  return allowed.includes(textOf(policy)) ? [] : [notSupported(path, policy, allowed)];
}

function checkRestartPolicy(spec: JsonObject, path: string): FieldError[] {
  const policy = textOf(recordOf(recordOf(spec.template).spec).restartPolicy);
  if (policy === 'Always' || policy === '') return [required(path, 'valid values: "OnFailure", "Never"')];
  if (policy !== 'OnFailure' && policy !== 'Never') return [notSupported(path, policy, ['OnFailure', 'Never'])];
  if (spec.podFailurePolicy === undefined || policy === 'Never') return [];
  return [invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified')];
}

/** Pods of an indexed Job are called after it and their index. */
export function checkIndexedName(name: string, { completionMode, completions }: JsonObject): FieldError[] {
  if (completionMode !== 'Indexed' || numberOf(completions) <= 0) return [];
  const last = `${name}-${numberOf(completions) - 1}`;
  if (dnsLabel(last).length === 0) return [];
  return [invalid('metadata.name', name, `will not able to create pod with invalid DNS label: ${last}`)];
}
