import type { JsonObject } from 'riata/object';
import { recordOf } from '../../resource/metadata.js';
import { type FieldError, invalid } from '../../status/field-error.js';
import { checkEnum } from '../checks/basic-checks.js';
import { checkConditions } from '../checks/check-conditions.js';
import { checkLabelSelector } from '../checks/label-selector.js';
import type { KindRules } from '../kind-rules.js';
import { checkAmountOrPercent, checkAtMostAll, checkCounts } from './replica-checks.js';

export const disruptionBudgetRules: KindRules = {
  validate: ({ spec }) => checkSpec(recordOf(spec)),
  validateStatus: ({ status }) => [
    ...checkConditions(recordOf(status).conditions, 'status.conditions'),
    ...checkCounts(
      recordOf(status),
      ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'],
      'status',
    ),
  ],
};

function checkSpec(spec: JsonObject): FieldError[] {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy: policy } = spec;
  const both = minAvailable !== undefined && maxUnavailable !== undefined;
  return [
    ...(both ? [invalid('spec', shown(spec), 'minAvailable and maxUnavailable cannot be both set')] : []),
    ...checkAmountOrPercent(minAvailable, 'spec.minAvailable'),
    ...checkAtMostAll(minAvailable, 'spec.minAvailable'),
    ...checkAmountOrPercent(maxUnavailable, 'spec.maxUnavailable'),
    ...checkAtMostAll(maxUnavailable, 'spec.maxUnavailable'),
    ...checkLabelSelector(selector, 'spec.selector'),
    ...checkEnum(policy, ['AlwaysAllow', 'IfHealthyBudget'], 'spec.unhealthyPodEvictionPolicy'),
  ];
}

/** As the real server shows it: by the names that its own form of the object has. */
function shown(spec: JsonObject): JsonObject {
  const { minAvailable = null, selector = null, maxUnavailable = null, unhealthyPodEvictionPolicy = null } = spec;
  return {
    MinAvailable: minAvailable,
    Selector: selector,
    MaxUnavailable: maxUnavailable,
    UnhealthyPodEvictionPolicy: unhealthyPodEvictionPolicy,
  };
}
