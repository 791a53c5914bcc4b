import { control, ignoreNotFound, isAlreadyExists, isControlledBy, isDeleting, type ReconcileContext } from 'riata';
import { Deployment, ReplicaSet } from 'riata/kinds';
import { isNamespaceTerminating } from 'riata/rest';
import { adopters, claimObjects } from '../adoption.js';
import { lookAgain } from '../look-again.js';
import { errorText } from '../pod-control.js';
import { controlledBy, controllerReference } from '../pods.js';
import { says } from '../says.js';
import { deploymentConditions, ReplicaSetCreateError } from './deployment-conditions.js';
import { hashLabel, revisionAnnotation, revisionAnnotations, revisionOf, sameTemplate } from './deployment-revision.js';
import { isScaled, resize, scale, sizeAnnotations } from './deployment-scale.js';
import { rollBack } from './roll-back.js';
import { desiredReplicas, rollingSteps } from './rolling-update.js';
import { templateHash } from './template-hash.js';

/** Moves the Pods of a Deployment to its newest template, ReplicaSet by ReplicaSet, and remembers the older ones. */
export const deployments = control(Deployment, { name: 'deployment-controller' })
  .owns(ReplicaSet)
  .watches(
    ReplicaSet,
    adopters(Deployment, ({ spec }) => spec.selector),
  )
  .reconcile(async (context) => {
    const { object: deployment } = context;
    let failure: unknown;
    if (!isDeleting(deployment)) {
      await claimObjects(context, ReplicaSet, deployment.spec.selector);
      const sets = await setsOf(context);
      if (deployment.spec.paused !== true && (await rollBack(context, sets))) return undefined;
      failure = await rollOut(context, sets).catch((error: unknown) => error);
      if (failure === undefined) await forget(context);
    }
    const result = await report(context, failure);
    if (failure !== undefined && !isNamespaceTerminating(failure)) throw failure;
    return result;
  });

async function setsOf({ object: deployment, client }: ReconcileContext<Deployment>): Promise<ReplicaSet[]> {
  const { items } = await client.list(ReplicaSet, { namespace: deployment.metadata.namespace });
  return controlledBy(items, deployment);
}

async function rollOut(context: ReconcileContext<Deployment>, sets: readonly ReplicaSet[]): Promise<undefined> {
  const { object: deployment } = context;
  const current = await currentSet(context, sets);
  if (deployment.spec.paused === true || isScaled(deployment, sets)) await scale(context, current, sets);
  else if (deployment.spec.strategy?.type === 'Recreate') await recreate(context, current, sets);
  else {
    const now = current ?? (await createSet(context, sets));
    for (const [set, replicas] of rollingSteps(deployment, now, await setsOf(context))) {
      await resize(context, set, replicas);
    }
  }
}

/** The ReplicaSet of the newest template, if there is one: it gets the highest number, and the Deployment's annotations. */
async function currentSet(context: ReconcileContext<Deployment>, sets: readonly ReplicaSet[]) {
  const { object: deployment, client } = context;
  const set = [...sets]
    .sort((a, b) => a.metadata.creationTimestamp.localeCompare(b.metadata.creationTimestamp))
    .find((one) => sameTemplate(one, deployment));
  if (set === undefined) return undefined;
  const others = sets.filter((one) => one !== set);
  const annotations = revisionAnnotations(deployment, set, others);
  const { minReadySeconds = 0 } = deployment.spec;
  const given = set.metadata.annotations ?? {};
  const isUpToDate = Object.entries(annotations).every(([name, value]) => given[name] === value);
  await noteRevision(context, annotations[revisionAnnotation] as string);
  if (isUpToDate && (set.spec.minReadySeconds ?? 0) === minReadySeconds) return set;
  const body = { metadata: { annotations }, spec: { minReadySeconds } };
  return client.patch(ReplicaSet, set.metadata, { type: 'merge', body });
}

