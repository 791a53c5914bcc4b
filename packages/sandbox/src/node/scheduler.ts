import { control, isConflict, isNotFound } from 'riata';
import { changed } from 'riata/controller';
import { Node, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass, type Toleration } from 'riata/kinds';
import { keyId, parseQuantity } from 'riata/object';
import { claimNamesOf } from '../storage/claims.js';
import { PodVolumes } from '../storage/pod-volumes.js';
import { hasEnded } from '../workloads/pods.js';
import { matchesNode } from './matches-node.js';
import { podResources } from './pod-resources.js';

/** The fields of a node that decide whether a Pod fits; heartbeats don't. */
const nodeChanged = changed(({ metadata, spec, status }: Node) => [metadata.labels, spec, status.allocatable]);

/**
 * Binds every Pod without a node to one that fits: schedulable, with the selected labels, without taints that the Pod
 * does not tolerate, and with room for its requests. Among those that fit, the one with the fewest Pods.
 */
export const scheduler = () => {
  /** The nodes of Pods that wait until their claims are bound, by key. */
  const chosen = new Map<string, string>();
  return control(Pod, { name: 'scheduler' })
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
    .evenWhenGone()
    .reconcile(async ({ object: pod, key, client, event, status }) => {
      const before = chosen.get(keyId(key));
      chosen.delete(keyId(key));
      if (pod === undefined || !isWaiting(pod)) return undefined;
      const [{ items: nodes }, { items: pods }] = await Promise.all([client.list(Node), client.list(Pod)]);
      const loads = loadsOf(pods);
      const volumes = await PodVolumes.of(pod, client);
      const problems = new Map<string, number>();
      const fitting = nodes.filter((node) => {
        if (volumes.problem !== undefined) return false;
        const problem = unfit(pod, node, loads.get(node.metadata.name)) ?? volumes.unfit(node);
        if (problem !== undefined) problems.set(problem, (problems.get(problem) ?? 0) + 1);
        return problem === undefined;
      });
      const rank = ({ metadata: { name } }: Node) => (name === before ? -1 : (loads.get(name)?.get('pods') ?? 0));
      const [best] = fitting.sort((a, b) => rank(a) - rank(b));
      const { namespace, name, uid } = pod.metadata;
      if (best === undefined) {
        const why = volumes.problem ?? [...problems].map(([problem, count]) => `${count} ${problem}`).join(', ');
        const message = `0/${nodes.length} nodes are available${why === '' ? '' : `: ${why}`}.`;
        event({ type: 'Warning', reason: 'FailedScheduling', message });
        await status({ conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }] });
        // A deleted Pod makes room, but does not trigger this Pod.
        return { requeueAfter: '5s' };
      }
      if (!(await volumes.bindOn(best, client))) {
        // Once they are bound, it is this Pod's turn again.
        chosen.set(keyId(key), best.metadata.name);
        return undefined;
      }
      const binding = {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name, namespace, uid },
        target: { apiVersion: 'v1', kind: 'Node', name: best.metadata.name },
      };
      try {
        await client.subresource('binding').create(Pod, pod.metadata, binding);
      } catch (error) {
        // Another scheduler was faster, or the Pod was deleted.
        if (!isConflict(error) && !isNotFound(error)) throw error;
        return undefined;
      }
      const message = `Successfully assigned ${namespace}/${name} to ${best.metadata.name}`;
      event({ type: 'Normal', reason: 'Scheduled', message });
      return undefined;
    });
};

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
function unfit(pod: Pod, node: Node, load: Load | undefined): string | undefined {
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
  const asked = requestsOf(pod);
  for (const resource of limited) {
    const room = node.status.allocatable?.[resource];
    if (room === undefined) continue;
    const all = (load?.get(resource) ?? 0) + (asked.get(resource) ?? 0);
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

const limited = ['cpu', 'memory', 'pods'];

/** Amounts of resources, by name. */
type Load = ReadonlyMap<string, number>;

/** The sum of the Pods' requests, by node. */
function loadsOf(pods: readonly Pod[]): ReadonlyMap<string, Load> {
  const loads = new Map<string, Map<string, number>>();
  for (const pod of pods) {
    const { nodeName = '' } = pod.spec;
    if (nodeName === '' || hasEnded(pod)) continue;
    const load = loads.get(nodeName) ?? new Map<string, number>();
    for (const [resource, amount] of requestsOf(pod)) load.set(resource, (load.get(resource) ?? 0) + amount);
    loads.set(nodeName, load);
  }
  return loads;
}

function requestsOf(pod: Pod): Load {
  const requests = podResources(pod, 'requests');
  const amount = (resource: string) => (resource === 'pods' ? 1 : (requests.get(resource)?.toNumber() ?? 0));
  return new Map(limited.map((resource) => [resource, amount(resource)]));
}
