import type { JsonObject } from 'riata/object';
import { recordOf } from '../../resource/metadata.js';
import type { KindRules } from '../kind-rules.js';
import { templateDefaults } from '../pods/pod-template.js';

const templateLabels = (controller: JsonObject) =>
  recordOf(recordOf(recordOf(recordOf(controller.spec).template).metadata)).labels;

export const replicationControllerRules: KindRules = {
  defaults: {
    'spec.replicas': 1,
    'spec.selector': (_, controller) => templateLabels(controller),
    'metadata.labels': (_, controller) => templateLabels(controller),
    ...templateDefaults('spec.template'),
  },
};
