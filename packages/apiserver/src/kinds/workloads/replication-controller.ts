import type { Json, JsonObject } from 'riata/object';
import { recordOf } from '../../resource/metadata.js';
import { type FieldError, required } from '../../status/field-error.js';
import type { KindRules } from '../kind-rules.js';
import { checkLastingTemplate, unmatched } from '../pods/checks/pod-template-checks.js';
import { withoutDisabledIn } from '../pods/disabled-fields.js';
import { templateDefaults } from '../pods/pod-template.js';
import { nameWarnings, templateWarnings } from '../pods/pod-warnings.js';
import { checkCounts, checkReplicaStatus } from './replica-checks.js';
import { counts } from './replica-set.js';

const templateLabels = (controller: JsonObject) =>
  recordOf(recordOf(recordOf(recordOf(controller.spec).template).metadata)).labels;

export const replicationControllerRules: KindRules = {
  defaults: {
    'spec.replicas': 1,
    'spec.selector': (_, controller) => templateLabels(controller),
    'metadata.labels': (_, controller) => templateLabels(controller),
    ...templateDefaults('spec.template'),
  },
  prepare: (object) => withoutDisabledIn(object, ['spec', 'template']),
  validate: ({ spec }) => checkSpec(recordOf(spec)),
  validateStatus: ({ status }) => [
    ...checkCounts(recordOf(status), ['replicas', ...counts, 'observedGeneration'], 'status'),
    ...checkReplicaStatus(recordOf(status), counts),
  ],
  warnings: (controller, before) => [
    ...nameWarnings(controller, before),
    ...templateWarnings(controller, before, 'spec.template'),
  ],
};

function checkSpec(spec: JsonObject): FieldError[] {
  const { selector, template } = spec;
  const isEmpty = Object.keys(recordOf(selector)).length === 0;
  const errors = [
    ...checkCounts(spec, ['minReadySeconds', 'replicas'], 'spec'),
    ...(isEmpty ? [required('spec.selector')] : []),
  ];
  if (template === undefined || template === null) return [...errors, required('spec.template')];
  return [
    ...errors,
    ...(isEmpty || matches(recordOf(selector), template) ? [] : [unmatched(template)]),
    ...checkLastingTemplate(template, 'ReplicationController', 'spec.template'),
  ];
}

/** Selectors of this kind are labels, and never judged as such. */
function matches(selector: JsonObject, template: Json): boolean {
  const labels = recordOf(recordOf(recordOf(template).metadata).labels);
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}
