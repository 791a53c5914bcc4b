import type { ReconcileContext } from 'riata';
import { type Deployment, ReplicaSet } from 'riata/kinds';
import { desiredAnnotation, maxAnnotation } from './deployment-revision.js';
import { mostPods } from './rolling-update.js';

const sizeOf = ({ spec }: ReplicaSet) => spec.replicas ?? 1;

/** The annotations of a ReplicaSet when it is scaled. */
export function sizeAnnotations(deployment: Deployment): Record<string, string> {
  return {
    [desiredAnnotation]: String(deployment.spec.replicas ?? 1),
    [maxAnnotation]: String(mostPods(deployment)),
  };
}

/** Gives a ReplicaSet its size, and notes what for. */
export async function resize(
  { object: deployment, client, event }: ReconcileContext<Deployment>,
  set: ReplicaSet,
  replicas: number,
): Promise<boolean> {
  const before = sizeOf(set);
  const annotations = sizeAnnotations(deployment);
  const isNoted = Object.entries(annotations).every(([name, value]) => set.metadata.annotations?.[name] === value);
  if (before === replicas && isNoted) return false;
  await client.patch(ReplicaSet, set.metadata, {
    type: 'merge',
    body: { metadata: { annotations }, spec: { replicas } },
  });
  if (before === replicas) return false;
  const way = replicas > before ? 'up' : 'down';
  const message = `Scaled ${way} replica set ${set.metadata.name} from ${before} to ${replicas}`;
  event({ type: 'Normal', reason: 'ScalingReplicaSet', message });
  return true;
}

/** Whether the Deployment was given another size than its ReplicaSets know of. */
export function isScaled({ spec }: Deployment, sets: readonly ReplicaSet[]): boolean {
  return sets
    .filter((set) => sizeOf(set) > 0)
    .map(({ metadata }) => metadata.annotations?.[desiredAnnotation])
    .some((desired) => desired !== undefined && Number(desired) !== (spec.replicas ?? 1));
}

/** Brings all ReplicaSets to the size of the Deployment, each in proportion, without getting on with a rollout. */
export async function scale(
  context: ReconcileContext<Deployment>,
  current: ReplicaSet | undefined,
  sets: readonly ReplicaSet[],
): Promise<void> {
  const { object: deployment } = context;
  const replicas = deployment.spec.replicas ?? 1;
  const newestFirst = [...sets].sort((a, b) => createdAt(b).localeCompare(createdAt(a)));
  const active = newestFirst.filter((set) => sizeOf(set) > 0);
  if (active.length < 2) {
    const [only = current ?? newestFirst[0]] = active;
    if (only !== undefined) await resize(context, only, replicas);
    return;
  }
  if (current !== undefined && isSaturated(deployment, current)) {
    for (const old of active) if (old.metadata.uid !== current.metadata.uid) await resize(context, old, 0);
    return;
  }
  if (deployment.spec.strategy?.type === 'Recreate') return;
  for (const [set, size] of proportions(deployment, active)) await resize(context, set, size);
}

const createdAt = ({ metadata }: ReplicaSet) => metadata.creationTimestamp;

function isSaturated({ spec }: Deployment, { metadata, status, ...set }: ReplicaSet): boolean {
  const counts = [set.spec.replicas ?? 1, Number(metadata.annotations?.[desiredAnnotation]), status.availableReplicas];
  return counts.every((count) => count === (spec.replicas ?? 1));
}

/** The new sizes of several ReplicaSets: the largest goes first, and takes what rounding leaves over. */
function proportions(
  deployment: Deployment,
  active: readonly ReplicaSet[],
): readonly (readonly [ReplicaSet, number])[] {
  const replicas = deployment.spec.replicas ?? 1;
  const most = mostPods(deployment);
  const missing = (replicas > 0 ? most : 0) - active.reduce((sum, set) => sum + sizeOf(set), 0);
  // Of two that are alike, the newer one grows first, and the older one shrinks first.
  const byAge = missing > 0 ? 1 : -1;
  const largestFirst = [...active].sort(
    (a, b) => sizeOf(b) - sizeOf(a) || byAge * createdAt(b).localeCompare(createdAt(a)),
  );
  let added = 0;
  const sizes = largestFirst.map((set) => {
    const before = Number(set.metadata.annotations?.[maxAnnotation]) || (deployment.status.replicas ?? 0);
    const share = replicas === 0 ? 0 : before === 0 ? sizeOf(set) : Math.round((sizeOf(set) * most) / before);
    const left = missing - added;
    const change = missing > 0 ? Math.min(share - sizeOf(set), left) : Math.max(share - sizeOf(set), left);
    const taken = missing === 0 || left === 0 ? 0 : change;
    added += taken;
    return [set, sizeOf(set) + taken] as const;
  });
  const [[largest, size] = [undefined, 0], ...others] = sizes;
  return largest === undefined ? [] : [[largest, Math.max(0, size + missing - added)], ...others];
}
