import { control, isConflict, isNotFound } from 'riata';
import { changed } from 'riata/controller';
import { Node, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass, type Toleration } from 'riata/kinds';
import { parseQuantity } from 'riata/object';
import { claimNamesOf } from '../storage/claims.js';
import { PodVolumes } from '../storage/pod-volumes.js';
import { hasEnded } from '../workloads/pods.js';
import { matchesNode } from './node-affinity.js';
import { podResources } from './pod-resources.js';

/** What of a node decides whether a Pod fits; heartbeats don't. */
const nodeChanged = changed(({ metadata, spec, status }: Node) => [metadata.labels, spec, status.allocatable]);

/**
 * Gives every Pod that has no node one that fits: schedulable, with the labels it selects, without taints that it does
 * not tolerate, and with room for what it asks for. Of those that fit, the one with the fewest Pods.
 */
export const scheduler = control(Pod, { name: 'scheduler' })
  .reads(Node, PersistentVolume, StorageClass)
  .watches(
    Node,
    async (_, reader) => {
      const { items } = await reader.list(Pod);
      return items.filter(isWaiting).map(({ metadata }) => metadata);
    },
    { predicates: [nodeChanged] },
  )
  .watches(PersistentVolumeClaim, async ({ metadata: { namespace, name } }, reader) => {
    const { items } = await reader.list(Pod, { namespace });
    return items.filter((pod) => isWaiting(pod) && claimNamesOf(pod).includes(name)).map(({ metadata }) => metadata);
  })
  .reconcile(async ({ object: pod, client, event, status }) => {
    if (!isWaiting(pod)) return undefined;
    const [{ items: nodes }, { items: pods }] = await Promise.all([client.list(Node), client.list(Pod)]);
    const onNode = (node: Node) => pods.filter((p) => p.spec.nodeName === node.metadata.name && !hasEnded(p));
    const volumes = await PodVolumes.of(pod, client);
    const problems = new Map<string, number>();
    const fitting = nodes.filter((node) => {
      if (volumes.problem !== undefined) return false;
      const problem = unfit(pod, node, onNode(node)) ?? volumes.unfit(node);
      if (problem !== undefined) problems.set(problem, (problems.get(problem) ?? 0) + 1);
      return problem === undefined;
    });
    const rank = (node: Node) => (node.metadata.name === volumes.chosen ? -1 : onNode(node).length);
    const [best] = fitting.sort((a, b) => rank(a) - rank(b));
    const { namespace, name, uid } = pod.metadata;
    if (best === undefined) {
      const why = volumes.problem ?? [...problems].map(([problem, count]) => `${count} ${problem}`).join(', ');
      const message = `0/${nodes.length} nodes are available${why === '' ? '' : `: ${why}`}.`;
      event({ type: 'Warning', reason: 'FailedScheduling', message });
      await status({ conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }] });
      // Pods that go make room, and tell nobody here.
      return { requeueAfter: '5s' };
    }
    // Once they are bound, it is this Pod's turn again.
    if (!(await volumes.bindOn(best, client))) return undefined;
    const binding = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name, namespace, uid },
      target: { apiVersion: 'v1', kind: 'Node', name: best.metadata.name },
    };
    try {
      await client.subresource('binding').create(Pod, pod.metadata, binding);
    } catch (error) {
      // Somebody else was faster, or it is gone.
      if (!isConflict(error) && !isNotFound(error)) throw error;
      return undefined;
    }
    const message = `Successfully assigned ${namespace}/${name} to ${best.metadata.name}`;
    event({ type: 'Normal', reason: 'Scheduled', message });
    return undefined;
  });

function isWaiting(pod: Pod): boolean {
  const { schedulerName = 'default-scheduler', nodeName = '' } = pod.spec;
  return (
    nodeName === '' &&
    schedulerName === 'default-scheduler' &&
    pod.metadata.deletionTimestamp === undefined &&
    !hasEnded(pod) &&
    (pod.spec.schedulingGates ?? []).length === 0
  );
}

/** Why a Pod cannot run on a node; undefined if it can. */
function unfit(pod: Pod, node: Node, others: readonly Pod[]): string | undefined {
  const labels = node.metadata.labels ?? {};
  if (node.spec.unschedulable === true && !tolerates(pod.spec.tolerations ?? [], cordoned))
    return 'node(s) were unschedulable';
  const required = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const isSelected = Object.entries(pod.spec.nodeSelector ?? {}).every(([name, value]) => labels[name] === value);
  if (!isSelected || !matchesNode(required, node)) {
    return "node(s) didn't match Pod's node affinity/selector";
  }
  const taint = (node.spec.taints ?? []).find(
    ({ effect, key, value = '' }) =>
      effect !== 'PreferNoSchedule' && !tolerates(pod.spec.tolerations ?? [], { key, value, effect }),
  );
  if (taint !== undefined) return `node(s) had untolerated taint(s)`;
  for (const resource of ['cpu', 'memory', 'pods']) {
    const room = node.status.allocatable?.[resource];
    if (room === undefined) continue;
    const all = [...others, pod].map((p) => requested(p, resource)).reduce((a, b) => a + b, 0);
    if (all > parseQuantity(room).toNumber()) return resource === 'pods' ? 'Too many pods' : `Insufficient ${resource}`;
  }
  return undefined;
}

interface Taint {
  readonly key: string;
  readonly value: string;
  readonly effect: string;
}

const cordoned: Taint = { key: 'node.kubernetes.io/unschedulable', value: '', effect: 'NoSchedule' };

/** Whether one of some tolerations is for a taint. */
export function tolerates(tolerations: readonly Toleration[], taint: Taint): boolean {
  return tolerations.some(({ key = '', operator = 'Equal', value = '', effect = '' }) => {
    if (effect !== '' && effect !== taint.effect) return false;
    if (key === '') return operator === 'Exists';
    return key === taint.key && (operator === 'Exists' || value === taint.value);
  });
}

/** What a Pod requests of a resource. */
function requested(pod: Pod, resource: string): number {
  return resource === 'pods' ? 1 : (podResources(pod, 'requests').get(resource)?.toNumber() ?? 0);
}
