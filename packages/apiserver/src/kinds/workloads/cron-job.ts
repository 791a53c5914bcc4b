import type { Json, JsonObject } from 'riata/object';
import { metaOf, recordOf, textOf } from '../../resource/metadata.js';
import { byteLength } from '../../schema/name-rules.js';
import { type FieldError, invalid, notSupported, required } from '../../status/field-error.js';
import { prefixed } from '../defaults-table.js';
import type { KindRules } from '../kind-rules.js';
import { withoutDisabledIn } from '../pods/disabled-fields.js';
import { nameWarnings, templateWarnings } from '../pods/pod-warnings.js';
import { isTimeZone, scheduleProblem } from './cron-schedule.js';
import { jobTemplateSpecDefaults } from './job.js';
import { checkJobSpec } from './job-checks.js';
import { checkCounts } from './replica-checks.js';

export const cronJobRules: KindRules = {
  defaults: {
    'spec.concurrencyPolicy': 'Allow',
    'spec.suspend': false,
    'spec.successfulJobsHistoryLimit': 3,
    'spec.failedJobsHistoryLimit': 1,
    ...prefixed('spec.jobTemplate.spec', jobTemplateSpecDefaults),
  },
  prepare: (object) => withoutDisabledIn(object, ['spec', 'jobTemplate', 'spec', 'template']),
  validate: checkCronJob,
  warnings: (cronJob, before) => [
    ...nameWarnings(cronJob, before),
    ...templateWarnings(cronJob, before, 'spec.jobTemplate.spec.template'),
    ...(before !== undefined && textOf(recordOf(cronJob.spec).schedule).includes('TZ') ? [zoneWarning] : []),
  ],
};

const zoneWarning =
  'cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details';

function checkCronJob(cronJob: JsonObject, before: JsonObject | undefined): FieldError[] {
  const spec = recordOf(cronJob.spec);
  const name = textOf(metaOf(cronJob).name);
  const job = recordOf(recordOf(spec.jobTemplate).spec);
  const at = 'spec.jobTemplate.spec';
  const policies = ['Allow', 'Forbid', 'Replace'];
  const { concurrencyPolicy: policy } = spec;
  const isNewZone = before === undefined || recordOf(before.spec).timeZone !== spec.timeZone;
  return [
    ...(before === undefined && byteLength(name) > 52
      ? [invalid('metadata.name', name, 'must be no more than 52 characters')]
      : []),
    ...checkSchedule(spec, before),
    ...checkCounts(spec, ['startingDeadlineSeconds', 'successfulJobsHistoryLimit', 'failedJobsHistoryLimit'], 'spec'),
    ...(isNewZone ? checkTimeZone(spec.timeZone, 'spec.timeZone') : []),
    ...(policies.includes(textOf(policy)) ? [] : [notSupported('spec.concurrencyPolicy', policy, policies)]),
    ...checkJobSpec(job, at),
    ...(job.selector === undefined
      ? []
      : [invalid(`${at}.selector`, job.selector, '`selector` will be auto-generated')]),
    ...(job.manualSelector === true ? [notSupported(`${at}.manualSelector`, true, ['nil', 'false'])] : []),
  ];
}

function checkSchedule(spec: JsonObject, before: JsonObject | undefined): FieldError[] {
  const schedule = textOf(spec.schedule);
  const at = 'spec.schedule';
  if (schedule === '') return [required(at)];
  const problem = scheduleProblem(schedule);
  const errors = problem === undefined ? [] : [invalid(at, schedule, problem)];
  if (!schedule.includes('TZ')) return errors;
  const had = before !== undefined && textOf(recordOf(before.spec).schedule).includes('TZ');
  if (!had) {
    errors.push(invalid(at, schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'));
  } else if (spec.timeZone !== undefined) {
    errors.push(invalid(at, schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule'));
  }
  return errors;
}

function checkTimeZone(given: Json | undefined, path: string): FieldError[] {
  if (given === undefined) return [];
  const zone = textOf(given);
  if (zone === '') return [invalid(path, zone, 'timeZone must be nil or non-empty string')];
  const strange = (part: string) => part === '.' || part === '..' || !/^(?!-)[A-Za-z.\-_0-9+]{1,14}$/.test(part);
  if (zone.split('/').some(strange)) return [invalid(path, zone, `unknown time zone ${zone}`)];
  if (zone.toLowerCase() === 'local') {
    const detail = 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';
    return [invalid(path, zone, detail)];
  }
  return isTimeZone(zone) ? [] : [invalid(path, zone, `unknown time zone ${zone}`)];
}
