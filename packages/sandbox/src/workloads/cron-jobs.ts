import { control, ignoreNotFound, isAlreadyExists, isControlledBy, isDeleting, type ReconcileContext } from 'riata';
import { type CronSchedule, parseCron } from 'riata/controller';
import { CronJob, Job } from 'riata/kinds';
import { isNamespaceTerminating } from 'riata/rest';
import { latestDue } from './latest-due.js';
import { lookAgain } from './look-again.js';
import { errorText } from './pod-control.js';
import { controlledBy, controllerReference } from './pods.js';

/** Creates a Job whenever a CronJob is due, and keeps some of the finished ones. */
export const cronJobs = control(CronJob, { name: 'cronjob-controller' })
  .owns(Job)
  .reconcile(async (context) => {
    const { object: cron, client, clock, status } = context;
    const { items } = await client.list(Job, { namespace: cron.metadata.namespace });
    const jobs = controlledBy(items, cron);
    await forget(context, jobs);
    const active = watchActive(context, jobs);
    const ends = jobs.flatMap((job) => (finishOf(job) === 'Complete' ? (job.status.completionTime ?? []) : []));
    const lastSuccessfulTime = [cron.status.lastSuccessfulTime ?? '', ...ends].sort().at(-1);
    const said = {
      active,
      ...(cron.status.lastScheduleTime && { lastScheduleTime: cron.status.lastScheduleTime }),
      ...(lastSuccessfulTime && { lastSuccessfulTime }),
    };
    const times = isDeleting(cron) || cron.spec.suspend === true ? undefined : timesOf(context);
    const due = times && dueNow(context, times);
    const started = due === undefined ? undefined : await start(context, due, active);
    await status({ ...said, ...started });
    return times && lookAgain(times.next(clock.now()) - clock.now());
  });

type JobReference = NonNullable<CronJob['status']['active']>[number];

function finishOf(job: Job): 'Complete' | 'Failed' | undefined {
  const found = job.status.conditions?.find(
    ({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True',
  );
  return found?.type as 'Complete' | 'Failed' | undefined;
}

/** Those Jobs that still run of the ones that were made here; reports what became of the others. */
function watchActive({ object: cron, event }: ReconcileContext<CronJob>, jobs: readonly Job[]): JobReference[] {
  const byUid = new Map(jobs.map((job) => [job.metadata.uid, job]));
  const active = (cron.status.active ?? []).filter(({ uid = '', name = '' }) => {
    const job = byUid.get(uid);
    const finish = job && finishOf(job);
    if (job === undefined) event({ type: 'Normal', reason: 'MissingJob', message: `Active job went missing: ${name}` });
    if (finish !== undefined) {
      const message = `Saw completed job: ${name}, condition: ${finish}`;
      event({ type: 'Normal', reason: 'SawCompletedJob', message });
    }
    return job !== undefined && finish === undefined;
  });
  for (const job of jobs) {
    if (finishOf(job) !== undefined || active.some(({ uid }) => uid === job.metadata.uid)) continue;
    const message = `Saw a job that the controller did not create or forgot: ${job.metadata.name}`;
    event({ type: 'Warning', reason: 'UnexpectedJob', message });
  }
  return active;
}

/** The times of the schedule; undefined, and reported, if it is invalid. */
function timesOf({ object: cron, event }: ReconcileContext<CronJob>): CronSchedule | undefined {
  const { schedule, timeZone } = cron.spec;
  const warn = (reason: string, message: string) => event({ type: 'Warning', reason, message });
  if (timeZone !== undefined && !isTimeZone(timeZone)) {
    warn('UnknownTimeZone', `invalid timeZone: ${JSON.stringify(timeZone)}: unknown time zone ${timeZone}`);
    return undefined;
  }
  try {
    return parseCron(schedule, timeZone);
  } catch (error) {
    if (!isTimely(schedule))
      warn('UnparseableSchedule', `unparseable schedule: ${JSON.stringify(schedule)} : ${errorText(error)}`);
    else {
      const why = 'time difference between two schedules is less than 1 second';
      warn('InvalidSchedule', `invalid schedule: ${schedule} : ${why}`);
    }
    return undefined;
  }
}

function isTimeZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }) !== undefined;
  } catch {
    return false;
  }
}

/** Whether a schedule can be read but for its month, as with 31 February, which never comes. */
function isTimely(schedule: string): boolean {
  const [minute, hour, day, , weekday] = schedule.trim().split(/\s+/);
  try {
    return parseCron([minute, hour, day, '*', weekday].join(' ')) !== undefined;
  } catch {
    return false;
  }
}

