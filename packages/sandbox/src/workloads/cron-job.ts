import { control, ignoreNotFound, isAlreadyExists, type ReconcileContext } from 'riata';
import { parseCron } from 'riata/controller';
import { CronJob, Job } from 'riata/kinds';
import { lookAgain } from './look-again.js';
import { controlledBy, controllerReference } from './pods.js';

/** Makes a Job whenever a CronJob is due, and keeps some of those that are done. */
export const cronJobs = control(CronJob)
  .owns(Job)
  .reconcile(async (context) => {
    const { object: cron } = context;
    if (cron.metadata.deletionTimestamp !== undefined) return undefined;
    const { schedule, timeZone, suspend = false } = cron.spec;
    const times = parseCron(schedule, timeZone);
    const now = context.clock.now();
    const due = suspend ? undefined : lastDue(cron, times, now);
    if (due !== undefined) await start(context, due);
    await forget(context);
    await tell(context, due);
    return lookAgain(times.next(now) - now);
  });

/** The newest moment at which a Job was due and none was made; undefined if there is none. */
function lastDue(cron: CronJob, times: ReturnType<typeof parseCron>, now: number): number | undefined {
  const seen = Date.parse(cron.status.lastScheduleTime ?? cron.metadata.creationTimestamp);
  const oldest = now - (cron.spec.startingDeadlineSeconds ?? Number.POSITIVE_INFINITY) * 1000;
  let due: number | undefined;
  let from = Math.max(seen, Number.isFinite(oldest) ? oldest : seen);
  // Whoever slept for long makes up for one Job, and does not count all that were missed.
  for (let count = 0; count < 100; count += 1) {
    const next = times.next(from);
    if (next > now) break;
    due = next;
    from = next;
  }
  return due;
}

async function jobsOf({ object: cron, client }: ReconcileContext<CronJob>): Promise<Job[]> {
  const { items } = await client.list(Job, { namespace: cron.metadata.namespace });
  return controlledBy(items, cron);
}

function isDone(job: Job, ...types: readonly string[]): boolean {
  return job.status.conditions?.some(({ type, status }) => types.includes(type) && status === 'True') ?? false;
}

async function start(context: ReconcileContext<CronJob>, due: number): Promise<void> {
  const { object: cron, client, event } = context;
  const { concurrencyPolicy = 'Allow', jobTemplate } = cron.spec;
  const running = (await jobsOf(context)).filter((job) => !isDone(job, 'Complete', 'Failed'));
  if (concurrencyPolicy === 'Forbid' && running.length > 0) {
    const message = 'Not starting job because prior execution is running and concurrency policy is Forbid';
    event({ type: 'Normal', reason: 'JobAlreadyActive', message });
    return;
  }
  if (concurrencyPolicy === 'Replace') {
    for (const { metadata } of running) {
      await client.delete(Job, metadata, { propagationPolicy: 'Background' }).catch(ignoreNotFound);
    }
  }
  const { namespace, name } = cron.metadata;
  const { labels, annotations } = jobTemplate.metadata ?? {};
  const scheduled = new Date(due).toISOString().replace('.000Z', 'Z');
  const made = Job({
    metadata: {
      namespace,
      name: `${name}-${Math.floor(due / 60_000)}`,
      labels: { ...labels },
      annotations: { ...annotations, 'batch.kubernetes.io/cronjob-scheduled-timestamp': scheduled },
      ownerReferences: [controllerReference(cron)],
    },
    spec: jobTemplate.spec ?? { template: { spec: { containers: [] } } },
  });
  try {
    const job = await client.create(made);
    event({ type: 'Normal', reason: 'SuccessfulCreate', message: `Created job ${job.metadata.name}` });
  } catch (error) {
    // It was made before a restart, after which nobody knew.
    if (!isAlreadyExists(error)) throw error;
  }
}

/** Done Jobs beyond the limits of the history go, the oldest first. */
async function forget(context: ReconcileContext<CronJob>): Promise<void> {
  const { object: cron, client } = context;
  const { successfulJobsHistoryLimit = 3, failedJobsHistoryLimit = 1 } = cron.spec;
  const all = await jobsOf(context);
  for (const [type, limit] of [
    ['Complete', successfulJobsHistoryLimit],
    ['Failed', failedJobsHistoryLimit],
  ] as const) {
    const done = all
      .filter((job) => isDone(job, type))
      .sort((a, b) => (a.status.startTime ?? '').localeCompare(b.status.startTime ?? ''));
    for (const { metadata } of done.slice(0, Math.max(0, done.length - limit))) {
      await client.delete(Job, metadata, { propagationPolicy: 'Background' }).catch(ignoreNotFound);
    }
  }
}

async function tell(context: ReconcileContext<CronJob>, due: number | undefined): Promise<void> {
  const { object: cron, status } = context;
  const jobs = await jobsOf(context);
  const active = jobs
    .filter((job) => !isDone(job, 'Complete', 'Failed'))
    .map(({ metadata: { namespace, name, uid, resourceVersion } }) => ({
      ...{ apiVersion: 'batch/v1', kind: 'Job', namespace, name, uid, resourceVersion },
    }));
  const ends = jobs.flatMap((job) => (isDone(job, 'Complete') ? (job.status.completionTime ?? []) : [])).sort();
  const lastScheduleTime =
    due === undefined ? cron.status.lastScheduleTime : new Date(due).toISOString().replace('.000Z', 'Z');
  const lastSuccessfulTime = ends.at(-1) ?? cron.status.lastSuccessfulTime;
  await status({
    active,
    ...(lastScheduleTime && { lastScheduleTime }),
    ...(lastSuccessfulTime && { lastSuccessfulTime }),
  });
}
