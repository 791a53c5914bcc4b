import type { Json, JsonObject } from 'riata/object';
import { metaOf, recordOf, textOf, withMeta } from '../../resource/metadata.js';
import { type FieldError, invalid, required } from '../../status/field-error.js';
import { checkLabelSelector } from '../checks/label-selector.js';
import { computed, type DefaultsTable, prefixed } from '../defaults-table.js';
import type { KindRules, PrepareContext } from '../kind-rules.js';
import { checkTemplateLabels, selectorMatches } from '../pods/checks/pod-template-checks.js';
import { withoutDisabledIn } from '../pods/disabled-fields.js';
import { templateDefaults } from '../pods/pod-template.js';
import { nameWarnings, templateWarnings } from '../pods/pod-warnings.js';
import { checkJobStatus } from './check-job-status.js';
import { checkJobUpdate } from './check-job-update.js';
import { checkIndexedName, checkJobSpec } from './job-checks.js';

/** The defaults of a Job's spec, also in the template of a CronJob. */
export const jobTemplateSpecDefaults: DefaultsTable = {
  'podFailurePolicy.rules[].onPodConditions[].status': computed((status) => status || 'True'),
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
    'metadata.labels': (_, job) => labelsOf(job),
    ...prefixed('spec', jobTemplateSpecDefaults),
  },
  validate: checkJob,
  validateUpdate: checkJobUpdate,
  validateStatus: checkJobStatus,
  warnings: (job, before) => [...nameWarnings(job, before), ...templateWarnings(job, before, 'spec.template')],
  prepare: (job, before, { subresource }: PrepareContext) =>
    before === undefined && subresource === ''
      ? labelled(withSelector(withoutDisabledIn(job, ['spec', 'template'])), job)
      : withoutDisabledIn(job, ['spec', 'template']),
};

/** A Job that was sent without labels has those of its template, with what the template is given later. */
function labelled(job: JsonObject, sent: JsonObject): JsonObject {
  const own = metaOf(sent).labels;
  const isOwn = Object.keys(recordOf(own)).length > 0 && own !== labelsOf(sent);
  const labels = labelsOf(job);
  return isOwn || labels === undefined ? job : withMeta(job, { labels });
}

function labelsOf(job: JsonObject | undefined): Json | undefined {
  return recordOf(recordOf(recordOf(job?.spec).template).metadata).labels;
}

/** The labels by which a Job knows its Pods: its name and its uid, under their old and their new names. */
function withSelector(job: JsonObject): JsonObject {
  const spec = recordOf(job.spec);
  if (spec.manualSelector === true) return job;
  const { name = '', uid = '' } = metaOf(job);
  const template = recordOf(spec.template);
  const meta = recordOf(template.metadata);
  const labels = sorted({
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
    ...recordOf(meta.labels),
  });
  const selector = recordOf(spec.selector);
  const matchLabels = sorted({ 'batch.kubernetes.io/controller-uid': uid, ...recordOf(selector.matchLabels) });
  return {
    ...job,
    spec: {
      ...spec,
      selector: { ...selector, matchLabels },
      template: { ...template, metadata: { ...meta, labels } },
    },
  };
}

/** As Go writes maps. */
function sorted(labels: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function checkJob(job: JsonObject, before: JsonObject | undefined): FieldError[] {
  const spec = recordOf(job.spec);
  const { selector } = spec;
  const name = textOf(metaOf(job).name);
  return [
    ...checkGenerated(job, before),
    ...checkJobSpec(spec, 'spec'),
    ...(selector === undefined ? [required('spec.selector')] : checkLabelSelector(selector, 'spec.selector')),
    ...checkTemplateLabels(selector, spec.template, 'spec.template'),
    ...checkIndexedName(name, spec),
  ];
}

/** Generated labels must stay, unless the Job has its own selector. */
function checkGenerated(job: JsonObject, before: JsonObject | undefined): FieldError[] {
  const spec = recordOf(job.spec);
  if (spec.manualSelector === true || spec.selector === undefined) return [];
  const { name = '', uid = '' } = metaOf(job);
  const prefixed = { 'batch.kubernetes.io/controller-uid': uid, 'batch.kubernetes.io/job-name': name };
  const old = recordOf(labelsOf(before));
  const needsPrefixed = before === undefined || Object.keys(prefixed).every((key) => old[key] !== undefined);
  const expected = { 'controller-uid': uid, 'job-name': name, ...(needsPrefixed ? prefixed : {}) };
  const labels = recordOf(labelsOf(job));
  const errors = Object.entries(expected).flatMap(([key, value]) => {
    const at = `spec.template.metadata.labels[${key}]`;
    if (labels[key] === value) return [];
    return [labels[key] === undefined ? required(at, `must be '${value}'`) : invalid(at, labels, `must be '${value}'`)];
  });
  if (selectorMatches(spec.selector, expected) !== false) return errors;
  return [...errors, invalid('spec.selector', spec.selector, '`selector` not auto-generated')];
}