/** The newest moment at which a Job was due and none was made. */
function dueNow({ object: cron, clock, event }: ReconcileContext<CronJob>, times: CronSchedule): number | undefined {
  const now = clock.now();
  const seen = Date.parse(cron.status.lastScheduleTime ?? cron.metadata.creationTimestamp);
  const { startingDeadlineSeconds } = cron.spec;
  const from = startingDeadlineSeconds === undefined ? seen : Math.max(seen, now - startingDeadlineSeconds * 1000);
  const { due, hasMissedMany } = latestDue(times, from, now);
  if (due !== undefined && hasMissedMany) {
    const message = 'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew';
    event({ type: 'Warning', reason: 'TooManyMissedTimes', message });
  }
  return due;
}

/** Creates the Job of a moment, unless running ones forbid it; returns the changes of the status. */
async function start(context: ReconcileContext<CronJob>, due: number, active: readonly JobReference[]) {
  const { object: cron, event } = context;
  const { concurrencyPolicy = 'Allow' } = cron.spec;
  if (concurrencyPolicy === 'Forbid' && active.length > 0) {
    const message = 'Not starting job because prior execution is running and concurrency policy is Forbid';
    event({ type: 'Normal', reason: 'JobAlreadyActive', message });
    return undefined;
  }
  const replaced = concurrencyPolicy === 'Replace' ? active : [];
  for (const { name = '' } of replaced) await removeJob(context, name);
  const job = await createJob(context, due);
  if (job === undefined) return undefined;
  const { namespace, name, uid, resourceVersion } = job.metadata;
  const reference = { apiVersion: 'batch/v1', kind: 'Job', namespace, name, uid, resourceVersion };
  return { active: [...(replaced.length > 0 ? [] : active), reference], lastScheduleTime: timeText(due) };
}

/** Undefined if a foreign Job has the name. */
async function createJob(context: ReconcileContext<CronJob>, due: number): Promise<Job | undefined> {
  const { object: cron, client, event } = context;
  try {
    const job = await client.create(jobAt(cron, due));
    event({ type: 'Normal', reason: 'SuccessfulCreate', message: `Created job ${job.metadata.name}` });
    return job;
  } catch (error) {
    if (isAlreadyExists(error)) {
      // It was created before a restart, and the status was not written.
      const taken = await client.find(Job, { namespace: cron.metadata.namespace, name: jobName(cron, due) });
      return taken && isControlledBy(taken, cron) ? taken : undefined;
    }
    if (!isNamespaceTerminating(error)) {
      event({ type: 'Warning', reason: 'FailedCreate', message: `Error creating job: ${errorText(error)}` });
    }
    throw error;
  }
}

function jobName({ metadata }: CronJob, due: number): string {
  return `${metadata.name}-${Math.floor(due / 60_000)}`;
}

function timeText(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}

function jobAt(cron: CronJob, due: number) {
  const { namespace } = cron.metadata;
  const { metadata: { labels, annotations } = {}, spec } = cron.spec.jobTemplate;
  return Job({
    metadata: {
      namespace,
      name: jobName(cron, due),
      labels: { ...labels },
      annotations: { ...annotations, 'batch.kubernetes.io/cronjob-scheduled-timestamp': timeText(due) },
      ownerReferences: [controllerReference(cron)],
    },
    spec: spec ?? { template: { spec: { containers: [] } } },
  });
}

async function removeJob({ object: cron, client, event }: ReconcileContext<CronJob>, name: string): Promise<void> {
  const { namespace } = cron.metadata;
  await client.delete(Job, { namespace, name }, { propagationPolicy: 'Background' }).catch(ignoreNotFound);
  event({ type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted job ${name}` });
}

/** Done Jobs beyond the limits of the history go, the oldest first. */
async function forget(context: ReconcileContext<CronJob>, jobs: readonly Job[]): Promise<void> {
  const { successfulJobsHistoryLimit = 3, failedJobsHistoryLimit = 1 } = context.object.spec;
  const startOf = ({ status }: Job) => status.startTime ?? '';
  for (const [finish, limit] of [
    ['Complete', successfulJobsHistoryLimit],
    ['Failed', failedJobsHistoryLimit],
  ] as const) {
    const done = jobs
      .filter((job) => finishOf(job) === finish && !isDeleting(job))
      .sort((a, b) => startOf(a).localeCompare(startOf(b)));
    for (const { metadata } of done.slice(0, Math.max(0, done.length - limit))) await removeJob(context, metadata.name);
  }
}
