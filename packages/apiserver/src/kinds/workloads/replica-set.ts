import { recordOf } from '../../resource/metadata.js';
import { checkImmutable } from '../../schema/object-meta.js';
import type { KindRules } from '../kind-rules.js';
import { withoutDisabledIn } from '../pods/disabled-fields.js';
import { templateDefaults } from '../pods/pod-template.js';
import { nameWarnings, templateWarnings } from '../pods/pod-warnings.js';
import { checkCounts, checkReplicaStatus, checkSelectorAndTemplate } from './replica-checks.js';

export const replicaSetRules: KindRules = {
  defaults: { 'spec.replicas': 1, ...templateDefaults('spec.template') },
  prepare: (object) => withoutDisabledIn(object, ['spec', 'template']),
  validate: ({ spec }) => [
    ...checkCounts(recordOf(spec), ['replicas', 'minReadySeconds'], 'spec'),
    // Upstream says so, too.
    ...checkSelectorAndTemplate(recordOf(spec), { empty: 'deployment', deadline: 'ReplicaSet' }),
  ],
  validateUpdate: (now, before) =>
    checkImmutable(recordOf(now.spec).selector ?? null, recordOf(before.spec).selector ?? null, 'spec.selector'),
  validateStatus: ({ status }) => [
    ...checkCounts(recordOf(status), ['replicas', ...counts, 'observedGeneration', 'terminatingReplicas'], 'status'),
    ...checkReplicaStatus(recordOf(status), counts),
  ],
  warnings: (set, before) => [...nameWarnings(set, before), ...templateWarnings(set, before, 'spec.template')],
};

/** Pods of a ReplicaSet or a ReplicationController in some state. */
export const counts: readonly string[] = ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'];
