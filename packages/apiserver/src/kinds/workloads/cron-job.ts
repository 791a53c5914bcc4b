import { prefixed } from '../defaults-table.js';
import type { KindRules } from '../kind-rules.js';
import { jobTemplateSpecDefaults } from './job.js';

export const cronJobRules: KindRules = {
  defaults: {
    'spec.concurrencyPolicy': 'Allow',
    'spec.suspend': false,
    'spec.successfulJobsHistoryLimit': 3,
    'spec.failedJobsHistoryLimit': 1,
    ...prefixed('spec.jobTemplate.spec', jobTemplateSpecDefaults),
  },
};
