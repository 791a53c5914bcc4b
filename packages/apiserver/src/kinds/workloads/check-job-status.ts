import { equal, type JsonObject, parseTime } from 'riata/object';
import { numberOf, recordOf, recordsOf, stringsOf, textOf } from '../../resource/metadata.js';
import { duplicate, type FieldError, invalid, invalidWithoutValue, required } from '../../status/field-error.js';
import { firstCommon, parseIndexes } from './job-indexes.js';
import { checkCounts } from './replica-checks.js';

/** The problems of a Job's status (`ValidateJobStatusUpdate`): most rules concern changes only. */
export function checkJobStatus(job: JsonObject, before: JsonObject): FieldError[] {
  const [now, was] = [recordOf(job.status), recordOf(before.status)];
  const spec = recordOf(job.spec);
  return [
    ...checkCounts(now, ['active', 'succeeded', 'failed', 'ready', 'terminating'], 'status'),
    ...checkUncounted(recordOf(now.uncountedTerminatedPods)),
    ...checkConditions(now, was, spec),
    ...checkTimes(now, was, spec),
    ...checkFinished(now, was, spec),
    ...checkIndexes(now, was, spec),
    ...checkNeverLess(now, was, spec),
  ];
}

function isTrue(status: JsonObject, type: string): boolean {
  return recordsOf(status.conditions).some((one) => one.type === type && one.status === 'True');
}

const isFinished = (status: JsonObject) => isTrue(status, 'Complete') || isTrue(status, 'Failed');
const turned = (now: JsonObject, was: JsonObject, type: string) => isTrue(now, type) !== isTrue(was, type);
const differs = (now: JsonObject, was: JsonObject, field: string) => !equal(now[field] ?? null, was[field] ?? null);

function checkUncounted({ succeeded, failed }: JsonObject): FieldError[] {
  const seen = new Set<string>();
  const check = (list: string) => (uid: string, index: number) => {
    const at = `status.uncountedTerminatedPods.${list}[${index}]`;
    if (uid === '') return [invalid(at, uid, 'must not be empty')];
    if (seen.has(uid)) return [duplicate(at, uid)];
    seen.add(uid);
    return [];
  };
  return [...stringsOf(succeeded).flatMap(check('succeeded')), ...stringsOf(failed).flatMap(check('failed'))];
}

function checkConditions(now: JsonObject, was: JsonObject, spec: JsonObject): FieldError[] {
  const has = (type: string) => isTrue(now, type);
  const change = (...types: string[]) => types.some((type) => turned(now, was, type));
  const [complete, failed, met, target] = ['Complete', 'Failed', 'SuccessCriteriaMet', 'FailureTarget'].map(has);
  const failedIndexes = differs(now, was, 'failedIndexes');
  const rules: readonly (readonly [boolean | undefined, string])[] = [
    [complete && failed && change('Complete', 'Failed'), 'cannot set Complete=True and Failed=true conditions'],
    [
      complete && target && change('Complete', 'FailureTarget'),
      'cannot set Complete=True and FailureTarget=true conditions',
    ],
    [
      failed && !target && (change('Failed') || failedIndexes),
      'cannot set Failed=True condition without the FailureTarget=true condition',
    ],
    [
      complete && !met && change('Complete', 'SuccessCriteriaMet'),
      'cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
    ],
    [met && failed, 'cannot set SuccessCriteriaMet=True and Failed=true conditions'],
    [met && target, 'cannot set SuccessCriteriaMet=True and FailureTarget=true conditions'],
    [
      spec.successPolicy !== undefined && !met && complete,
      'cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True',
    ],
    ...['Failed', 'Complete', 'FailureTarget'].map(
      (type) => [isTrue(was, type) && !has(type), `cannot disable the terminal ${type}=True condition`] as const,
    ),
    [isTrue(was, 'SuccessCriteriaMet') && !met, 'cannot disable the SuccessCriteriaMet=True condition'],
    [
      isTrue(was, 'Complete') && !isTrue(was, 'SuccessCriteriaMet') && met,
      'cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions',
    ],
  ];
  return rules.flatMap(([broken, detail]) => (broken ? [invalidWithoutValue('status.conditions', detail)] : []));
}

