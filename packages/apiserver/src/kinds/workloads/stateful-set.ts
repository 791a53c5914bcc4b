import type { JsonObject } from 'riata/object';
import { recordOf, valueAt } from '../../resource/metadata.js';
import { computed, prefixed } from '../defaults-table.js';
import type { KindRules } from '../kind-rules.js';
import { claimSpecDefaults } from '../pods/pod-defaults.js';
import { templateDefaults } from '../pods/pod-template.js';

export const statefulSetRules: KindRules = {
  defaults: {
    'spec.podManagementPolicy': 'OrderedReady',
    'spec.updateStrategy.rollingUpdate': ({ type }) => (type === undefined ? {} : undefined),
    'spec.updateStrategy.type': 'RollingUpdate',
    'spec.updateStrategy.rollingUpdate.partition': 0,
    'spec.persistentVolumeClaimRetentionPolicy': {},
    'spec.persistentVolumeClaimRetentionPolicy.whenDeleted': 'Retain',
    'spec.persistentVolumeClaimRetentionPolicy.whenScaled': 'Retain',
    'spec.replicas': 1,
    'spec.revisionHistoryLimit': 10,
    'spec.volumeClaimTemplates[].kind': computed(() => 'PersistentVolumeClaim'),
    'spec.volumeClaimTemplates[].apiVersion': computed(() => 'v1'),
    'spec.volumeClaimTemplates[].status.phase': 'Pending',
    ...prefixed('spec.volumeClaimTemplates[].spec', claimSpecDefaults),
    ...templateDefaults('spec.template'),
  },
  prepare: (set, before) =>
    maxUnavailable(before) === undefined && maxUnavailable(set) !== undefined ? unbounded(set) : set,
};

const maxUnavailable = (set: JsonObject | undefined) =>
  valueAt(set, 'spec.updateStrategy.rollingUpdate.maxUnavailable');

/** How many Pods may be away at once is a feature that is off: what is asked for is dropped. */
function unbounded(set: JsonObject): JsonObject {
  const spec = recordOf(set.spec);
  const strategy = recordOf(spec.updateStrategy);
  const { maxUnavailable: _, ...rollingUpdate } = recordOf(strategy.rollingUpdate);
  return { ...set, spec: { ...spec, updateStrategy: { ...strategy, rollingUpdate } } };
}
