import { control, ignoreNotFound, type ReconcileContext } from 'riata';
import { Pod, ReplicaSet } from 'riata/kinds';
import { lookAgainSoonest } from './look-again.js';
import { podFrom } from './make-pod.js';
import { controlledBy, controllerReference, isActive, isReady, leastUsefulFirst, untilAvailable } from './pods.js';
import { selects } from './selects.js';

/** No more Pods than this are made or deleted in one go. */
const burst = 500;

/** Keeps as many Pods as a ReplicaSet asks for, and tells how they are. */
export const replicaSets = control(ReplicaSet)
  .owns(Pod)
  .watches(Pod, async (pod, reader) => {
    if (hasController(pod)) return [];
    const { items } = await reader.list(ReplicaSet, { namespace: pod.metadata.namespace });
    return items.filter((set) => selects(set.spec.selector, pod)).map(({ metadata }) => metadata);
  })
  .reconcile(async (context) => {
    const { object: set } = context;
    if (set.metadata.deletionTimestamp === undefined) {
      await adopt(context);
      await scale(context);
    }
    return tell(context);
  });

function hasController({ metadata }: Pod): boolean {
  return metadata.ownerReferences?.some(({ controller }) => controller) ?? false;
}

async function podsOf({ object: set, client }: ReconcileContext<ReplicaSet>): Promise<Pod[]> {
  const { items } = await client.list(Pod, { namespace: set.metadata.namespace });
  return controlledBy(items, set).filter(isActive);
}

/** Pods that nobody owns and that the ReplicaSet selects become its own. */
async function adopt({ object: set, client }: ReconcileContext<ReplicaSet>): Promise<void> {
  const { items } = await client.list(Pod, { namespace: set.metadata.namespace });
  for (const pod of items) {
    if (!isActive(pod) || hasController(pod) || !selects(set.spec.selector, pod)) continue;
    const { uid, ownerReferences = [] } = pod.metadata;
    const body = { metadata: { uid, ownerReferences: [...ownerReferences, controllerReference(set)] } };
    await client.patch(Pod, pod.metadata, { type: 'merge', body });
  }
}

async function scale(context: ReconcileContext<ReplicaSet>): Promise<void> {
  const { object: set, client, event } = context;
  const active = await podsOf(context);
  const missing = (set.spec.replicas ?? 1) - active.length;
  for (let made = 0; made < Math.min(missing, burst); made += 1) {
    const pod = await client.create(podFrom(set, set.spec.template, { generateName: `${set.metadata.name}-` }));
    event({ type: 'Normal', reason: 'SuccessfulCreate', message: `Created pod: ${pod.metadata.name}` });
  }
  for (const { metadata } of leastUsefulFirst(active).slice(0, Math.min(Math.max(0, -missing), burst))) {
    await client.delete(Pod, metadata).catch(ignoreNotFound);
    event({ type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted pod: ${metadata.name}` });
  }
}

/** Says how the Pods are, and looks again when the next one has been ready for long enough. */
async function tell(context: ReconcileContext<ReplicaSet>) {
  const { object: set, status } = context;
  const pods = await podsOf(context);
  const labels = Object.entries(set.spec.template?.metadata?.labels ?? {});
  const waits = pods.map((pod) => untilAvailable(pod, set.spec.minReadySeconds ?? 0, context.clock));
  await status({
    replicas: pods.length,
    fullyLabeledReplicas: pods.filter((pod) => labels.every(([k, v]) => pod.metadata.labels?.[k] === v)).length,
    readyReplicas: pods.filter(isReady).length,
    availableReplicas: waits.filter((wait) => wait === 0).length,
    observedGeneration: set.metadata.generation ?? 0,
  });
  return lookAgainSoonest(waits);
}
