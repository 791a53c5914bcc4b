import { control, ignoreNotFound, type ReconcileContext } from 'riata';
import { DaemonSet, Node, Pod } from 'riata/kinds';
import { lookAgainSoonest } from './look-again.js';
import { podFrom } from './make-pod.js';
import { controlledBy, isActive, isReady, untilAvailable } from './pods.js';
import { templateHash } from './template-hash.js';

const hashLabel = 'controller-revision-hash';

/** Keeps one Pod of a DaemonSet on every node that it may run on. */
export const daemonSets = control(DaemonSet)
  .owns(Pod)
  .watches(Node, async (_, reader) => (await reader.list(DaemonSet)).items.map(({ metadata }) => metadata))
  .reconcile(async (context) => {
    const { object: set, client } = context;
    const nodes = (await client.list(Node)).items.filter((node) => runsOn(set, node));
    if (set.metadata.deletionTimestamp === undefined) await place(context, nodes);
    return tell(context, nodes);
  });

function runsOn(set: DaemonSet, { metadata }: Node): boolean {
  const wanted = Object.entries(set.spec.template.spec?.nodeSelector ?? {});
  return wanted.every(([name, value]) => metadata.labels?.[name] === value);
}

async function podsOf({ object: set, client }: ReconcileContext<DaemonSet>): Promise<Pod[]> {
  const { items } = await client.list(Pod, { namespace: set.metadata.namespace });
  return controlledBy(items, set);
}

async function place(context: ReconcileContext<DaemonSet>, nodes: readonly Node[]): Promise<void> {
  const { object: set, client, event } = context;
  const hash = templateHash(set.spec.template);
  const pods = await podsOf(context);
  const names = new Set(nodes.map(({ metadata }) => metadata.name));
  const old = pods.filter((pod) => isActive(pod) && pod.metadata.labels?.[hashLabel] !== hash);
  // As many old ones at a time as may be missing.
  const { type = 'RollingUpdate', rollingUpdate } = set.spec.updateStrategy ?? {};
  const allowed = Number(rollingUpdate?.maxUnavailable ?? 1) || 1;
  const missing = nodes.length - pods.filter((pod) => isActive(pod) && isReady(pod)).length;
  const spared = old.filter((pod) => !isReady(pod));
  const next = old.filter(isReady).slice(0, Math.max(0, allowed - missing));
  const replaced = type === 'OnDelete' ? [] : [...spared, ...next];
  const gone = pods.filter((pod) => isActive(pod) && !names.has(pod.spec.nodeName ?? ''));
  const failed = pods.filter((pod) => !isActive(pod) && pod.metadata.deletionTimestamp === undefined);
  for (const { metadata } of new Set([...replaced, ...gone, ...failed])) {
    await client.delete(Pod, metadata).catch(ignoreNotFound);
    event({ type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted pod: ${metadata.name}` });
  }
  const taken = new Set((await podsOf(context)).map((pod) => pod.spec.nodeName));
  for (const { metadata } of nodes) {
    if (taken.has(metadata.name)) continue;
    const tolerations = [...(set.spec.template.spec?.tolerations ?? []), ...usual];
    const pod = await client.create(
      podFrom(
        set,
        set.spec.template,
        { generateName: `${set.metadata.name}-` },
        { labels: { [hashLabel]: hash }, spec: { nodeName: metadata.name, tolerations } },
      ),
    );
    event({ type: 'Normal', reason: 'SuccessfulCreate', message: `Created pod: ${pod.metadata.name}` });
  }
}

/** Daemons stay where others are driven out. */
const usual = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
];

async function tell(context: ReconcileContext<DaemonSet>, nodes: readonly Node[]) {
  const { object: set, status } = context;
  const hash = templateHash(set.spec.template);
  const pods = (await podsOf(context)).filter(isActive);
  const waits = pods.map((pod) => untilAvailable(pod, set.spec.minReadySeconds ?? 0, context.clock));
  const available = waits.filter((wait) => wait === 0).length;
  await status({
    currentNumberScheduled: pods.length,
    desiredNumberScheduled: nodes.length,
    numberMisscheduled: 0,
    numberReady: pods.filter(isReady).length,
    numberAvailable: available,
    numberUnavailable: nodes.length - available,
    updatedNumberScheduled: pods.filter((pod) => pod.metadata.labels?.[hashLabel] === hash).length,
    observedGeneration: set.metadata.generation ?? 0,
  });
  return lookAgainSoonest(waits);
}
