import { control, type ReconcileContext } from 'riata';
import { Deployment, ReplicaSet } from 'riata/kinds';
import { deploymentConditions } from './deployment-conditions.js';
import { lookAgain } from './look-again.js';
import { controlledBy, controllerReference } from './pods.js';
import { revisionAnnotation, revisionOf, sameTemplate } from './revision.js';
import { rollingSteps, wanted } from './rolling-update.js';
import { says } from './says.js';
import { templateHash } from './template-hash.js';

const hashLabel = 'pod-template-hash';

/** Moves the Pods of a Deployment to its newest template, ReplicaSet by ReplicaSet, and remembers the older ones. */
export const deployments = control(Deployment)
  .owns(ReplicaSet)
  .reconcile(async (context) => {
    const { object: deployment } = context;
    if (deployment.metadata.deletionTimestamp === undefined) {
      const current = await currentSet(context);
      const sets = await setsOf(context);
      if (current === undefined) await spread(context, sets);
      else if (deployment.spec.strategy?.type === 'Recreate') await recreate(context, current, sets);
      else await roll(context, current, sets);
      await forget(context);
    }
    return tell(context);
  });

async function setsOf({ object: deployment, client }: ReconcileContext<Deployment>): Promise<ReplicaSet[]> {
  const { items } = await client.list(ReplicaSet, { namespace: deployment.metadata.namespace });
  return controlledBy(items, deployment);
}

/** The ReplicaSet of the newest template: made if it is not there, unless the Deployment is paused. */
async function currentSet(context: ReconcileContext<Deployment>): Promise<ReplicaSet | undefined> {
  const { object: deployment, client, event } = context;
  const { metadata } = deployment;
  const spec = deployment.spec;
  const sets = await setsOf(context);
  const found = sets
    .filter((set) => sameTemplate(set, deployment))
    .sort((a, b) => a.metadata.creationTimestamp.localeCompare(b.metadata.creationTimestamp))[0];
  const newest = Math.max(0, ...sets.filter((set) => set !== found).map(revisionOf));
  if (found !== undefined) {
    if (spec.paused !== true) await setRevision(context, found, newest);
    return found;
  }
  if (spec.paused === true) return undefined;
  const hash = templateHash(spec.template, deployment.status.collisionCount ?? 0);
  const labels = { ...spec.template.metadata?.labels, [hashLabel]: hash };
  const old = sets.reduce((sum, set) => sum + (set.spec.replicas ?? 1), 0);
  const replicas = spec.strategy?.type === 'Recreate' ? (old > 0 ? 0 : (spec.replicas ?? 1)) : wanted(deployment, old);
  const made = await client.create(
    ReplicaSet({
      metadata: {
        namespace: metadata.namespace,
        name: `${metadata.name}-${hash}`,
        labels,
        annotations: { ...notes(deployment), ...sizes(deployment), [revisionAnnotation]: String(newest + 1) },
        ownerReferences: [controllerReference(deployment)],
      },
      spec: {
        replicas,
        ...(spec.minReadySeconds && { minReadySeconds: spec.minReadySeconds }),
        selector: { ...spec.selector, matchLabels: { ...spec.selector.matchLabels, [hashLabel]: hash } },
        template: { ...spec.template, metadata: { ...spec.template.metadata, labels } },
      },
    }),
  );
  await noteRevision(context, newest + 1);
  event({
    type: 'Normal',
    reason: 'ScalingReplicaSet',
    message: `Scaled up replica set ${made.metadata.name} from 0 to ${replicas}`,
  });
  return made;
}

/** A ReplicaSet that becomes the newest again gets the next number, and what the Deployment is annotated with. */
async function setRevision(context: ReconcileContext<Deployment>, set: ReplicaSet, newest: number): Promise<void> {
  const { object: deployment, client } = context;
  const revision = Math.max(revisionOf(set), newest + 1);
  const annotations = { ...notes(deployment), ...sizes(deployment), [revisionAnnotation]: String(revision) };
  const given = set.metadata.annotations ?? {};
  if (Object.entries(annotations).some(([name, value]) => given[name] !== value)) {
    await client.patch(ReplicaSet, set.metadata, { type: 'merge', body: { metadata: { annotations } } });
  }
  await noteRevision(context, revision);
}

