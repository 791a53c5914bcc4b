import type { JsonObject } from 'riata/object';
import { expect, test } from 'vitest';
import { formatFieldError } from '../../status/field-error.js';
import type { KindRules } from '../kind-rules.js';
import { flowSchemaRules, priorityLevelRules } from './flow-control.js';

const problems = ({ validate }: KindRules, spec: JsonObject, name = 'x') =>
  validate?.({ metadata: { name }, spec }, undefined, '').map(formatFieldError);

const resourceRule = { verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: ['*'] };
const schema = {
  ...{ matchingPrecedence: 50, priorityLevelConfiguration: { name: 'x' } },
  rules: [{ subjects: [{ kind: 'User', user: { name: 'jane' } }], resourceRules: [resourceRule] }],
};

test('a FlowSchema must name its level, its subjects and what they ask for', () => {
  expect(problems(flowSchemaRules, schema)).toEqual([]);
  expect(
    problems(flowSchemaRules, {
      ...{ matchingPrecedence: 1, distinguisherMethod: { type: 'No' }, priorityLevelConfiguration: {} },
      rules: [{ subjects: [{ kind: 'Group', user: { name: 'x' } }] }],
    }),
  ).toEqual([
    "spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1",
    'spec.distinguisherMethod.type: Unsupported value: {"Type":"No"}: supported values: "ByNamespace", "ByUser"',
    'spec.priorityLevelConfiguration.name: Required value: must reference a priority level',
    "spec.rules[0].subjects[0].group: Required value: group is required when subject kind is 'Group'",
    "spec.rules[0].subjects[0].user: Forbidden: user is forbidden when subject kind is not 'User'",
    'spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules has to be non-empty',
  ]);
});

test('a level has seats and queues that make sense', () => {
  const limited = (more: JsonObject) => ({ type: 'Limited', limited: { limitResponse: { type: 'Reject' }, ...more } });
  const queue = (queuing: JsonObject) => limited({ limitResponse: { type: 'Queue', queuing } });
  expect(problems(priorityLevelRules, queue({ queues: 64, handSize: 8, queueLengthLimit: 50 }))).toEqual([]);
  expect(problems(priorityLevelRules, queue({ queues: 1000, handSize: 7, queueLengthLimit: 0 }))).toEqual([
    'spec.limited.limitResponse.queuing.queueLengthLimit: Invalid value: 0: must be positive',
    'spec.limited.limitResponse.queuing.handSize: Invalid value: 7: required entropy bits of deckSize 1000 and handSize 7 should not be greater than 60',
  ]);
  expect(problems(priorityLevelRules, limited({ lendablePercent: 101, borrowingLimitPercent: -1 }))).toEqual([
    'spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive',
    'spec.limited.borrowingLimitPercent: Invalid value: -1: if specified, must be a non-negative integer',
  ]);
  expect(problems(priorityLevelRules, { type: 'Exempt' })).toEqual([
    "spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'",
  ]);
});
