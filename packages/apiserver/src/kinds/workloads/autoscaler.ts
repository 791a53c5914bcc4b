import type { Json, JsonObject } from 'riata/object';
import { numberOf, recordOf, recordsOf, textOf } from '../../resource/metadata.js';
import { type FieldError, forbidden, invalid, notSupported, required } from '../../status/field-error.js';
import { computed } from '../defaults-table.js';
import type { KindRules } from '../kind-rules.js';
import { checkAmount } from '../pods/checks/resource-checks.js';
import { checkMetric } from './check-metric.js';
import { checkReference } from './check-reference.js';
import { checkCounts } from './replica-checks.js';

/** The default CPU target without a metric, in percent. */
const cpuMetric: JsonObject = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
};
const ofAll = { type: 'Percent', value: 100, periodSeconds: 15 };
const scaleUp: JsonObject = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [{ type: 'Pods', value: 4, periodSeconds: 15 }, ofAll],
};
const scaleDown: JsonObject = { selectPolicy: 'Max', policies: [ofAll] };

const filled = (rules: JsonObject) => computed((given) => ({ ...rules, ...recordOf(given) }));

export const autoscalerRules: KindRules = {
  defaults: {
    'spec.minReplicas': 1,
    'spec.metrics': () => [cpuMetric],
    'spec.behavior.scaleUp': filled(scaleUp),
    'spec.behavior.scaleDown': filled(scaleDown),
  },
  validate: ({ spec }, before) => checkSpec(recordOf(spec), before && recordOf(before.spec)),
  validateStatus: ({ status }) => checkCounts(recordOf(status), ['currentReplicas', 'desiredReplicas'], 'status'),
};

function checkSpec(spec: JsonObject, before: JsonObject | undefined): FieldError[] {
  const { minReplicas, maxReplicas } = spec;
  const [min, max] = [numberOf(minReplicas), numberOf(maxReplicas)];
  const least = before !== undefined && before.minReplicas === 0 ? 0 : 1;
  const errors: FieldError[] = [];
  if (minReplicas !== undefined && min < least) {
    errors.push(invalid('spec.minReplicas', minReplicas, `must be greater than or equal to ${least}`));
  }
  if (max === 0) errors.push(required('spec.maxReplicas', 'must be set and greater than 0'));
  else if (max < 0) errors.push(invalid('spec.maxReplicas', max, 'must be greater than or equal to 1'));
  if (minReplicas !== undefined && max < min) {
    errors.push(invalid('spec.maxReplicas', max, 'must be greater than or equal to `minReplicas`'));
  }
  return [
    ...errors,
    ...checkTarget(recordOf(spec.scaleTargetRef), before),
    ...checkMetrics(spec),
    ...checkRules(recordOf(spec.behavior).scaleUp, 'spec.behavior.scaleUp'),
    ...checkRules(recordOf(spec.behavior).scaleDown, 'spec.behavior.scaleDown'),
  ];
}

function checkTarget(target: JsonObject, before: JsonObject | undefined): FieldError[] {
  const old = before && recordOf(before.scaleTargetRef);
  const same = old !== undefined && old.apiVersion === target.apiVersion && old.kind === target.kind;
  return checkReference(target, 'spec.scaleTargetRef', {
    anyVersion: same,
    coreGroup: target.kind === 'ReplicationController',
  });
}

function checkMetrics(spec: JsonObject): FieldError[] {
  const metrics = recordsOf(spec.metrics);
  const errors = metrics.flatMap((metric, index) => checkMetric(metric, `spec.metrics[${index}]`));
  if (spec.minReplicas !== 0 || metrics.some(({ type }) => type === 'Object' || type === 'External')) return errors;
  const detail = 'must specify at least one Object or External metric to support scaling to zero replicas';
  return [...errors, forbidden('spec.metrics', detail)];
}

function checkRules(given: Json | undefined, path: string): FieldError[] {
  if (given === undefined) return [];
  const { stabilizationWindowSeconds: seconds, selectPolicy, policies, tolerance } = recordOf(given);
  const errors: FieldError[] = [];
  const at = `${path}.stabilizationWindowSeconds`;
  if (numberOf(seconds) < 0) errors.push(invalid(at, seconds, 'must be greater than or equal to zero'));
  if (numberOf(seconds) > 3600) errors.push(invalid(at, seconds, 'must be less than or equal to 3600'));
  const known = ['Disabled', 'Max', 'Min'];
  if (selectPolicy !== undefined && !known.includes(textOf(selectPolicy))) {
    errors.push(notSupported(`${path}.selectPolicy`, selectPolicy, known));
  }
  if (recordsOf(policies).length === 0) errors.push(required(`${path}.policies`, 'must specify at least one Policy'));
  return [
    ...errors,
    ...recordsOf(policies).flatMap((policy, index) => checkPolicy(policy, `${path}.policies[${index}]`)),
    ...(tolerance === undefined ? [] : checkAmount('tolerance', tolerance, `${path}.tolerance`)),
  ];
}

function checkPolicy({ type, value, periodSeconds }: JsonObject, path: string): FieldError[] {
  const types = ['Percent', 'Pods'];
  const errors = types.includes(textOf(type)) ? [] : [notSupported(`${path}.type`, textOf(type), types)];
  const seconds = numberOf(periodSeconds);
  if (numberOf(value) <= 0) errors.push(invalid(`${path}.value`, numberOf(value), 'must be greater than zero'));
  if (seconds <= 0) errors.push(invalid(`${path}.periodSeconds`, seconds, 'must be greater than zero'));
  if (seconds > 1800) errors.push(invalid(`${path}.periodSeconds`, seconds, 'must be less than or equal to 1800'));
  return errors;
}
