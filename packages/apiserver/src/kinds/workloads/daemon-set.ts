import { equal, type JsonObject } from 'riata/object';
import { metaOf, recordOf, valueAt, withMeta } from '../../resource/metadata.js';
import { computed } from '../defaults-table.js';
import type { KindRules } from '../kind-rules.js';
import { templateDefaults } from '../pods/pod-template.js';

export const daemonSetRules: KindRules = {
  defaults: {
    'spec.updateStrategy.type': 'RollingUpdate',
    'spec.updateStrategy.rollingUpdate': ({ type }) => (type === 'RollingUpdate' ? {} : undefined),
    'spec.updateStrategy.rollingUpdate.maxUnavailable': 1,
    'spec.updateStrategy.rollingUpdate.maxSurge': 0,
    'spec.revisionHistoryLimit': 10,
    'metadata.annotations': computed((annotations) =>
      recordOf(annotations)[generation] === undefined ? { ...recordOf(annotations), [generation]: '0' } : annotations,
    ),
    ...templateDefaults('spec.template'),
  },
  prepare: (set, before, { subresource }) => (subresource === 'status' ? set : withTemplateGeneration(set, before)),
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
