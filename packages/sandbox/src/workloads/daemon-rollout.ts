import { isDeleting } from 'riata';
import type { DaemonSet, Node, Pod } from 'riata/kinds';
import type { Clock } from 'riata/runtime';
import { countOf } from './count-of.js';
import { untilAvailable } from './pods.js';

/** The next step to get Pods of the newest template onto all nodes. */
export interface DaemonSteps {
  readonly remove: readonly Pod[];
  /** Nodes that get a Pod beside the one that they have. */
  readonly surge: readonly string[];
}

/** How many nodes may have no Pod that works during a rollout, and how many a second one. */
function limits(set: DaemonSet, desired: number): { readonly unavailable: number; readonly surge: number } {
  const { maxUnavailable = 1, maxSurge = 0 } = set.spec.updateStrategy?.rollingUpdate ?? {};
  const unavailable = countOf(maxUnavailable, desired, Math.ceil);
  const surge = countOf(maxSurge, desired, Math.ceil);
  // With neither, nothing could ever move.
  return unavailable === 0 && surge === 0 ? { unavailable: 1, surge } : { unavailable, surge };
}

export function allowsSurge(set: DaemonSet): boolean {
  const { type = 'RollingUpdate', rollingUpdate } = set.spec.updateStrategy ?? {};
  return type === 'RollingUpdate' && countOf(rollingUpdate?.maxSurge ?? 0, 100, Math.ceil) > 0;
}

/** The next steps of a rolling update: old Pods go as far as enough others are available. */
export function daemonSteps(
  set: DaemonSet,
  nodes: readonly Node[],
  podsOn: (node: Node) => readonly Pod[],
  isNew: (pod: Pod) => boolean,
  clock: Clock,
): DaemonSteps {
  const { unavailable, surge } = limits(set, nodes.length);
  const isAvailable = (pod: Pod) => untilAvailable(pod, set.spec.minReadySeconds ?? 0, clock) === 0;
  const places = nodes.map((node) => {
    const pods = podsOn(node).filter((pod) => !isDeleting(pod));
    return { node: node.metadata.name, now: pods.find(isNew), old: pods.find((pod) => !isNew(pod)) };
  });
  const replaceable = places.filter(({ now, old }) => now === undefined && old !== undefined);
  const broken = replaceable.filter(({ old }) => !isAvailable(old as Pod));
  const working = replaceable.filter(({ old }) => isAvailable(old as Pod));
  if (surge === 0) {
    const missing = places.filter(({ now, old }) => {
      const only = now ?? old;
      return only === undefined || (now !== undefined && old !== undefined) || !isAvailable(only);
    });
    const next = working.slice(0, Math.max(0, unavailable - missing.length));
    return { remove: [...broken, ...next].map(({ old }) => old as Pod), surge: [] };
  }
  const doubled = places.filter(({ now, old }) => now !== undefined && old !== undefined);
  const waiting = doubled.filter(({ now }) => !isAvailable(now as Pod));
  const next = working.slice(0, Math.max(0, surge - waiting.length));
  return {
    remove: doubled.filter(({ now }) => isAvailable(now as Pod)).map(({ old }) => old as Pod),
    surge: [...broken, ...next].map(({ node }) => node),
  };
}
