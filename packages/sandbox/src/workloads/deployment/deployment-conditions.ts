import type { Deployment, ReplicaSet } from 'riata/kinds';
import type { Clock } from 'riata/runtime';
import { rolloutLimits } from './rolling-update.js';

/** A condition of a Deployment; unlike others, it also has the time of its last update. */
export interface TimedCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly lastUpdateTime: string;
  readonly lastTransitionTime: string;
}

type Said = Pick<TimedCondition, 'type' | 'status' | 'reason' | 'message'>;

/** The inputs of the conditions. */
export interface DeploymentState {
  readonly counts: Counts;
  /** The ReplicaSet of the newest template. */
  readonly current: ReplicaSet | undefined;
  readonly sets: readonly ReplicaSet[];
  /** The error, if any. */
  readonly failure: unknown;
}

interface Counts {
  readonly replicas: number;
  readonly updatedReplicas: number;
  readonly availableReplicas: number;
}

/** The server refused the ReplicaSet of a new template. */
export class ReplicaSetCreateError extends Error {
  override readonly name = 'ReplicaSetCreateError';
}

/** As a deadline, it means none. */
const noDeadline = 2 ** 31 - 1;

/** Whether enough Pods are available, and whether a rollout progresses; and when to check again whether it is stuck. */
export function deploymentConditions(
  deployment: Deployment,
  state: DeploymentState,
  clock: Clock,
): { readonly conditions: readonly TimedCondition[]; readonly requeueAfter: number | undefined } {
  const { replicas = 1, progressDeadlineSeconds = 600 } = deployment.spec;
  const isEnough = state.counts.availableReplicas >= replicas - rolloutLimits(deployment).missing;
  const available: Said = {
    type: 'Available',
    status: isEnough ? 'True' : 'False',
    reason: isEnough ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
    message: isEnough ? 'Deployment has minimum availability.' : 'Deployment does not have minimum availability.',
  };
  const conditions = [timed(deployment, available, false, clock)];
  const failed = failureOf(state);
  if (failed !== undefined) conditions.push(timed(deployment, failed, false, clock));
  if (progressDeadlineSeconds === noDeadline) return { conditions, requeueAfter: undefined };
  const { progressing, requeueAfter, hasMoved } = progress(deployment, state, clock);
  return { conditions: [...conditions, timed(deployment, progressing, hasMoved, clock)], requeueAfter };
}

/** That Pods cannot be created is said of a ReplicaSet first; that of the newest one matters most. */
function failureOf({ current, sets }: DeploymentState): Said | undefined {
  const [failed] = (current === undefined ? sets : [current, ...sets]).flatMap(
    ({ status }) => status.conditions?.filter(({ type }) => type === 'ReplicaFailure') ?? [],
  );
  if (failed === undefined) return undefined;
  const { type, status, reason = '', message = '' } = failed;
  return { type, status: status as Said['status'], reason, message };
}

function timed(deployment: Deployment, said: Said, isNews: boolean, clock: Clock): TimedCondition {
  const now = new Date(Math.floor(clock.now() / 1000) * 1000).toISOString().replace('.000Z', 'Z');
  const before = deployment.status.conditions?.find(({ type }) => type === said.type);
  const isSame = before?.status === said.status && before.reason === said.reason && before.message === said.message;
  return {
    ...said,
    lastUpdateTime: isSame && !isNews ? (before.lastUpdateTime ?? now) : now,
    lastTransitionTime: before?.status === said.status ? (before.lastTransitionTime ?? now) : now,
  };
}

function progress(deployment: Deployment, { counts, current, failure }: DeploymentState, clock: Clock) {
  const { replicas = 1, paused = false, progressDeadlineSeconds = 600 } = deployment.spec;
  const before = deployment.status.conditions?.find(({ type }) => type === 'Progressing');
  const name = current?.metadata.name ?? '';
  const say = (status: Said['status'], reason: string, message: string, requeueAfter?: number, hasMoved = false) => ({
    progressing: { type: 'Progressing', status, reason, message } satisfies Said,
    requeueAfter,
    hasMoved,
  });
  const wasStuck = before?.reason === 'ProgressDeadlineExceeded';
  if (paused && !wasStuck) return say('Unknown', 'DeploymentPaused', 'Deployment is paused');
  if (failure instanceof ReplicaSetCreateError) return say('False', 'ReplicaSetCreateError', failure.message);
  const isComplete =
    counts.updatedReplicas === replicas && counts.replicas === replicas && counts.availableReplicas === replicas;
  if (isComplete && !paused) {
    return say('True', 'NewReplicaSetAvailable', `ReplicaSet "${name}" has successfully progressed.`);
  }
  const wasComplete = before?.reason === 'NewReplicaSetAvailable';
  // Pods that are lost or added after a rollout don't concern it.
  if (wasComplete && before.message?.includes(`"${name}"`)) {
    return say('True', 'NewReplicaSetAvailable', before.message);
  }
  const { status } = deployment;
  const hasMoved =
    counts.updatedReplicas > (status?.updatedReplicas ?? 0) ||
    counts.availableReplicas > (status?.availableReplicas ?? 0) ||
    counts.replicas - counts.updatedReplicas < (status?.replicas ?? 0) - (status?.updatedReplicas ?? 0);
  const wasPaused = before?.reason === 'DeploymentPaused';
  const since = Date.parse(before?.lastUpdateTime ?? '');
  const limit = progressDeadlineSeconds * 1000;
  const left = Number.isNaN(since) || wasComplete || wasPaused || hasMoved ? limit : since + limit - clock.now();
  // Once it is stuck it stays so until something moves.
  if ((left <= 0 || wasStuck) && !hasMoved) {
    return say('False', 'ProgressDeadlineExceeded', `ReplicaSet "${name}" has timed out progressing.`);
  }
  if (hasMoved) return say('True', 'ReplicaSetUpdated', `ReplicaSet "${name}" is progressing.`, left, true);
  if (wasPaused) return say('Unknown', 'DeploymentResumed', 'Deployment is resumed', left);
  if (before === undefined || wasComplete || before.reason === 'ReplicaSetCreateError') {
    return say('True', 'NewReplicaSetCreated', `Created new replica set "${name}"`, left);
  }
  const { reason = '', message = '' } = before;
  return say(before.status as Said['status'], reason, message, left);
}
