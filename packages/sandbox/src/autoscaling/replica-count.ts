import type { Pod } from 'riata/kinds';
import type { Clock } from 'riata/runtime';
import { isReady } from '../workloads/pods.js';

/** A Pod's processor time counts only if it is ready, for this long after its start. */
const cpuInitializationMs = 300_000;
/** A Pod that isn't ready this long after its start has been ready before. */
const initialReadinessMs = 30_000;

/** How far usage may be off before anything is done: from `1 - down` to `1 + up` times the target. */
export interface Tolerance {
  readonly up: number;
  readonly down: number;
}

export function isTolerated(ratio: number, { up, down }: Tolerance): boolean {
  return ratio >= 1 - down && ratio <= 1 + up;
}

/** The inputs for the number of Pods. */
export interface PodsUsage {
  readonly pods: readonly Pod[];
  readonly current: number;
  /** Usage in thousandths; undefined if it isn't known. */
  readonly usageOf: (pod: Pod) => number | undefined;
  readonly isCpu: boolean;
  /** The assumed usage of a Pod without metrics, when scaling down. */
  readonly assumed: (pod: Pod) => number;
  /** How much is used of the target, from the usage of Pods by name. */
  readonly ratioOf: (usage: ReadonlyMap<string, number>) => number;
  readonly tolerance: Tolerance;
  readonly clock: Clock;
}

/**
 * The desired number of Pods (`ReplicaCalculator`). Pods that aren't ready, or have no metrics, count so that they
 * dampen a change: as idle when scaling up, as busy when scaling down.
 */
export function replicasFor(from: PodsUsage): {
  readonly replicas: number;
  readonly usage: ReadonlyMap<string, number>;
} {
  const { pods, current, tolerance } = from;
  if (pods.length === 0) throw new Error('no pods returned by selector while calculating replica count');
  const { usage, ignored, missing } = group(from);
  if (usage.size === 0) throw new Error('did not receive metrics for targeted pods (pods might be unready)');
  const ratio = from.ratioOf(usage);
  const countsIgnored = ignored.length > 0 && ratio > 1;
  if (!countsIgnored && missing.length === 0) {
    return { replicas: isTolerated(ratio, tolerance) ? current : Math.ceil(ratio * usage.size), usage };
  }
  const all = new Map(usage);
  for (const pod of missing) all.set(pod.metadata.name, ratio < 1 ? from.assumed(pod) : 0);
  if (countsIgnored) for (const pod of ignored) all.set(pod.metadata.name, 0);
  const corrected = from.ratioOf(all);
  const turns = (ratio < 1 && corrected > 1) || (ratio > 1 && corrected < 1);
  if (isTolerated(corrected, tolerance) || turns) return { replicas: current, usage };
  const replicas = Math.ceil(corrected * all.size);
  const turnsCount = (corrected < 1 && replicas > current) || (corrected > 1 && replicas < current);
  return { replicas: turnsCount ? current : replicas, usage };
}

function group({ pods, usageOf, isCpu, clock }: PodsUsage) {
  const usage = new Map<string, number>();
  const ignored: Pod[] = [];
  const missing: Pod[] = [];
  for (const pod of pods) {
    const { phase } = pod.status;
    if (pod.metadata.deletionTimestamp !== undefined || phase === 'Failed') continue;
    const value = usageOf(pod);
    if (phase === 'Pending') ignored.push(pod);
    else if (value === undefined) missing.push(pod);
    else if (isCpu && isStarting(pod, clock)) ignored.push(pod);
    else usage.set(pod.metadata.name, value);
  }
  return { usage, ignored, missing };
}

/** Whether what a Pod uses is still about its start. */
function isStarting(pod: Pod, clock: Clock): boolean {
  const ready = pod.status.conditions?.find(({ type }) => type === 'Ready');
  const started = Date.parse(pod.status.startTime ?? '');
  if (ready === undefined || Number.isNaN(started)) return true;
  if (isReady(pod)) return false;
  if (started + cpuInitializationMs > clock.now()) return true;
  return started + initialReadinessMs > Date.parse(ready.lastTransitionTime ?? '');
}
