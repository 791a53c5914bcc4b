import type { Json, JsonObject } from 'riata/object';
import { numberOf, recordOf, valueAt } from '../../resource/metadata.js';
import { checkImmutable } from '../../schema/object-meta.js';
import { type FieldError, forbidden, invalid, notSupported } from '../../status/field-error.js';
import type { KindRules } from '../kind-rules.js';
import { withoutDisabledIn } from '../pods/disabled-fields.js';
import { templateDefaults } from '../pods/pod-template.js';
import { nameWarnings, templateWarnings } from '../pods/pod-warnings.js';
import {
  amountOrPercent,
  checkAmountOrPercent,
  checkAtMostAll,
  checkCollisions,
  checkCounts,
  checkReplicaStatus,
  checkSelectorAndTemplate,
} from './replica-checks.js';

/** The defaults of rolling updates. */
const rolling = (value: Json) => (_: JsonObject, deployment: JsonObject) =>
  (valueAt(deployment, 'spec.strategy.type') ?? 'RollingUpdate') === 'RollingUpdate' ? value : undefined;

export const deploymentRules: KindRules = {
  // They are copied to the ReplicaSets.
  countsAnnotations: true,
  defaults: {
    'spec.replicas': 1,
    'spec.strategy.type': 'RollingUpdate',
    'spec.strategy.rollingUpdate': ({ type }) => (type === 'RollingUpdate' ? {} : undefined),
    'spec.strategy.rollingUpdate.maxUnavailable': rolling('25%'),
    'spec.strategy.rollingUpdate.maxSurge': rolling('25%'),
    'spec.revisionHistoryLimit': 10,
    'spec.progressDeadlineSeconds': 600,
    ...templateDefaults('spec.template'),
  },
  prepare: (object) => withoutDisabledIn(object, ['spec', 'template']),
  validate: ({ spec }) => checkSpec(recordOf(spec)),
  validateUpdate: (now, before) =>
    checkImmutable(recordOf(now.spec).selector ?? null, recordOf(before.spec).selector ?? null, 'spec.selector'),
  validateStatus: ({ status }, before) => [
    ...checkCounts(recordOf(status), counts, 'status'),
    ...checkReplicaStatus(recordOf(status), ['updatedReplicas', 'readyReplicas', 'availableReplicas']),
    ...checkCollisions(recordOf(status), recordOf(before.status)),
  ],
  warnings: (deployment, before) => [
    ...nameWarnings(deployment, before),
    ...templateWarnings(deployment, before, 'spec.template'),
  ],
};

const counts = [
  'observedGeneration',
  'replicas',
  'updatedReplicas',
  'readyReplicas',
  'availableReplicas',
  'unavailableReplicas',
  'terminatingReplicas',
  'collisionCount',
];

function checkSpec(spec: JsonObject): FieldError[] {
  const { progressDeadlineSeconds: deadline, minReadySeconds } = spec;
  const late = deadline !== undefined && numberOf(deadline) <= numberOf(minReadySeconds);
  const fields = ['replicas', 'minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds'];
  return [
    ...checkCounts(spec, fields, 'spec'),
    ...checkSelectorAndTemplate(spec, { empty: 'deployment', deadline: 'ReplicaSet' }),
    ...checkStrategy(recordOf(spec.strategy), 'spec.strategy'),
    ...(late ? [invalid('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds')] : []),
  ];
}

function checkStrategy(strategy: JsonObject, path: string): FieldError[] {
  const { type, rollingUpdate } = strategy;
  const at = `${path}.rollingUpdate`;
  if (type === 'Recreate') {
    if (rollingUpdate === undefined) return [];
    return [forbidden(at, "may not be specified when strategy `type` is 'Recreate'")];
  }
  const { maxUnavailable, maxSurge } = recordOf(rollingUpdate);
  if (type !== 'RollingUpdate') {
    const update =
      rollingUpdate === undefined ? null : { MaxUnavailable: maxUnavailable ?? 0, MaxSurge: maxSurge ?? 0 };
    return [notSupported(path, { Type: type ?? '', RollingUpdate: update }, ['Recreate', 'RollingUpdate'])];
  }
  const still = amountOrPercent(maxUnavailable) === 0 && amountOrPercent(maxSurge) === 0;
  return [
    ...checkAmountOrPercent(maxUnavailable, `${at}.maxUnavailable`),
    ...checkAmountOrPercent(maxSurge, `${at}.maxSurge`),
    ...(still ? [invalid(`${at}.maxUnavailable`, maxUnavailable, 'may not be 0 when `maxSurge` is 0')] : []),
    ...checkAtMostAll(maxUnavailable, `${at}.maxUnavailable`),
  ];
}
