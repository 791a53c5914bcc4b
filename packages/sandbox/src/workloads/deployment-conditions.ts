import type { Deployment, ReplicaSet } from 'riata/kinds';
import type { Clock } from 'riata/runtime';

/** A condition of a Deployment; unlike others, it also tells when something was last heard of it. */
export interface TimedCondition {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
  readonly lastUpdateTime: string;
  readonly lastTransitionTime: string;
}

type Said = Pick<TimedCondition, 'type' | 'status' | 'reason' | 'message'>;

interface Counts {
  readonly replicas: number;
  readonly updatedReplicas: number;
  readonly availableReplicas: number;
}

/** Whether enough Pods work, and whether a rollout gets on; and when to look again whether it is stuck. */
export function deploymentConditions(
  deployment: Deployment,
  counts: Counts,
  current: ReplicaSet | undefined,
  clock: Clock,
): { readonly conditions: readonly TimedCondition[]; readonly requeueAfter: number | undefined } {
  const replicas = deployment.spec.replicas ?? 1;
  const isEnough = counts.availableReplicas >= replicas - missingAllowed(deployment, replicas);
  const available: Said = {
    type: 'Available',
    status: isEnough ? 'True' : 'False',
    reason: isEnough ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
    message: isEnough ? 'Deployment has minimum availability.' : 'Deployment does not have minimum availability.',
  };
  const { progressing, requeueAfter, hasMoved } = progress(deployment, counts, current, clock);
  const conditions = [timed(deployment, available, false, clock), timed(deployment, progressing, hasMoved, clock)];
  return { conditions, requeueAfter };
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

function missingAllowed(deployment: Deployment, replicas: number): number {
  const { type, rollingUpdate } = deployment.spec.strategy ?? {};
  if (type === 'Recreate') return 0;
  const value = rollingUpdate?.maxUnavailable ?? '25%';
  if (typeof value === 'number') return value;
  return Math.floor((replicas * Number.parseInt(value, 10)) / 100);
}

function progress(deployment: Deployment, counts: Counts, current: ReplicaSet | undefined, clock: Clock) {
  const replicas = deployment.spec.replicas ?? 1;
  const before = deployment.status.conditions?.find(({ type }) => type === 'Progressing');
  const name = current?.metadata.name ?? '';
  const say = (status: 'True' | 'False', reason: string, message: string): Said => ({
    type: 'Progressing',
    status,
    reason,
    message,
  });
  const isComplete =
    counts.updatedReplicas === replicas && counts.replicas === replicas && counts.availableReplicas === replicas;
  if (isComplete) {
    const message = `ReplicaSet "${name}" has successfully progressed.`;
    return { progressing: say('True', 'NewReplicaSetAvailable', message), requeueAfter: undefined, hasMoved: false };
  }
  if (deployment.spec.paused === true) {
    return {
      progressing: say('True', 'DeploymentPaused', 'Deployment is paused'),
      requeueAfter: undefined,
      hasMoved: false,
    };
  }
  const { status } = deployment;
  const hasMoved =
    counts.updatedReplicas > (status?.updatedReplicas ?? 0) ||
    counts.availableReplicas > (status?.availableReplicas ?? 0) ||
    counts.replicas - counts.updatedReplicas < (status?.replicas ?? 0) - (status?.updatedReplicas ?? 0);
  const wasComplete = before?.reason === 'NewReplicaSetAvailable' || before === undefined;
  const since = Date.parse(before?.lastUpdateTime ?? '');
  const limit = (deployment.spec.progressDeadlineSeconds ?? 600) * 1000;
  const left = Number.isNaN(since) || wasComplete || hasMoved ? limit : since + limit - clock.now();
  // Once it is stuck it stays so until something moves.
  const wasStuck = before?.reason === 'ProgressDeadlineExceeded';
  if ((left <= 0 || wasStuck) && !hasMoved) {
    const message = `ReplicaSet "${name}" has timed out progressing.`;
    return { progressing: say('False', 'ProgressDeadlineExceeded', message), requeueAfter: undefined, hasMoved: false };
  }
  const isNew = before === undefined || (wasComplete && !hasMoved);
  const progressing = isNew
    ? say('True', 'NewReplicaSetCreated', `Created new replica set "${name}"`)
    : say('True', 'ReplicaSetUpdated', `ReplicaSet "${name}" is progressing.`);
  return { progressing, requeueAfter: left, hasMoved };
}
