import type { Deployment, ReplicaSet } from 'riata/kinds';
import { countOf } from '../count-of.js';

/** How many Pods more than desired there may be, and how many fewer. */
export function rolloutLimits(deployment: Deployment): { readonly surge: number; readonly missing: number } {
  const { replicas = 1, strategy } = deployment.spec;
  if (strategy?.type === 'Recreate') return { surge: 0, missing: 0 };
  const { maxSurge = '25%', maxUnavailable = '25%' } = strategy?.rollingUpdate ?? {};
  const surge = countOf(maxSurge, replicas, Math.ceil);
  const missing = Math.min(replicas, countOf(maxUnavailable, replicas, Math.floor));
  // With neither, nothing could ever move.
  return surge === 0 && missing === 0 ? { surge, missing: 1 } : { surge, missing };
}

/** The largest size of a new ReplicaSet beside this many Pods of others. */
export function desiredReplicas(deployment: Deployment, others: number): number {
  const replicas = deployment.spec.replicas ?? 1;
  return Math.max(0, Math.min(replicas, replicas + rolloutLimits(deployment).surge - others));
}

/** How many Pods there may be in all. */
export function mostPods(deployment: Deployment): number {
  return (deployment.spec.replicas ?? 1) + rolloutLimits(deployment).surge;
}

/** The next sizes on the way to the newest template: more of the new, then fewer of the old. */
export function rollingSteps(
  deployment: Deployment,
  current: ReplicaSet,
  sets: readonly ReplicaSet[],
): readonly (readonly [ReplicaSet, number])[] {
  const replicas = deployment.spec.replicas ?? 1;
  const size = (set: ReplicaSet) => set.spec.replicas ?? 1;
  const old = sets.filter(({ metadata }) => metadata.uid !== current.metadata.uid);
  const own = sets.find(({ metadata }) => metadata.uid === current.metadata.uid) ?? current;
  const oldTotal = old.reduce((sum, set) => sum + size(set), 0);
  const target = size(own) > replicas ? replicas : Math.max(size(own), desiredReplicas(deployment, oldTotal));
  const steps: (readonly [ReplicaSet, number])[] = [];
  if (target !== size(own)) steps.push([own, target]);
  if (oldTotal === 0) return steps;
  const available = sets.reduce((sum, set) => sum + (set.status.availableReplicas ?? 0), 0);
  const least = replicas - rolloutLimits(deployment).missing;
  // Unhealthy Pods are no loss; of the healthy ones, no more are deleted than can be spared.
  const broken = old.map((set) => [set, Math.max(0, size(set) - (set.status.availableReplicas ?? 0))] as const);
  const newMissing = target - (own.status.availableReplicas ?? 0);
  let room = oldTotal + target - least - newMissing;
  const left = new Map(old.map((set) => [set, size(set)]));
  const take = (set: ReplicaSet, count: number): void => {
    const taken = Math.max(0, Math.min(count, room, left.get(set) ?? 0));
    left.set(set, (left.get(set) ?? 0) - taken);
    room -= taken;
  };
  for (const [set, count] of broken) take(set, count);
  room = Math.min(room, available - least);
  for (const set of old) take(set, left.get(set) ?? 0);
  for (const [set, count] of left) if (count !== size(set)) steps.push([set, count]);
  return steps;
}