async function createSet(context: ReconcileContext<Deployment>, sets: readonly ReplicaSet[]): Promise<ReplicaSet> {
  const { object: deployment, client, event } = context;
  const { metadata, spec } = deployment;
  const { collisionCount = 0 } = deployment.status;
  const hash = templateHash(spec.template, collisionCount);
  const name = `${metadata.name}-${hash}`;
  const labels = { ...spec.template.metadata?.labels, [hashLabel]: hash };
  const old = sets.reduce((sum, set) => sum + (set.spec.replicas ?? 1), 0);
  const replicas = spec.strategy?.type === 'Recreate' ? (spec.replicas ?? 1) : desiredReplicas(deployment, old);
  const annotations = { ...revisionAnnotations(deployment, undefined, sets), ...sizeAnnotations(deployment) };
  const ownerReferences = [controllerReference(deployment)];
  const made = ReplicaSet({
    metadata: { namespace: metadata.namespace, name, labels, annotations, ownerReferences },
    spec: {
      replicas,
      ...(spec.minReadySeconds && { minReadySeconds: spec.minReadySeconds }),
      selector: { ...spec.selector, matchLabels: { ...spec.selector.matchLabels, [hashLabel]: hash } },
      template: { ...spec.template, metadata: { ...spec.template.metadata, labels } },
    },
  });
  try {
    const set = await client.create(made);
    if (replicas > 0) {
      const message = `Scaled up replica set ${name} from 0 to ${replicas}`;
      event({ type: 'Normal', reason: 'ScalingReplicaSet', message });
    }
    await noteRevision(context, annotations[revisionAnnotation] as string);
    return set;
  } catch (error) {
    if (isAlreadyExists(error)) {
      const taken = await client.find(ReplicaSet, { namespace: metadata.namespace, name });
      if (taken !== undefined && isControlledBy(taken, deployment) && sameTemplate(taken, deployment)) return taken;
      // Something else has this name: the next try takes another.
      const body = { status: { collisionCount: collisionCount + 1 } };
      if (taken !== undefined) await client.status.patch(Deployment, metadata, { type: 'merge', body });
    } else if (!isNamespaceTerminating(error)) {
      const message = `Failed to create new replica set "${name}": ${errorText(error)}`;
      event({ type: 'Warning', reason: 'ReplicaSetCreateError', message });
      throw new ReplicaSetCreateError(message, { cause: error });
    }
    throw error;
  }
}

async function noteRevision({ object: deployment, client }: ReconcileContext<Deployment>, revision: string) {
  if (deployment.metadata.annotations?.[revisionAnnotation] === revision) return;
  const body = { metadata: { annotations: { [revisionAnnotation]: revision } } };
  await client.patch(Deployment, deployment.metadata, { type: 'merge', body });
}

/** All old Pods must be gone before the first new one is created. */
async function recreate(
  context: ReconcileContext<Deployment>,
  current: ReplicaSet | undefined,
  sets: readonly ReplicaSet[],
): Promise<void> {
  const old = sets.filter(({ metadata }) => metadata.uid !== current?.metadata.uid);
  const active = old.filter(({ spec }) => (spec.replicas ?? 1) > 0);
  for (const set of active) await resize(context, set, 0);
  const isRunning = ({ status }: ReplicaSet) => (status.replicas ?? 0) + (status.terminatingReplicas ?? 0) > 0;
  if (active.length > 0 || old.some(isRunning)) return;
  const now = current ?? (await createSet(context, sets));
  const replicas = context.object.spec.replicas ?? 1;
  if ((now.spec.replicas ?? 1) !== replicas) await resize(context, now, replicas);
}

/** Old ReplicaSets that have no Pods any more are kept up to a number, to go back to. */
async function forget(context: ReconcileContext<Deployment>): Promise<void> {
  const { object: deployment, client } = context;
  const old = (await setsOf(context))
    .filter((set) => !sameTemplate(set, deployment) && !isDeleting(set))
    .sort((a, b) => revisionOf(a) - revisionOf(b));
  const many = Math.max(0, old.length - (deployment.spec.revisionHistoryLimit ?? 10));
  for (const { metadata, spec, status } of old.slice(0, many)) {
    if ((spec.replicas ?? 1) > 0 || (status.replicas ?? 0) > 0) continue;
    await client.delete(ReplicaSet, metadata, { propagationPolicy: 'Background' }).catch(ignoreNotFound);
  }
}

async function report(context: ReconcileContext<Deployment>, failure: unknown) {
  const { object: deployment, client } = context;
  const sets = await setsOf(context);
  const current = sets.find((set) => sameTemplate(set, deployment));
  const sum = (count: (set: ReplicaSet) => number | undefined) => sets.reduce((all, set) => all + (count(set) ?? 0), 0);
  const availableReplicas = sum((set) => set.status.availableReplicas);
  const counts = {
    replicas: sum((set) => set.status.replicas),
    updatedReplicas: current?.status.replicas ?? 0,
    readyReplicas: sum((set) => set.status.readyReplicas),
    availableReplicas,
    unavailableReplicas: Math.max(0, sum((set) => set.spec.replicas) - availableReplicas),
    terminatingReplicas: sum((set) => set.status.terminatingReplicas),
  };
  const { conditions, requeueAfter } = deploymentConditions(
    deployment,
    { counts, current, sets, failure },
    context.clock,
  );
  const status = { ...counts, observedGeneration: deployment.metadata.generation ?? 0, conditions };
  const before = (await client.get(Deployment, deployment.metadata)).status ?? {};
  // The conditions have times of their own, which the usual way to write a status does not know.
  if (!says(before, status))
    await client.status.patch(Deployment, deployment.metadata, { type: 'merge', body: { status } });
  return requeueAfter === undefined ? undefined : lookAgain(requeueAfter);
}
