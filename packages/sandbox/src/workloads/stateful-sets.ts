import { control, isDeleting, type ReconcileContext } from 'riata';
import { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet } from 'riata/kinds';
import { adopters, claimObjects } from './adoption.js';
import { deleteRevisions, type History, recordRevision } from './controller-revision.js';
import { dataHash } from './deployment/template-hash.js';
import { lookAgainSoonest } from './look-again.js';
import { controlledBy, hasEnded, isReady, untilAvailable } from './pods.js';
import { createStatefulPod, deleteStatefulPod, hashLabel } from './stateful-pod.js';

const naming = { label: 'controller.kubernetes.io/hash', hash: dataHash };
const selectorOf = ({ spec }: StatefulSet) => spec.selector;

/** Keeps the numbered Pods of a StatefulSet: made in order, each when the one before it is ready, replaced from behind. */
export const statefulSets = control(StatefulSet, { name: 'statefulset-controller' })
  .owns(Pod)
  .owns(ControllerRevision)
  .watches(Pod, adopters(StatefulSet, selectorOf))
  .watches(ControllerRevision, adopters(StatefulSet, selectorOf))
  .reads(PersistentVolumeClaim)
  .reconcile(async (context) => {
    const { object: set } = context;
    const history = await recordRevision(context, naming);
    const { latest, revisions } = history;
    if (latest === undefined) return undefined;
    const current = revisions.find(({ metadata }) => metadata.name === set.status.currentRevision) ?? latest;
    const pair = { current, latest };
    const pods = await claimObjects(context, Pod, set.spec.selector, (pod) => isMember(set, pod));
    try {
      if (!isDeleting(set)) await step(context, pair, pods);
    } finally {
      await report(context, pair, history.collisionCount);
    }
    await forget(context, pair, history, pods);
    return lookAgainSoonest(pods.map((pod) => untilAvailable(pod, set.spec.minReadySeconds ?? 0, context.clock)));
  });

interface Pair {
  /** The revision of Pods below the partition. */
  readonly current: ControllerRevision;
  /** The revision of the others, and of all in the end. */
  readonly latest: ControllerRevision;
}

function isMember({ metadata }: StatefulSet, pod: Pod): boolean {
  return pod.metadata.name.replace(/-\d+$/, '') === metadata.name && /-\d+$/.test(pod.metadata.name);
}

function ordinalOf({ metadata }: Pod): number {
  return Number(metadata.name.slice(metadata.name.lastIndexOf('-') + 1));
}

/** Does what can be done now: at most one thing where order matters. */
async function step(context: ReconcileContext<StatefulSet>, pair: Pair, pods: readonly Pod[]): Promise<void> {
  const { object: set, clock } = context;
  const first = set.spec.ordinals?.start ?? 0;
  const last = first + (set.spec.replicas ?? 1) - 1;
  const isParallel = set.spec.podManagementPolicy === 'Parallel';
  const isWell = (pod: Pod) => !isDeleting(pod) && untilAvailable(pod, set.spec.minReadySeconds ?? 0, clock) === 0;
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(pod), pod]));
  for (let ordinal = first; ordinal <= last; ordinal += 1) {
    const pod = byOrdinal.get(ordinal);
    if (pod === undefined) await createStatefulPod(context, ordinal, revisionFor(set, ordinal - first, pair));
    else if (hasEnded(pod) && !isDeleting(pod)) await deleteStatefulPod(context, pod);
    else if (isWell(pod)) continue;
    if (!isParallel) return;
  }
  const condemned = pods
    .filter((pod) => ordinalOf(pod) < first || ordinalOf(pod) > last)
    .sort((a, b) => ordinalOf(b) - ordinalOf(a));
  const lowestUnwell = condemned.findLast((pod) => !isWell(pod));
  for (const pod of condemned) {
    const mustWait = !isParallel && !isWell(pod) && (isDeleting(pod) || pod !== lowestUnwell);
    if (mustWait) return;
    if (!isDeleting(pod)) await deleteStatefulPod(context, pod);
    if (!isParallel) return;
  }
  if (set.spec.updateStrategy?.type === 'OnDelete') return;
  const partition = set.spec.updateStrategy?.rollingUpdate?.partition ?? 0;
  for (let ordinal = last; ordinal >= first + partition; ordinal -= 1) {
    const pod = byOrdinal.get(ordinal);
    if (pod === undefined || isDeleting(pod)) return;
    if (pod.metadata.labels?.[hashLabel] !== pair.latest.metadata.name) {
      await deleteStatefulPod(context, pod);
      return;
    }
    if (!isWell(pod)) return;
  }
}

/** Which template a Pod is made from, by its place in the row. */
function revisionFor({ spec, status }: StatefulSet, index: number, { current, latest }: Pair): ControllerRevision {
  const { type = 'RollingUpdate', rollingUpdate } = spec.updateStrategy ?? {};
  const kept = type === 'RollingUpdate' ? (status.currentReplicas ?? 0) : 0;
  return index < (rollingUpdate === undefined ? kept : (rollingUpdate.partition ?? 0)) ? current : latest;
}

async function report(
  { object: set, client, clock, status }: ReconcileContext<StatefulSet>,
  { current, latest }: Pair,
  collisionCount: number,
): Promise<void> {
  const { items } = await client.list(Pod, { namespace: set.metadata.namespace });
  const pods = controlledBy(items, set);
  const desired = set.spec.replicas ?? 1;
  const madeFrom = ({ metadata }: ControllerRevision) =>
    pods.filter((pod) => !isDeleting(pod) && pod.metadata.labels?.[hashLabel] === metadata.name).length;
  const readyReplicas = pods.filter(isReady).length;
  const updatedReplicas = madeFrom(latest);
  const { type = 'RollingUpdate' } = set.spec.updateStrategy ?? {};
  const counts = [updatedReplicas, readyReplicas, pods.length];
  const isComplete = type === 'RollingUpdate' && counts.every((count) => count === desired);
  await status({
    replicas: pods.length,
    readyReplicas,
    availableReplicas: pods.filter((pod) => untilAvailable(pod, set.spec.minReadySeconds ?? 0, clock) === 0).length,
    updatedReplicas,
    currentReplicas: isComplete ? updatedReplicas : madeFrom(current),
    currentRevision: (isComplete ? latest : current).metadata.name,
    updateRevision: latest.metadata.name,
    observedGeneration: set.metadata.generation ?? 0,
    collisionCount,
  });
}

/** Revisions that no Pod has any more are kept up to a number, to go back to. */
async function forget(
  context: ReconcileContext<StatefulSet>,
  { current, latest }: Pair,
  { revisions }: History,
  pods: readonly Pod[],
): Promise<void> {
  const live = new Set([current, latest].map(({ metadata }) => metadata.name));
  for (const { metadata } of pods) live.add(metadata.labels?.[hashLabel] ?? '');
  const old = revisions.filter(({ metadata }) => !live.has(metadata.name));
  const many = Math.max(0, old.length - (context.object.spec.revisionHistoryLimit ?? 10));
  await deleteRevisions(context, old.slice(0, many));
}