async function noteRevision({ object: deployment, client }: ReconcileContext<Deployment>, revision: number) {
  if (deployment.metadata.annotations?.[revisionAnnotation] === String(revision)) return;
  const body = { metadata: { annotations: { [revisionAnnotation]: String(revision) } } };
  await client.patch(Deployment, deployment.metadata, { type: 'merge', body });
}

/** What a ReplicaSet takes over of the annotations of its Deployment. */
function notes({ metadata }: Deployment): Record<string, string> {
  const own = ['kubectl.kubernetes.io/last-applied-configuration', revisionAnnotation];
  return Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([name]) => !own.includes(name)));
}

function sizes(deployment: Deployment): Record<string, string> {
  const replicas = deployment.spec.replicas ?? 1;
  const most = deployment.spec.strategy?.type === 'Recreate' ? replicas : wanted.most(deployment);
  return {
    'deployment.kubernetes.io/desired-replicas': String(replicas),
    'deployment.kubernetes.io/max-replicas': String(most),
  };
}

async function resize(
  { client, event }: ReconcileContext<Deployment>,
  set: ReplicaSet,
  replicas: number,
): Promise<void> {
  const before = set.spec.replicas ?? 1;
  if (before === replicas) return;
  await client.patch(ReplicaSet, set.metadata, { type: 'merge', body: { spec: { replicas } } });
  const way = replicas > before ? 'up' : 'down';
  const message = `Scaled ${way} replica set ${set.metadata.name} from ${before} to ${replicas}`;
  event({ type: 'Normal', reason: 'ScalingReplicaSet', message });
}

/** All old Pods have to be gone before the first new one comes. */
async function recreate(context: ReconcileContext<Deployment>, current: ReplicaSet, sets: readonly ReplicaSet[]) {
  const old = sets.filter(({ metadata }) => metadata.uid !== current.metadata.uid);
  for (const set of old) await resize(context, set, 0);
  if (old.some((set) => (set.status.replicas ?? 0) > 0)) return;
  await resize(context, current, context.object.spec.replicas ?? 1);
}

async function roll(context: ReconcileContext<Deployment>, current: ReplicaSet, sets: readonly ReplicaSet[]) {
  for (const [set, replicas] of rollingSteps(context.object, current, sets)) await resize(context, set, replicas);
}

/** A paused Deployment still has its size: the Pods are spread as they are. */
async function spread(context: ReconcileContext<Deployment>, sets: readonly ReplicaSet[]): Promise<void> {
  const [largest] = [...sets].sort((a, b) => (b.spec.replicas ?? 1) - (a.spec.replicas ?? 1));
  if (largest === undefined) return;
  const others = sets.filter((set) => set !== largest).reduce((sum, set) => sum + (set.spec.replicas ?? 1), 0);
  await resize(context, largest, Math.max(0, (context.object.spec.replicas ?? 1) - others));
}

/** Old ReplicaSets that have no Pods any more are kept up to a number, to go back to. */
async function forget(context: ReconcileContext<Deployment>): Promise<void> {
  const { object: deployment, client } = context;
  const old = (await setsOf(context))
    .filter((set) => !sameTemplate(set, deployment))
    .filter((set) => (set.spec.replicas ?? 1) === 0 && (set.status.replicas ?? 0) === 0)
    .sort((a, b) => revisionOf(a) - revisionOf(b));
  const many = old.length - (deployment.spec.revisionHistoryLimit ?? 10);
  for (const { metadata } of old.slice(0, Math.max(0, many))) {
    await client.delete(ReplicaSet, metadata, { propagationPolicy: 'Background' });
  }
}

async function tell(context: ReconcileContext<Deployment>) {
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
  };
  const { conditions, requeueAfter } = deploymentConditions(deployment, counts, current, context.clock);
  const status = { ...counts, observedGeneration: deployment.metadata.generation ?? 0, conditions };
  const before = (await client.get(Deployment, deployment.metadata)).status ?? {};
  // The conditions have times of their own, which the usual way to write a status does not know.
  if (!says(before, status))
    await client.status.patch(Deployment, deployment.metadata, { type: 'merge', body: { status } });
  return requeueAfter === undefined ? undefined : lookAgain(requeueAfter);
}
