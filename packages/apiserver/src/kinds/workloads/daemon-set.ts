import { equal, type JsonObject } from 'riata/object';
import { metaOf, recordOf, valueAt, withMeta } from '../../resource/metadata.js';
import { checkImmutable } from '../../schema/object-meta.js';
import { type FieldError, invalid, notSupported, required } from '../../status/field-error.js';
import { checkLabelSelector, isEmptySelector } from '../checks/label-selector.js';
import { computed } from '../defaults-table.js';
import type { KindRules } from '../kind-rules.js';
import { checkLastingTemplate, checkTemplateLabels } from '../pods/checks/pod-template-checks.js';
import { withoutDisabledIn } from '../pods/disabled-fields.js';
import { templateDefaults } from '../pods/pod-template.js';
import { templateWarnings } from '../pods/pod-warnings.js';
import {
  amountOrPercent,
  checkAmountOrPercent,
  checkAtMostAll,
  checkCollisions,
  checkCounts,
} from './replica-checks.js';

/** The defaults of rolling updates. */
const rolling = (value: number) => (_: JsonObject, set: JsonObject) =>
  (valueAt(set, 'spec.updateStrategy.type') ?? 'RollingUpdate') === 'RollingUpdate' ? value : undefined;

export const daemonSetRules: KindRules = {
  defaults: {
    'spec.updateStrategy.type': 'RollingUpdate',
    'spec.updateStrategy.rollingUpdate': ({ type }) => (type === 'RollingUpdate' ? {} : undefined),
    'spec.updateStrategy.rollingUpdate.maxUnavailable': rolling(1),
    'spec.updateStrategy.rollingUpdate.maxSurge': rolling(0),
    'spec.revisionHistoryLimit': 10,
    'metadata.annotations': computed((annotations) =>
      recordOf(annotations)[generation] === undefined ? { ...recordOf(annotations), [generation]: '0' } : annotations,
    ),
    ...templateDefaults('spec.template'),
  },
  validate: ({ spec }) => checkSpec(recordOf(spec)),
  validateUpdate: (now, before) =>
    checkImmutable(recordOf(now.spec).selector ?? null, recordOf(before.spec).selector ?? null, 'spec.selector'),
  validateStatus: ({ status }, before) => [
    ...checkCounts(recordOf(status), counts, 'status'),
    ...checkCollisions(recordOf(status), recordOf(before.status)),
  ],
  warnings: (set, before) => templateWarnings(set, before, 'spec.template'),
  prepare: (set, before, { subresource }) =>
    subresource === 'status' ? set : withTemplateGeneration(withoutDisabledIn(set, ['spec', 'template']), before),
};

/** Counts changes of the template; once a field of the spec. */
const generation = 'deprecated.daemonset.template.generation';

function withTemplateGeneration(set: JsonObject, before: JsonObject | undefined): JsonObject {
  const annotations = recordOf(metaOf(set).annotations);
  const counted = before === undefined ? Math.max(1, Number(annotations[generation])) : next(set, before);
  return withMeta(set, { annotations: { ...annotations, [generation]: String(counted) } });
}

function next(set: JsonObject, before: JsonObject): number {
  const known = Number(recordOf(metaOf(before).annotations)[generation] ?? 0);
  return equal(valueAt(set, 'spec.template') ?? {}, valueAt(before, 'spec.template') ?? {}) ? known : known + 1;
}

const counts = [
  'currentNumberScheduled',
  'numberMisscheduled',
  'desiredNumberScheduled',
  'numberReady',
  'observedGeneration',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
  'collisionCount',
];

function checkSpec(spec: JsonObject): FieldError[] {
  const { selector, template } = spec;
  const isSet = selector !== undefined && selector !== null;
  return [
    ...checkLabelSelector(selector, 'spec.selector'),
    ...checkTemplateLabels(selector, template, 'spec.template'),
    ...(isSet && isEmptySelector(selector)
      ? [invalid('spec.selector', selector, 'empty selector is invalid for daemonset')]
      : []),
    ...checkLastingTemplate(template, 'DaemonSet', 'spec.template'),
    ...checkCounts(spec, ['minReadySeconds', 'revisionHistoryLimit'], 'spec'),
    ...checkStrategy(recordOf(spec.updateStrategy), 'spec.updateStrategy'),
  ];
}

function checkStrategy({ type, rollingUpdate }: JsonObject, path: string): FieldError[] {
  if (type === 'OnDelete') return [];
  const at = `${path}.rollingUpdate`;
  const { maxUnavailable, maxSurge } = recordOf(rollingUpdate);
  if (type !== 'RollingUpdate') {
    const update =
      rollingUpdate === undefined ? null : { MaxUnavailable: maxUnavailable ?? 0, MaxSurge: maxSurge ?? 0 };
    return [notSupported(path, { Type: type ?? '', RollingUpdate: update }, ['RollingUpdate', 'OnDelete'])];
  }
  const [away, more] = [amountOrPercent(maxUnavailable) !== 0, amountOrPercent(maxSurge) !== 0];
  return [
    ...checkAmountOrPercent(maxUnavailable, `${at}.maxUnavailable`),
    ...checkAmountOrPercent(maxSurge, `${at}.maxSurge`),
    ...checkAtMostAll(maxUnavailable, `${at}.maxUnavailable`),
    ...checkAtMostAll(maxSurge, `${at}.maxSurge`),
    ...(away && more ? [invalid(`${at}.maxSurge`, maxSurge, 'may not be set when maxUnavailable is non-zero')] : []),
    ...(away || more ? [] : [required(`${at}.maxUnavailable`, 'cannot be 0 when maxSurge is 0')]),
  ];
}
