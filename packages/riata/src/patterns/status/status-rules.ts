import { formatTime, parseTime } from '../../object/time.js';
import { listAt, numberAt, textAt } from '../../object/value/value-at.js';
import type { Clock } from '../../runtime/time/clock.js';
import type { AnyCondition } from '../summary/conditions-of.js';

/**
 * The progress of an object (`status.Status` of kstatus): `Current`: as desired; `InProgress`: not there yet; `Failed`:
 * it will not recover without a change; `Terminating`: being deleted.
 */
export type ObjectState = 'Current' | 'InProgress' | 'Failed' | 'Terminating';

/** The result of `computeStatus` (`status.Result`). */
export interface ObjectStatusResult {
  readonly status: ObjectState;
  /** For people. */
  readonly message: string;
  /** For programs, in one word; '' where the status says all. */
  readonly reason: string;
}

/** Judges objects of one kind. */
type StatusRule = (object: unknown, conditions: readonly AnyCondition[], clock: Clock) => ObjectStatusResult;

/** How long an unschedulable Pod counts as in progress. */
const scheduleWindowMs = 15_000;

const current = (message: string): ObjectStatusResult => ({ status: 'Current', reason: '', message });
const inProgress = (reason: string, message: string): ObjectStatusResult => ({ status: 'InProgress', reason, message });
const failed = (reason: string, message: string): ObjectStatusResult => ({ status: 'Failed', reason, message });

/** The first of these steps that is not done yet. */
function firstShort(steps: readonly Step[]): ObjectStatusResult | undefined {
  const short = steps.find(([, , have, want]) => have < want);
  if (short === undefined) return undefined;
  const [reason, what, have, want] = short;
  return inProgress(reason, `${have} of ${want} replicas are ${what}`);
}
type Step = readonly [reason: string, what: string, have: number, want: number];

function tooMany(have: number, want: number): ObjectStatusResult | undefined {
  return have > want ? inProgress('ExtraPods', `${have - want} replicas must still terminate`) : undefined;
}

const count = (object: unknown, field: string): number => numberAt(object, 'status', field) ?? 0;
const desired = (object: unknown): number => numberAt(object, 'spec', 'replicas') ?? 1;

const deployment: StatusRule = (object, conditions) => {
  const progressing = conditions.find(({ type }) => type === 'Progressing');
  if (progressing?.reason === 'ProgressDeadlineExceeded') {
    return failed(progressing.reason, `the progress deadline has passed: ${progressing.message}`);
  }
  const [want, replicas] = [desired(object), count(object, 'replicas')];
  const updated = count(object, 'updatedReplicas');
  const short =
    firstShort([
      ['LessReplicas', 'created', replicas, want],
      ['LessUpdated', 'up to date', updated, want],
    ]) ??
    tooMany(replicas, want) ??
    firstShort([
      ['LessAvailable', 'available', count(object, 'availableReplicas'), updated],
      ['LessReady', 'ready', count(object, 'readyReplicas'), want],
    ]);
  if (short !== undefined) return short;
  // Without a deadline there are no reports of progress.
  const hasDeadline = (numberAt(object, 'spec', 'progressDeadlineSeconds') ?? maxInt32) !== maxInt32;
  const isRolledOut = progressing?.status === 'True' && progressing.reason === 'NewReplicaSetAvailable';
  if (hasDeadline && !isRolledOut)
    return inProgress('ReplicaSetNotAvailable', 'the new ReplicaSet is not available yet');
  if (!conditions.some(({ type, status }) => type === 'Available' && status === 'True')) {
    return inProgress('DeploymentNotAvailable', 'too few replicas are available');
  }
  return current(`${replicas} replicas are available`);
};
const maxInt32 = 2_147_483_647;

const replicaSet: StatusRule = (object, conditions) => {
  const failure = conditions.find(({ type, status }) => type === 'ReplicaFailure' && status === 'True');
  if (failure !== undefined) return inProgress('ReplicaFailure', `cannot create Pods: ${failure.message}`);
  const [want, replicas] = [desired(object), count(object, 'replicas')];
  const short =
    firstShort([
      ['LessLabelled', 'labelled', count(object, 'fullyLabeledReplicas'), want],
      ['LessAvailable', 'available', count(object, 'availableReplicas'), want],
      ['LessReady', 'ready', count(object, 'readyReplicas'), want],
    ]) ?? tooMany(replicas, want);
  return short ?? current(`${replicas} replicas are available`);
};

const statefulSet: StatusRule = (object) => {
  if (textAt(object, 'spec', 'updateStrategy', 'type') === 'OnDelete') {
    return current('Pods are updated as they are deleted');
  }
  const [want, replicas] = [desired(object), count(object, 'replicas')];
  const updated = count(object, 'updatedReplicas');
  const short =
    firstShort([
      ['LessReplicas', 'created', replicas, want],
      ['LessReady', 'ready', count(object, 'readyReplicas'), want],
    ]) ?? tooMany(replicas, want);
  if (short !== undefined) return short;
  const partition = numberAt(object, 'spec', 'updateStrategy', 'rollingUpdate', 'partition');
  if (partition !== undefined) {
    const upTo = firstShort([['PartitionRollout', 'up to date', updated, want - partition]]);
    return upTo ?? current(`the partition is rolled out: ${updated} replicas are up to date`);
  }
  const less = firstShort([['LessCurrent', 'current', count(object, 'currentReplicas'), want]]);
  if (less !== undefined) return less;
  if (textAt(object, 'status', 'currentRevision') !== textAt(object, 'status', 'updateRevision')) {
    return inProgress('RevisionMismatch', 'not all replicas are of the new revision');
  }
  return current(`${replicas} replicas are up to date and ready`);
};

