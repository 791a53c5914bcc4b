import type { JsonObject } from 'riata/object';
import { metaOf, recordOf, withMeta } from '../../resource/metadata.js';
import { type DefaultsTable, prefixed } from '../defaults-table.js';
import type { KindRules, PrepareContext } from '../kind-rules.js';
import { templateDefaults } from '../pods/pod-template.js';

/** What the spec of a Job is given in the template of a CronJob, too. */
export const jobTemplateSpecDefaults: DefaultsTable = {
  'podFailurePolicy.rules[].onPodConditions[].status': ({ status }) => (status === '' ? undefined : 'True'),
  ...templateDefaults('template'),
};

export const jobRules: KindRules = {
  defaults: {
    'spec.completions': ({ parallelism }) => (parallelism === undefined ? 1 : undefined),
    'spec.parallelism': 1,
    'spec.backoffLimit': ({ backoffLimitPerIndex }) => (backoffLimitPerIndex === undefined ? 6 : 2 ** 31 - 1),
    'spec.completionMode': 'NonIndexed',
    'spec.suspend': false,
    'spec.podReplacementPolicy': ({ podFailurePolicy }) =>
      podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed',
    'spec.manualSelector': false,
    'metadata.labels': (_, job) => recordOf(recordOf(recordOf(job.spec).template).metadata).labels,
    ...prefixed('spec', jobTemplateSpecDefaults),
  },
  prepare: (job, before, { subresource }: PrepareContext) =>
    before === undefined && subresource === '' ? labelled(withSelector(job)) : job,
};

/** A Job without labels is read with those of its template. */
function labelled(job: JsonObject): JsonObject {
  if (Object.keys(recordOf(metaOf(job).labels)).length > 0) return job;
  const { labels } = recordOf(recordOf(recordOf(job.spec).template).metadata);
  return labels === undefined ? job : withMeta(job, { labels });
}

/** The labels by which a Job knows its Pods: its name and its uid, under their old and their new names. */
function withSelector(job: JsonObject): JsonObject {
  const spec = recordOf(job.spec);
  if (spec.manualSelector === true) return job;
  const { name = '', uid = '' } = metaOf(job);
  const template = recordOf(spec.template);
  const meta = recordOf(template.metadata);
  const labels = {
    'job-name': name,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'batch.kubernetes.io/controller-uid': uid,
    ...recordOf(meta.labels),
  };
  const selector = recordOf(spec.selector);
  const matchLabels = { 'batch.kubernetes.io/controller-uid': uid, ...recordOf(selector.matchLabels) };
  return {
    ...job,
    spec: {
      ...spec,
      selector: { ...selector, matchLabels },
      template: { ...template, metadata: { ...meta, labels } },
    },
  };
}
