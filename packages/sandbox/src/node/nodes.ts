import { type Client, isAlreadyExists } from 'riata';
import { Node } from 'riata/kinds';
import { type Clock, optionNames, refuseUnknownOptions } from 'riata/runtime';
import { nodeStatus } from './node-status.js';
import { withConditionTaints } from './with-condition-taints.js';

/** Options of {@link makeNodes}. */
export interface MakeNodesOptions {
  /** Where the times of conditions come from. @default the pretend kubelet fills them in */
  readonly clock?: Clock;
}

export const makeNodesOptionNames = optionNames<MakeNodesOptions>({ clock: true });

/** Creates Node objects that are ready to take Pods, `sandbox-1` and so on; makes existing ones ready. */
export async function makeNodes(client: Client, count: number, options: MakeNodesOptions = {}): Promise<void> {
  refuseUnknownOptions('makeNodes', options, makeNodesOptionNames);
  const nowMs = options.clock?.now();
  for (let index = 1; index <= count; index += 1) {
    const name = `sandbox-${index}`;
    const labels = { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' };
    const status = nodeStatus({ metadata: { name } }, { nowMs, address: nodeAddress(index) });
    const node = await client.create(Node({ metadata: { name, labels }, status })).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
      return client.status.patch(Node, { name }, { type: 'strategic', body: { status } });
    });
    // The server taints every new node as not ready.
    const taints = withConditionTaints(node);
    if (taints !== node.spec.taints) await client.patch(Node, { name }, { type: 'merge', body: { spec: { taints } } });
  }
}

/** The internal address of a node by its number, from 1 to 65,000. */
export function nodeAddress(index: number): string {
  return `172.18.${Math.floor(index / 250)}.${(index % 250) + 1}`;
}
