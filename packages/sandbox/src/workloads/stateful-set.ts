import { control, ignoreNotFound, isAlreadyExists, type ReconcileContext } from 'riata';
import { PersistentVolumeClaim, Pod, StatefulSet } from 'riata/kinds';
import { lookAgainSoonest } from './look-again.js';
import { podFrom } from './make-pod.js';
import { controlledBy, hasEnded, isReady, untilAvailable } from './pods.js';
import { templateHash } from './template-hash.js';

const hashLabel = 'controller-revision-hash';

/** Keeps the numbered Pods of a StatefulSet: made in order, each when the one before it is ready, replaced from behind. */
export const statefulSets = control(StatefulSet)
  .owns(Pod)
  .reads(PersistentVolumeClaim)
  .reconcile(async (context) => {
    if (context.object.metadata.deletionTimestamp === undefined) await step(context);
    return tell(context);
  });

async function podsOf({ object: set, client }: ReconcileContext<StatefulSet>): Promise<Map<number, Pod>> {
  const { items } = await client.list(Pod, { namespace: set.metadata.namespace });
  return new Map(controlledBy(items, set).map((pod) => [ordinalOf(pod), pod]));
}

function ordinalOf({ metadata }: Pod): number {
  return Number(metadata.name.slice(metadata.name.lastIndexOf('-') + 1));
}

function revisionOf(set: StatefulSet): string {
  return `${set.metadata.name}-${templateHash(set.spec.template)}`;
}

/** Does what can be done now: at most one thing where order matters. */
async function step(context: ReconcileContext<StatefulSet>): Promise<void> {
  const { object: set, client, event } = context;
  const first = set.spec.ordinals?.start ?? 0;
  const last = first + (set.spec.replicas ?? 1) - 1;
  const isParallel = set.spec.podManagementPolicy === 'Parallel';
  const isWell = (pod: Pod) => untilAvailable(pod, set.spec.minReadySeconds ?? 0, context.clock) === 0;
  const remove = async (pod: Pod) => {
    await client.delete(Pod, pod.metadata).catch(ignoreNotFound);
    const message = `delete Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name} successful`;
    event({ type: 'Normal', reason: 'SuccessfulDelete', message });
  };
  const pods = await podsOf(context);
  for (let ordinal = first; ordinal <= last; ordinal += 1) {
    const pod = pods.get(ordinal);
    if (pod === undefined) await make(context, ordinal);
    else if (hasEnded(pod) && pod.metadata.deletionTimestamp === undefined) await remove(pod);
    else if (isWell(pod) && pod.metadata.deletionTimestamp === undefined) continue;
    if (!isParallel) return;
  }
  const many = [...pods.values()].filter((pod) => ordinalOf(pod) > last).sort((a, b) => ordinalOf(b) - ordinalOf(a));
  for (const pod of many) {
    if (pod.metadata.deletionTimestamp === undefined) await remove(pod);
    if (!isParallel) return;
  }
  if (set.spec.updateStrategy?.type === 'OnDelete') return;
  const partition = set.spec.updateStrategy?.rollingUpdate?.partition ?? 0;
  for (let ordinal = last; ordinal >= Math.max(first, partition); ordinal -= 1) {
    const pod = pods.get(ordinal);
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return;
    if (pod.metadata.labels?.[hashLabel] !== revisionOf(set)) {
      await remove(pod);
      return;
    }
    if (!isWell(pod)) return;
  }
}

async function make({ object: set, client, event }: ReconcileContext<StatefulSet>, ordinal: number): Promise<void> {
  const { namespace, name: owner } = set.metadata;
  const name = `${owner}-${ordinal}`;
  const volumes = [...(set.spec.template.spec?.volumes ?? [])].filter(
    (volume) => !set.spec.volumeClaimTemplates?.some(({ metadata }) => metadata?.name === volume.name),
  );
  for (const template of set.spec.volumeClaimTemplates ?? []) {
    const claim = `${template.metadata?.name}-${name}`;
    const labels = { ...template.metadata?.labels, ...set.spec.selector.matchLabels };
    const metadata = { namespace, name: claim, labels };
    await client.create(PersistentVolumeClaim({ metadata, spec: template.spec ?? {} })).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
    volumes.push({ name: template.metadata?.name as string, persistentVolumeClaim: { claimName: claim } });
  }
  const labels = {
    [hashLabel]: revisionOf(set),
    'statefulset.kubernetes.io/pod-name': name,
    'apps.kubernetes.io/pod-index': String(ordinal),
  };
  const spec = {
    hostname: name,
    ...(set.spec.serviceName && { subdomain: set.spec.serviceName }),
    ...(volumes.length > 0 && { volumes }),
  };
  await client.create(podFrom(set, set.spec.template, { name }, { labels, spec }));
  const message = `create Pod ${name} in StatefulSet ${owner} successful`;
  event({ type: 'Normal', reason: 'SuccessfulCreate', message });
}

async function tell(context: ReconcileContext<StatefulSet>) {
  const { object: set, status } = context;
  const pods = [...(await podsOf(context)).values()].filter((pod) => !hasEnded(pod));
  const revision = revisionOf(set);
  const updated = pods.filter((pod) => pod.metadata.labels?.[hashLabel] === revision);
  const waits = pods.map((pod) => untilAvailable(pod, set.spec.minReadySeconds ?? 0, context.clock));
  const isDone =
    updated.length === (set.spec.replicas ?? 1) && updated.every(isReady) && pods.length === updated.length;
  const before = set.status.currentRevision || revision;
  const currentRevision = isDone ? revision : before;
  await status({
    replicas: pods.length,
    readyReplicas: pods.filter(isReady).length,
    availableReplicas: waits.filter((wait) => wait === 0).length,
    updatedReplicas: updated.length,
    currentReplicas: pods.filter((pod) => pod.metadata.labels?.[hashLabel] === currentRevision).length,
    currentRevision,
    updateRevision: revision,
    observedGeneration: set.metadata.generation ?? 0,
    collisionCount: 0,
  });
  return lookAgainSoonest(waits);
}