const daemonSet: StatusRule = (object) => {
  if (numberAt(object, 'metadata', 'generation') === undefined) {
    return inProgress('NoGeneration', 'no generation yet');
  }
  if (numberAt(object, 'status', 'observedGeneration') === undefined) {
    return inProgress('NoObservedGeneration', 'not observed yet');
  }
  const want = numberAt(object, 'status', 'desiredNumberScheduled');
  if (want === undefined) return inProgress('NoDesiredNumber', 'the number of nodes is not known yet');
  const short = firstShort([
    ['LessCurrent', 'created', count(object, 'currentNumberScheduled'), want],
    ['LessUpdated', 'up to date', count(object, 'updatedNumberScheduled'), want],
    ['LessAvailable', 'available', count(object, 'numberAvailable'), want],
    ['LessReady', 'ready', count(object, 'numberReady'), want],
  ]);
  return short ?? current(`${want} replicas are up to date and ready`);
};

const job: StatusRule = (object, conditions) => {
  const parallelism = numberAt(object, 'spec', 'parallelism') ?? 1;
  const completions = numberAt(object, 'spec', 'completions') ?? parallelism;
  const [succeeded, gone] = [count(object, 'succeeded'), count(object, 'failed')];
  const over = conditions.find(({ type, status }) => endsOfJobs.has(type) && status === 'True');
  if (over?.type === 'Complete') return current(`the Job is complete: ${succeeded} of ${completions} Pods succeeded`);
  if (over?.type === 'Failed')
    return failed('JobFailed', `the Job failed: ${gone} Pods failed, ${completions} completions required`);
  if (over?.type === 'Suspended') return current('the Job is suspended');
  if (textAt(object, 'status', 'startTime') === undefined)
    return inProgress('JobNotStarted', 'the Job has not started');
  return current(`the Job is running: ${count(object, 'active')} Pods active, ${succeeded} succeeded, ${gone} failed`);
};

const endsOfJobs: ReadonlySet<string> = new Set(['Complete', 'Failed', 'Suspended']);

const pod: StatusRule = (object, conditions, clock) => {
  const phase = textAt(object, 'status', 'phase');
  if (phase === undefined) return inProgress('PodNotObserved', 'not observed yet');
  if (phase === 'Succeeded') return current('the Pod succeeded');
  if (phase === 'Failed') return current('the Pod failed');
  if (phase === 'Running') {
    if (conditions.some(({ type, status }) => type === 'Ready' && status === 'True'))
      return current('the object is ready');
    const crashing = listAt(object, 'status', 'containerStatuses').filter(
      (container) => textAt(container, 'state', 'waiting', 'reason') === 'CrashLoopBackOff',
    );
    const names = crashing.map((container) => textAt(container, 'name')).join(', ');
    if (crashing.length > 0) return failed('ContainerCrashLooping', `containers are crash-looping: ${names}`);
    return inProgress('PodRunningNotReady', 'the Pod is running but not ready yet');
  }
  const unplaced = conditions.find(({ type, status }) => type === 'PodScheduled' && status === 'False');
  if (phase === 'Pending' && unplaced?.reason === 'Unschedulable') {
    const made = parseTime(textAt(object, 'metadata', 'creationTimestamp') ?? formatTime(0));
    if (clock.now() - made < scheduleWindowMs) return inProgress('PodNotScheduled', 'no node found yet');
    return failed('PodUnschedulable', `unschedulable: ${unplaced.message}`);
  }
  return inProgress(`Pod${phase}`, `the Pod is in phase ${phase}`);
};

const claim: StatusRule = (object) => {
  const phase = textAt(object, 'status', 'phase') ?? 'unknown';
  return phase === 'Bound'
    ? current('the claim is bound')
    : inProgress('NotBound', `the claim is not bound; its phase is ${phase}`);
};

const service: StatusRule = (object) => {
  const isBalancer = textAt(object, 'spec', 'type') === 'LoadBalancer';
  if (isBalancer && textAt(object, 'spec', 'clusterIP') === undefined) {
    return inProgress('NoIPAssigned', 'the load balancer has no cluster IP yet');
  }
  return current('the object is ready');
};

const definition: StatusRule = (_, conditions) => {
  for (const { type, status, reason, message } of conditions) {
    if (type === 'NamesAccepted' && status === 'False') return failed(reason, message);
    if (type !== 'Established') continue;
    if (status === 'False' && reason !== 'Installing') return failed(reason, message);
    if (status === 'True') return current('the definition is established');
  }
  return inProgress('Installing', 'the definition is being installed');
};

const always: StatusRule = () => current('nothing to wait for');

/** The rules of built-in kinds, by `group/Kind`, or `Kind` in the core group. */
export const statusRules: ReadonlyMap<string, StatusRule> = new Map([
  ...(['apps', 'extensions'] as const).flatMap((group): [string, StatusRule][] => [
    [`${group}/Deployment`, deployment],
    [`${group}/ReplicaSet`, replicaSet],
    [`${group}/DaemonSet`, daemonSet],
  ]),
  ['apps/StatefulSet', statefulSet],
  ['batch/Job', job],
  ['batch/CronJob', always],
  ['Pod', pod],
  ['PersistentVolumeClaim', claim],
  ['Service', service],
  ['Secret', always],
  ['ConfigMap', always],
  ['policy/PodDisruptionBudget', always],
  ['apiextensions.k8s.io/CustomResourceDefinition', definition],
]);
