import type { KindRules } from '../kind-rules.js';
import { templateDefaults } from '../pods/pod-template.js';

export const replicaSetRules: KindRules = {
  defaults: { 'spec.replicas': 1, ...templateDefaults('spec.template') },
};
