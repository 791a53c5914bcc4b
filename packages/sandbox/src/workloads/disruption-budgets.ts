import { control, equal, isConflict, isDeleting, type ReconcileContext, setCondition } from 'riata';
import type { ReconcileEvent } from 'riata/controller';
import {
  Deployment,
  Pod,
  PodDisruptionBudget,
  type PodDisruptionBudgetStatus,
  ReplicaSet,
  ReplicationController,
  StatefulSet,
} from 'riata/kinds';
import { selectorFrom } from 'riata/object';
import { countOf } from './count-of.js';
import { expectedScale } from './deployment/expected-scale.js';
import { LastEvents } from './last-events.js';
import { lookAgainSoonest } from './look-again.js';
import { errorText } from './pod-control.js';
import { isReady } from './pods.js';
import { says } from './says.js';
import { selectorText } from './selects.js';

/** A Pod that was evicted should be on its way out after this time; otherwise it counts again. */
const deletionTimeoutMs = 120_000;

/** Counts the healthy Pods under a PodDisruptionBudget, and how many of them may be evicted. */
export function disruptionBudgets() {
  const events = new LastEvents();
  // Upstream's events come from a component of this name.
  return control(PodDisruptionBudget, { name: 'controllermanager' })
    .reads(Deployment, ReplicaSet, ReplicationController, StatefulSet)
    .watches(Pod, async (pod, reader) => {
      const { items } = await reader.list(PodDisruptionBudget, { namespace: pod.metadata.namespace });
      return items.filter((budget) => covers(budget, pod)).map(({ metadata }) => metadata);
    })
    .evenWhenGone()
    .reconcile(async (context) => {
      const { object, key } = context;
      if (object === undefined) return events.forget(key);
      let isQuiet = true;
      const event = (next: ReconcileEvent) => {
        isQuiet = false;
        events.emit(context, next);
      };
      const known = { ...context, object, event };
      try {
        return await assess(known);
      } catch (error) {
        if (isConflict(error)) throw error;
        // No eviction is allowed while the expected number of Pods is unknown.
        const verdict = ['False', 'SyncFailed', errorText(error)] as const;
        await write(known, { ...object.status, disruptionsAllowed: 0 }, verdict);
        return undefined;
      } finally {
        if (isQuiet) events.forget(key);
      }
    });
}

function covers({ spec }: PodDisruptionBudget, { metadata }: Pod): boolean {
  return selectorFrom(spec.selector).matches(metadata.labels ?? {});
}

async function assess(context: ReconcileContext<PodDisruptionBudget>) {
  const { object: budget, client, clock, event } = context;
  const { items } = await client.list(Pod, { namespace: budget.metadata.namespace });
  const pods = items.filter((pod) => covers(budget, pod));
  if (pods.length === 0) event({ type: 'Normal', reason: 'NoPods', message: 'No matching pods found' });
  const { expectedPods, desiredHealthy } = await expectations(context, pods);
  const disrupted = disruptedPods(budget, pods, clock.now());
  const isGoing = (pod: Pod) => isDeleting(pod) || disrupted.has(pod.metadata.name);
  const currentHealthy = pods.filter((pod) => !isGoing(pod) && isReady(pod)).length;
  const disruptionsAllowed = expectedPods > 0 ? Math.max(0, currentHealthy - desiredHealthy) : 0;
  const status = {
    ...{ currentHealthy, desiredHealthy, expectedPods, disruptionsAllowed },
    disruptedPods: Object.fromEntries(disrupted),
    observedGeneration: budget.metadata.generation ?? 0,
  };
  await write(
    context,
    status,
    disruptionsAllowed > 0 ? ['True', 'SufficientPods', ''] : ['False', 'InsufficientPods', ''],
  );
  return lookAgainSoonest([...disrupted.values()].map((at) => Date.parse(at) + deletionTimeoutMs - clock.now()));
}

/** How many Pods there should be, and how many of them healthy. */
async function expectations(context: ReconcileContext<PodDisruptionBudget>, pods: readonly Pod[]) {
  const { object: budget, event } = context;
  const { minAvailable, maxUnavailable } = budget.spec;
  if (maxUnavailable === undefined && typeof minAvailable !== 'string') {
    return { expectedPods: pods.length, desiredHealthy: minAvailable ?? 0 };
  }
  const { expectedPods, unmanaged } = await expectedScale(context.client, pods).catch((error: unknown) => {
    const message = `Failed to calculate the number of expected pods: ${errorText(error)}`;
    event({ type: 'Warning', reason: 'CalculateExpectedPodCountFailed', message });
    throw error;
  });
  if (unmanaged.length > 0) {
    const message = `Pods selected by this PodDisruptionBudget (selector: ${selectorText(budget.spec.selector)}) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.`;
    event({ type: 'Warning', reason: 'UnmanagedPods', message });
  }
  const desiredHealthy =
    maxUnavailable === undefined
      ? countOf(minAvailable ?? 0, expectedPods, Math.ceil)
      : Math.max(0, expectedPods - countOf(maxUnavailable, expectedPods, Math.ceil));
  return { expectedPods, desiredHealthy };
}

/** Pods that were evicted and are not deleted yet, with the time of their eviction. */
function disruptedPods(
  { status }: PodDisruptionBudget,
  pods: readonly Pod[],
  now: number,
): ReadonlyMap<string, string> {
  const left = new Set(pods.filter((pod) => !isDeleting(pod)).map(({ metadata }) => metadata.name));
  const all = Object.entries(status.disruptedPods ?? {});
  return new Map(all.filter(([name, at]) => left.has(name) && Date.parse(at) + deletionTimeoutMs > now));
}

type Verdict = readonly [status: 'True' | 'False', reason: string, message: string];

/**
 * Replaces the status, as of the version that it was computed from: an eviction meanwhile is a conflict, and must not be
 * overwritten.
 */
async function write(
  { object: budget, client, clock }: ReconcileContext<PodDisruptionBudget>,
  fields: PodDisruptionBudgetStatus,
  [verdict, reason, message]: Verdict,
): Promise<void> {
  const { observedGeneration = 0, disruptedPods = {} } = fields;
  const condition = { type: 'DisruptionAllowed', status: verdict, reason, message, observedGeneration };
  const conditions = setCondition(budget.status.conditions, condition, clock.now());
  const status = { ...fields, conditions };
  if (says(budget.status, status) && equal(budget.status.disruptedPods ?? {}, disruptedPods)) return;
  await client.status.update({ ...budget, status });
}