function checkTimes(now: JsonObject, was: JsonObject, spec: JsonObject): FieldError[] {
  const at = 'status.completionTime';
  const { startTime: start, completionTime: end } = now;
  const complete = isTrue(now, 'Complete');
  const endChanges = differs(now, was, 'completionTime');
  const startChanges = differs(now, was, 'startTime');
  const errors: FieldError[] = [];
  if (turned(now, was, 'Complete') || endChanges) {
    if (end !== undefined && !complete) {
      errors.push(invalid(at, end, 'cannot set completionTime when there is no Complete=True condition'));
    }
    if (end === undefined && complete) errors.push(required(at, 'completionTime is required for Complete jobs'));
  }
  const early = start && end && parseTime(textOf(end)) < parseTime(textOf(start));
  if ((startChanges || endChanges) && early) errors.push(invalid(at, end, 'must be equal to or after `startTime`'));
  if (end !== undefined && was.completionTime !== undefined && endChanges) {
    errors.push(invalid(at, end, 'field is immutable'));
  }
  const suspended = (of: JsonObject, status: string) =>
    recordsOf(of.conditions).some((one) => one.type === 'Suspended' && one.status === status);
  const resumes = suspended(was, 'True') && suspended(now, 'False');
  if (startChanges && !resumes && was.startTime !== undefined && spec.suspend !== true) {
    errors.push(invalid('status.startTime', start ?? null, 'field is immutable for unsuspended job once set'));
  }
  return errors;
}

function checkFinished(now: JsonObject, was: JsonObject, spec: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  const finished = isFinished(now);
  const ends = finished !== isFinished(was);
  const changes = (field: string) => ends || differs(now, was, field);
  if (numberOf(now.ready) > numberOf(now.active) && (differs(now, was, 'ready') || differs(now, was, 'active'))) {
    errors.push(invalid('status.ready', now.ready, 'cannot set more ready pods than active'));
  }
  if (!finished) return errors;
  for (const field of ['active', 'terminating']) {
    if (numberOf(now[field]) <= 0 || !changes(field)) continue;
    errors.push(invalid(`status.${field}`, now[field], `${field}>0 is invalid for finished job`));
  }
  const neverBegan = spec.suspend === true && spec.completions === 0;
  if (now.startTime === undefined && changes('startTime') && !neverBegan) {
    errors.push(required('status.startTime', 'startTime is required for finished job'));
  }
  const { succeeded, failed } = recordOf(now.uncountedTerminatedPods);
  const uncounted = stringsOf(succeeded).length + stringsOf(failed).length;
  if (uncounted > 0 && changes('uncountedTerminatedPods')) {
    const shown = { Succeeded: succeeded ?? null, Failed: failed ?? null };
    errors.push(invalid('status.uncountedTerminatedPods', shown, 'must be empty for finished job'));
  }
  return errors;
}

function checkIndexes(now: JsonObject, was: JsonObject, spec: JsonObject): FieldError[] {
  const { completedIndexes: done, failedIndexes: failed } = now;
  const [doneChanges, failedChanges] = [differs(now, was, 'completedIndexes'), differs(now, was, 'failedIndexes')];
  const errors: FieldError[] = [];
  const parsed = (text: JsonObject[string]) => parseIndexes(textOf(text), numberOf(spec.completions));
  const [doneAt, failedAt] = ['status.completedIndexes', 'status.failedIndexes'];
  if (doneChanges && spec.completions !== undefined) {
    const read = parsed(done);
    if ('problem' in read) errors.push(invalid(doneAt, done, `error parsing completedIndexes: ${read.problem}`));
  }
  const perIndex = spec.backoffLimitPerIndex !== undefined;
  if (failedChanges && spec.completions !== undefined && perIndex && failed !== undefined) {
    const read = parsed(failed);
    if ('problem' in read) errors.push(invalid(failedAt, failed, `error parsing failedIndexes: ${read.problem}`));
  }
  if (doneChanges && textOf(done) !== '' && spec.completionMode !== 'Indexed') {
    const detail = 'cannot set non-empty completedIndexes when non-indexed completion mode';
    errors.push(invalid(doneAt, done, detail));
  }
  if (failedChanges && failed !== undefined && !perIndex) {
    const detail = 'cannot set non-null failedIndexes when backoffLimitPerIndex is null';
    errors.push(invalid(failedAt, failed, detail));
  }
  if ((doneChanges || failedChanges) && spec.completions !== undefined && failed !== undefined) {
    const [some, others] = [parsed(done), parsed(failed)];
    const common = 'total' in some && 'total' in others ? firstCommon(some.intervals, others.intervals) : undefined;
    if (common !== undefined) {
      const detail = `failedIndexes and completedIndexes overlap at index: ${common}`;
      errors.push(invalid(failedAt, failed, detail));
    }
  }
  return errors;
}

function checkNeverLess(now: JsonObject, was: JsonObject, spec: JsonObject): FieldError[] {
  const scaled = spec.completionMode === 'Indexed' && spec.completions === spec.parallelism;
  const fields = scaled ? ['failed'] : ['failed', 'succeeded'];
  return fields.flatMap((field) =>
    numberOf(now[field]) < numberOf(was[field])
      ? [invalid(`status.${field}`, numberOf(now[field]), `cannot decrease the ${field} counter`)]
      : [],
  );
}
