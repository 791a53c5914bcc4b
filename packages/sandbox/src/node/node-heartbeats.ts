import { control, isAlreadyExists, isNotFound, type ReconcileContext } from 'riata';
import { intervalSource } from 'riata/controller';
import { Lease, Node } from 'riata/kinds';
import { formatMicroTime } from 'riata/object';
import { says } from '../workloads/says.js';
import { nodeStatus } from './node-status.js';
import { nodeAddress } from './nodes.js';
import { withConditionTaints } from './with-condition-taints.js';

/** How often a kubelet renews its Lease, and how often it reports a status in which nothing has changed. */
const renewMs = 10_000;
const reportMs = 300_000;
/** Leases that are renewed in one go at most; with more nodes than that, each is renewed less often. */
const most = 250;
const namespace = 'kube-node-lease';

/** Which nodes have a pretend kubelet. */
export interface NodeHeartbeatsOptions {
  /** @default all */
  readonly nodes?: (name: string) => boolean;
}

/**
 * Does the work of a kubelet and the node lifecycle controller for a Node, whichever client created it: conditions,
 * capacity and addresses, taints that follow from the conditions, and heartbeats.
 *
 * Heartbeats come from one timer, not from delayed keys: a test that waits until controllers are idle doesn't wait for
 * them. They cost one small write per node: no controller here watches Leases.
 */
export const nodeHeartbeats = ({ nodes = () => true }: NodeHeartbeatsOptions = {}) => {
  const leases = new NodeLeases();
  return control(Node, { name: 'node' })
    .source(({ reader }) => {
      let next = 0;
      const due = async ({ signal }: { readonly signal: AbortSignal }) => {
        const { items } = await reader.list(Node, { signal });
        const own = items.filter(({ metadata }) => nodes(metadata.name));
        leases.setPeriod(renewMs * Math.ceil(own.length / most));
        const from = next < own.length ? next : 0;
        next = from + most;
        return own.slice(from, next).map(({ metadata: { name } }) => ({ name }));
      };
      return intervalSource(`${renewMs}ms`, due, { jitter: 0, name: 'heartbeat' });
    })
    .evenWhenGone()
    .reconcile(async (context) => {
      const { object: node, key } = context;
      if (node === undefined || node.metadata.deletionTimestamp !== undefined) leases.forget(key.name);
      else if (nodes(key.name)) {
        await report({ ...context, object: node });
        await leases.renew({ ...context, object: node });
      }
    });
};

async function report({ object: node, client, clock }: ReconcileContext<Node>): Promise<void> {
  const { name } = node.metadata;
  const nowMs = clock.now();
  const ready = node.status.conditions?.find(({ type }) => type === 'Ready');
  const reported = Date.parse(ready?.lastHeartbeatTime ?? '');
  const isDue = !(nowMs - reported < reportMs);
  const address = node.status.addresses?.length ? '' : await freeAddress(client);
  const status = nodeStatus(node, { nowMs: isDue ? nowMs : undefined, address });
  // Conditions that others have set since must not be written over.
  const body = { metadata: { resourceVersion: node.metadata.resourceVersion }, status };
  const current = says(node.status, status)
    ? node
    : await client.status.patch(Node, { name }, { type: 'strategic', body });
  const taints = withConditionTaints(current);
  if (taints === current.spec.taints) return;
  const { resourceVersion } = current.metadata;
  // Others may add taints at the same time, and a list is replaced as a whole.
  await client.patch(Node, { name }, { type: 'merge', body: { metadata: { resourceVersion }, spec: { taints } } });
}

async function freeAddress(client: ReconcileContext<Node>['client']): Promise<string> {
  const { items } = await client.list(Node);
  const taken = new Set(items.flatMap(({ status }) => status.addresses ?? []).map(({ address }) => address));
  let index = 1;
  while (taken.has(nodeAddress(index))) index += 1;
  return nodeAddress(index);
}

/** The Leases of nodes, and when each was renewed. */
class NodeLeases {
  readonly #renewedAt = new Map<string, number>();
  #periodMs = renewMs;

  setPeriod(ms: number): void {
    this.#periodMs = Math.max(renewMs, ms);
  }

  forget(name: string): void {
    this.#renewedAt.delete(name);
  }

  async renew({ object: node, client, clock }: ReconcileContext<Node>): Promise<void> {
    const { name, uid } = node.metadata;
    const now = clock.now();
    const last = this.#renewedAt.get(name);
    // Timers are a little early or late.
    if (last !== undefined && now - last < this.#periodMs - renewMs / 2) return;
    const spec = {
      holderIdentity: name,
      leaseDurationSeconds: (4 * this.#periodMs) / 1000,
      renewTime: formatMicroTime(now),
    };
    const create = () => {
      const owner = { apiVersion: 'v1', kind: 'Node', name, uid };
      return client.create(Lease({ metadata: { namespace, name, ownerReferences: [owner] }, spec }));
    };
    const patch = () => client.patch(Lease, { namespace, name }, { type: 'merge', body: { spec } });
    await (last === undefined ? create() : patch()).catch((error: unknown) => {
      if (isAlreadyExists(error)) return patch();
      if (isNotFound(error)) return create();
      throw error;
    });
    this.#renewedAt.set(name, now);
  }
}
