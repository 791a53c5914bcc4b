import { isDeleting, type ReconcileContext } from 'riata';
import { Pod, type ReplicaSet, type ReplicationController } from 'riata/kinds';
import type { LabelSelector } from 'riata/object';
import { claimObjects } from './adoption.js';
import { lookAgainSoonest } from './look-again.js';
import { createPod, deletePod, errorText } from './pod-control.js';
import { podFrom } from './pod-from.js';
import { controlledBy, hasEnded, isActive, isReady, leastUsefulFirst, untilAvailable } from './pods.js';

/** The most Pods to create or delete at once. */
const burst = 500;

type Context = ReconcileContext<ReplicaSet> | ReconcileContext<ReplicationController>;

/** Keeps as many Pods as a ReplicaSet or a ReplicationController asks for, and reports their state. */
export async function keepReplicas(context: Context, selector: LabelSelector | undefined) {
  let failure: unknown;
  if (!isDeleting(context.object)) {
    const pods = (await claimObjects(context, Pod, selector, isActive)).filter(isActive);
    failure = await scale(context, pods).catch((error: unknown) => error);
  }
  const result = await report(context, failure);
  if (failure !== undefined) throw failure;
  return result;
}

async function scale(context: Context, pods: readonly Pod[]): Promise<undefined> {
  const { object: set } = context;
  const missing = (set.spec.replicas ?? 1) - pods.length;
  for (let made = 0; made < Math.min(missing, burst); made += 1) {
    const desired = podFrom(set, set.spec.template, { generateName: `${set.metadata.name}-` });
    if ((await createPod(context, desired)) === undefined) return;
  }
  const victims = leastUsefulFirst(pods).slice(0, Math.min(Math.max(0, -missing), burst));
  for (const pod of victims) await deletePod(context, pod);
}

/** Writes the status, and returns when the next Pod has been ready for long enough. */
async function report(context: Context, failure: unknown) {
  const { object: set, client, clock } = context;
  const { items } = await client.list(Pod, { namespace: set.metadata.namespace });
  const owned = controlledBy(items, set);
  const pods = owned.filter(isActive);
  const labels = Object.entries(set.spec.template?.metadata?.labels ?? {});
  const waits = pods.map((pod) => untilAvailable(pod, set.spec.minReadySeconds ?? 0, clock));
  const conditions = failureCondition(set, pods.length, failure);
  const fields = {
    replicas: pods.length,
    fullyLabeledReplicas: pods.filter((pod) => labels.every(([k, v]) => pod.metadata.labels?.[k] === v)).length,
    readyReplicas: pods.filter(isReady).length,
    availableReplicas: waits.filter((wait) => wait === 0).length,
    observedGeneration: set.metadata.generation ?? 0,
    ...(conditions.length > 0 && { conditions }),
  };
  if (isReplicaSet(context)) {
    const terminatingReplicas = owned.filter((pod) => isDeleting(pod) && !hasEnded(pod)).length;
    await context.status({ ...fields, terminatingReplicas });
  } else await (context as ReconcileContext<ReplicationController>).status(fields);
  return lookAgainSoonest(waits);
}

function isReplicaSet(context: Context): context is ReconcileContext<ReplicaSet> {
  return context.object.kind === 'ReplicaSet';
}

/** The first failure stands until all is well again: the message names a Pod that is called otherwise at every try. */
function failureCondition({ spec, status }: Context['object'], active: number, failure: unknown) {
  if (failure === undefined) return [];
  const known = status.conditions?.find(({ type }) => type === 'ReplicaFailure');
  const reason = active < (spec.replicas ?? 1) ? 'FailedCreate' : 'FailedDelete';
  const { message = errorText(failure) } = known ?? {};
  return [{ type: 'ReplicaFailure', status: 'True' as const, reason: known?.reason ?? reason, message }];
}
