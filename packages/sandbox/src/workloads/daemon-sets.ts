import { control, isDeleting, type ReconcileContext } from 'riata';
import { changed } from 'riata/controller';
import { ControllerRevision, DaemonSet, Node, Pod } from 'riata/kinds';
import { matchesNode } from '../node/matches-node.js';
import { tolerates } from '../node/scheduler.js';
import { adopters, claimObjects } from './adoption.js';
import { deleteRevisions, type History, recordRevision } from './controller-revision.js';
import { allowsSurge, daemonSteps } from './daemon-rollout.js';
import { templateHash } from './deployment/template-hash.js';
import { lookAgainSoonest } from './look-again.js';
import { createPod, deletePod } from './pod-control.js';
import { podFrom } from './pod-from.js';
import { controlledBy, hasEnded, isReady, untilAvailable } from './pods.js';

/** Names the revision that a Pod was made from. */
const hashLabel = 'controller-revision-hash';
const naming = {
  label: hashLabel,
  hash: ({ spec }: { readonly spec: object }, collisions: number) => templateHash(spec, collisions),
};
const selectorOf = ({ spec }: DaemonSet) => spec.selector;

/** Keeps one Pod of a DaemonSet on every node that it may run on. */
export const daemonSets = control(DaemonSet, { name: 'daemonset-controller' })
  .owns(Pod)
  .owns(ControllerRevision)
  .watches(Pod, adopters(DaemonSet, selectorOf))
  .watches(ControllerRevision, adopters(DaemonSet, selectorOf))
  .watches(Node, async (_, reader) => (await reader.list(DaemonSet)).items.map(({ metadata }) => metadata), {
    predicates: [changed(({ metadata, spec }: Node) => [metadata.labels, spec])],
  })
  .reconcile(async (context) => {
    const { object: set, client } = context;
    if (isDeleting(set)) return undefined;
    const history = await recordRevision(context, naming);
    const hash = history.latest?.metadata.labels?.[hashLabel] ?? '';
    const nodes = (await client.list(Node)).items;
    const pods = (await claimObjects(context, Pod, set.spec.selector)).filter(
      (pod) => !(hasEnded(pod) && isDeleting(pod)),
    );
    try {
      // The rollout waits until all nodes have their Pods.
      const isPlaced = await place(context, nodes, pods, hash);
      if (isPlaced) await roll(context, nodes, pods, hash);
      await forget(context, history);
    } finally {
      await report(context, nodes, hash, history.collisionCount);
    }
    return lookAgainSoonest(pods.map((pod) => untilAvailable(pod, set.spec.minReadySeconds ?? 0, context.clock)));
  });

/** Daemons stay where others are driven out. */
const usualTolerations = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists' as const, effect: 'NoExecute' as const },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists' as const, effect: 'NoExecute' as const },
  ...['disk-pressure', 'memory-pressure', 'pid-pressure', 'unschedulable'].map((name) => ({
    ...{ key: `node.kubernetes.io/${name}`, operator: 'Exists' as const, effect: 'NoSchedule' as const },
  })),
];

/** A Pod for one node: the scheduler puts it there when there is room. */
function podOf(set: DaemonSet, node: string, hash: string) {
  const { tolerations = [], affinity } = set.spec.template.spec ?? {};
  const term = { matchFields: [{ key: 'metadata.name', operator: 'In' as const, values: [node] }] };
  const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } };
  const spec = {
    affinity: { ...affinity, nodeAffinity: { ...affinity?.nodeAffinity, ...required } },
    tolerations: [...tolerations, ...usualTolerations],
  };
  const called = { generateName: `${set.metadata.name}-` };
  return podFrom(set, set.spec.template, called, { labels: { [hashLabel]: hash }, spec });
}

/** The node that a Pod is on, or is meant for. */
function nodeOf({ spec }: Pod): string {
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return spec.nodeName || (required?.nodeSelectorTerms[0]?.matchFields?.[0]?.values?.[0] ?? '');
}

/** Whether a Pod should be placed on a node, and whether one that is there may stay. */
function fitOf(set: DaemonSet, node: Node): { readonly starts: boolean; readonly stays: boolean } {
  const { metadata, spec } = node;
  const { nodeName = '', nodeSelector = {}, tolerations = [], affinity } = set.spec.template.spec ?? {};
  const isNamed = nodeName === '' || nodeName === metadata.name;
  const isSelected = Object.entries(nodeSelector).every(([name, value]) => metadata.labels?.[name] === value);
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (!isNamed || !isSelected || !matchesNode(required, node)) return { starts: false, stays: false };
  const all = [...tolerations, ...usualTolerations];
  const untolerated = (spec.taints ?? []).filter(
    ({ key, value = '', effect }) => !tolerates(all, { key, value, effect }),
  );
  return {
    starts: untolerated.every(({ effect }) => effect === 'PreferNoSchedule'),
    stays: untolerated.every(({ effect }) => effect !== 'NoExecute'),
  };
}

const podsOn = (pods: readonly Pod[]) => (node: Node) =>
  pods.filter((pod) => nodeOf(pod) === node.metadata.name).sort(oldestFirst);

