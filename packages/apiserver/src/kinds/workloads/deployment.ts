import type { KindRules } from '../kind-rules.js';
import { templateDefaults } from '../pods/pod-template.js';

export const deploymentRules: KindRules = {
  // They are copied to the ReplicaSets.
  countsAnnotations: true,
  defaults: {
    'spec.replicas': 1,
    'spec.strategy.type': 'RollingUpdate',
    'spec.strategy.rollingUpdate': ({ type }) => (type === 'RollingUpdate' ? {} : undefined),
    'spec.strategy.rollingUpdate.maxUnavailable': '25%',
    'spec.strategy.rollingUpdate.maxSurge': '25%',
    'spec.revisionHistoryLimit': 10,
    'spec.progressDeadlineSeconds': 600,
    ...templateDefaults('spec.template'),
  },
};
