import type { KindRules } from '../kind-rules.js';

export const priorityClassRules: KindRules = {
  defaults: { preemptionPolicy: 'PreemptLowerPriority' },
};