/** Pods that the scheduler has not placed yet come last. */
function oldestFirst({ metadata: a, spec: x }: Pod, { metadata: b, spec: y }: Pod): number {
  const waits = Number(!x.nodeName) - Number(!y.nodeName);
  return waits || a.creationTimestamp.localeCompare(b.creationTimestamp) || a.name.localeCompare(b.name);
}

/** Puts Pods where there should be some, and takes them away where not. False if there was something to do. */
async function place(
  context: ReconcileContext<DaemonSet>,
  nodes: readonly Node[],
  pods: readonly Pod[],
  hash: string,
): Promise<boolean> {
  const { object: set, event } = context;
  const known = new Set(nodes.map(({ metadata }) => metadata.name));
  const remove = pods.filter((pod) => !isDeleting(pod) && !known.has(nodeOf(pod)));
  const add: string[] = [];
  for (const node of nodes) {
    const { starts, stays } = fitOf(set, node);
    const here = podsOn(pods)(node);
    const left = here.filter((pod) => !isDeleting(pod));
    if (!stays) remove.push(...left);
    else {
      for (const { metadata, status } of left.filter(hasEnded)) {
        const pod = `${metadata.namespace}/${metadata.name} on node ${node.metadata.name}`;
        if (status.phase === 'Failed') {
          const message = `Found failed daemon pod ${pod}, will try to kill it`;
          event({ type: 'Warning', reason: 'FailedDaemonPod', message });
        } else {
          const message = `Found succeeded daemon pod ${pod}, will try to delete it`;
          event({ type: 'Normal', reason: 'SucceededDaemonPod', message });
        }
      }
      const running = left.filter((pod) => !hasEnded(pod));
      remove.push(...left.filter(hasEnded), ...superfluous(set, running, hash));
      // A second Pod may come beside one that is on its way out only where there may be two at all.
      const isEmpty = allowsSurge(set) ? running.length === 0 : here.length === 0;
      if (starts && isEmpty) add.push(node.metadata.name);
    }
  }
  for (const node of add) await createPod(context, podOf(set, node, hash));
  for (const pod of remove) await deletePod(context, pod);
  return add.length + remove.length === 0;
}

/** All Pods of a node but the oldest; with a surge, all but the oldest of the new and of the old template. */
function superfluous(set: DaemonSet, running: readonly Pod[], hash: string): readonly Pod[] {
  if (!allowsSurge(set)) return running.slice(1);
  const isNew = ({ metadata }: Pod) => metadata.labels?.[hashLabel] === hash;
  const [now, ...moreNew] = running.filter(isNew);
  const [old, ...moreOld] = running.filter((pod) => !isNew(pod));
  const isBroken = now !== undefined && old !== undefined && !isReady(old);
  return [...moreNew, ...moreOld, ...(isBroken ? [old] : [])];
}

async function roll(
  context: ReconcileContext<DaemonSet>,
  nodes: readonly Node[],
  pods: readonly Pod[],
  hash: string,
): Promise<void> {
  const { object: set, clock } = context;
  if (set.spec.updateStrategy?.type === 'OnDelete') return;
  const desired = nodes.filter((node) => fitOf(set, node).starts);
  const isNew = ({ metadata }: Pod) => metadata.labels?.[hashLabel] === hash;
  const { remove, surge } = daemonSteps(set, desired, podsOn(pods), isNew, clock);
  for (const node of surge) await createPod(context, podOf(set, node, hash));
  for (const pod of remove) await deletePod(context, pod);
}

/** Revisions that no Pod has any more are kept up to a number, to go back to. */
async function forget(context: ReconcileContext<DaemonSet>, { revisions, latest }: History): Promise<void> {
  const { object: set, client } = context;
  const { items } = await client.list(Pod, { namespace: set.metadata.namespace });
  const live = new Set(controlledBy(items, set).map(({ metadata }) => metadata.labels?.[hashLabel]));
  const old = revisions.filter((revision) => revision !== latest);
  const many = Math.max(0, old.length - (set.spec.revisionHistoryLimit ?? 10));
  const unused = old.filter(({ metadata }) => !live.has(metadata.labels?.[hashLabel]));
  await deleteRevisions(context, unused.slice(0, many));
}

async function report(
  { object: set, client, clock, status }: ReconcileContext<DaemonSet>,
  nodes: readonly Node[],
  hash: string,
  collisionCount: number,
): Promise<void> {
  const { items } = await client.list(Pod, { namespace: set.metadata.namespace });
  const pods = controlledBy(items, set);
  const desired = nodes.filter((node) => fitOf(set, node).starts);
  // Of several Pods on a node, the oldest counts.
  const placed = desired.flatMap((node) => podsOn(pods)(node)[0] ?? []);
  const available = placed.filter((pod) => untilAvailable(pod, set.spec.minReadySeconds ?? 0, clock) === 0).length;
  await status({
    currentNumberScheduled: placed.length,
    desiredNumberScheduled: desired.length,
    numberMisscheduled: nodes.filter((node) => !desired.includes(node) && podsOn(pods)(node).length > 0).length,
    numberReady: placed.filter(isReady).length,
    numberAvailable: available,
    numberUnavailable: desired.length - available,
    updatedNumberScheduled: placed.filter(({ metadata }) => metadata.labels?.[hashLabel] === hash).length,
    observedGeneration: set.metadata.generation ?? 0,
    ...(collisionCount > 0 && { collisionCount }),
  });
}
