import { control, ignoreNotFound, isDeleting, type ReconcileContext } from 'riata';
import { Job, Pod } from 'riata/kinds';
import type { Clock } from 'riata/runtime';
import { lookAgain } from './look-again.js';
import { createPod, deletePod } from './pod-control.js';
import { podFrom } from './pod-from.js';
import { controlledBy, isActive, isReady } from './pods.js';

/** Runs the Pods of a Job until enough of them have succeeded, or too many have failed. */
export const jobs = control(Job, { name: 'job-controller' })
  .owns(Pod)
  .reconcile(async (context) => {
    const { object: job, clock } = context;
    if (isDeleting(job)) return undefined;
    const done = finishedAt(job);
    if (done !== undefined) return expire(context, done);
    const pods = await podsOf(context);
    const succeeded = pods.filter(({ status }) => status?.phase === 'Succeeded').length;
    const failed = pods.filter(({ status }) => status?.phase === 'Failed').length;
    const outcome = outcomeOf(job, succeeded, failed, clock);
    const active = pods.filter(isActive);
    const desired = outcome === undefined && job.spec.suspend !== true ? desiredPods(job, succeeded) : 0;
    for (const pod of active.slice(desired)) await deletePod(context, pod);
    for (let missing = desired - active.length; missing > 0; missing -= 1) await make(context, pods);
    await writeStatus(context, { succeeded, failed, outcome });
    const deadline = job.spec.activeDeadlineSeconds;
    const started = Date.parse(job.status.startTime ?? '') || clock.now();
    const left = deadline === undefined ? undefined : started + deadline * 1000 - clock.now();
    return left === undefined || left <= 0 ? undefined : lookAgain(left);
  });

type Outcome = { readonly type: 'Complete' | 'Failed'; readonly reason: string; readonly message: string };

async function podsOf({ object: job, client }: ReconcileContext<Job>): Promise<Pod[]> {
  const { items } = await client.list(Pod, { namespace: job.metadata.namespace });
  return controlledBy(items, job);
}

function finishedAt(job: Job): number | undefined {
  const done = job.status.conditions?.find(
    ({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True',
  );
  return done && Date.parse(done.lastTransitionTime ?? '');
}

/** A finished Job goes after the time that it says. */
async function expire({ object: job, client, clock }: ReconcileContext<Job>, finished: number) {
  const seconds = job.spec.ttlSecondsAfterFinished;
  if (seconds === undefined) return undefined;
  const left = finished + seconds * 1000 - clock.now();
  if (left > 0) return lookAgain(left);
  await client.delete(Job, job.metadata, { propagationPolicy: 'Foreground' }).catch(ignoreNotFound);
  return undefined;
}

function outcomeOf(job: Job, succeeded: number, failed: number, clock: Clock): Outcome | undefined {
  const { completions, parallelism = 1, backoffLimit = 6, activeDeadlineSeconds } = job.spec ?? {};
  const enough = completions ?? (succeeded > 0 ? succeeded : parallelism);
  if (succeeded >= enough && succeeded > 0) {
    return { type: 'Complete', reason: 'CompletionsReached', message: 'Reached expected number of succeeded pods' };
  }
  if (failed > backoffLimit) {
    return { type: 'Failed', reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit' };
  }
  const started = Date.parse(job.status.startTime ?? '');
  if (activeDeadlineSeconds !== undefined && clock.now() >= started + activeDeadlineSeconds * 1000) {
    return { type: 'Failed', reason: 'DeadlineExceeded', message: 'Job was active longer than specified deadline' };
  }
  return undefined;
}

function desiredPods(job: Job, succeeded: number): number {
  const { completions, parallelism = 1 } = job.spec ?? {};
  if (completions === undefined) return succeeded > 0 ? 0 : parallelism;
  return Math.max(0, Math.min(parallelism, completions - succeeded));
}

async function make(context: ReconcileContext<Job>, known: Pod[]): Promise<void> {
  const { object: job } = context;
  const { name } = job.metadata;
  const isIndexed = job.spec.completionMode === 'Indexed';
  const indexLabel = 'batch.kubernetes.io/job-completion-index';
  const taken = new Set(
    known
      .filter((pod) => isActive(pod) || pod.status.phase === 'Succeeded')
      .map((pod) => pod.metadata.annotations?.[indexLabel]),
  );
  let index = 0;
  while (isIndexed && taken.has(String(index))) index += 1;
  const marks: Record<string, string> = isIndexed ? { [indexLabel]: String(index) } : {};
  const called = { generateName: isIndexed ? `${name}-${index}-` : `${name}-` };
  const desired = podFrom(job, job.spec.template, called, { labels: marks, annotations: marks });
  const pod = await createPod(context, desired);
  if (pod !== undefined) known.push(pod);
}

async function writeStatus(
  context: ReconcileContext<Job>,
  {
    succeeded,
    failed,
    outcome,
  }: { readonly succeeded: number; readonly failed: number; readonly outcome: Outcome | undefined },
): Promise<void> {
  const { object: job, status, event, clock } = context;
  const active = (await podsOf(context)).filter(isActive);
  const now = new Date(Math.floor(clock.now() / 1000) * 1000).toISOString().replace('.000Z', 'Z');
  const isSuspended = job.spec.suspend === true;
  const suspension = suspensionOf(job, outcome !== undefined);
  const wasSuspended = job.status.conditions?.find(({ type }) => type === 'Suspended')?.status;
  const isResumed = suspension?.status === 'False' && wasSuspended === 'True';
  const { reason, message } = outcome ?? { reason: '', message: '' };
  const say = (type: string) => ({ type, status: 'True' as const, reason, message });
  await status({
    active: active.length,
    ready: active.filter(isReady).length,
    terminating: 0,
    succeeded,
    failed,
    // A resumed Job has all of its time again.
    ...(isSuspended ? {} : { startTime: isResumed ? now : (job.status.startTime ?? now) }),
    ...(outcome?.type === 'Complete' ? { completionTime: now } : {}),
    conditions: [
      ...(outcome === undefined
        ? []
        : [say(outcome.type === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget'), say(outcome.type)]),
      ...(suspension === undefined ? [] : [suspension]),
    ],
  });
  if (suspension !== undefined && suspension.status !== wasSuspended) {
    const word = suspension.status === 'True' ? 'Suspended' : 'Resumed';
    event({ type: 'Normal', reason: word, message: suspension.message });
  }
  if (outcome?.type === 'Complete') event({ type: 'Normal', reason: 'Completed', message: 'Job completed' });
  if (outcome?.type === 'Failed') event({ type: 'Warning', reason, message });
}

/** Whether a Job is suspended; one that never was has nothing to say about it, and one that is done says what it said. */
function suspensionOf({ spec, status }: Job, isDone: boolean) {
  const known = status.conditions?.find(({ type }) => type === 'Suspended');
  const isSuspended = isDone ? known?.status === 'True' : spec?.suspend === true;
  if (isSuspended)
    return { type: 'Suspended', status: 'True' as const, reason: 'JobSuspended', message: 'Job suspended' };
  if (known === undefined) return undefined;
  return { type: 'Suspended', status: 'False' as const, reason: 'JobResumed', message: 'Job resumed' };
}
