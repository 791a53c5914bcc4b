import type { Client } from 'riata';
import { Node } from 'riata/kinds';

/** Makes Node objects that are ready to take Pods; nodes that are there already stay. */
export async function makeNodes(client: Client, count: number): Promise<void> {
  for (let index = 1; index <= count; index += 1) {
    const name = `sandbox-${index}`;
    const labels = { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' };
    if ((await client.find(Node, { name })) === undefined) await client.create(Node({ metadata: { name, labels } }));
    const room = { cpu: '8', memory: '16Gi', pods: '110' };
    const status = {
      capacity: room,
      allocatable: room,
      conditions: [
        { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'the sandbox pretends that it is ready' },
      ],
      addresses: [
        { type: 'InternalIP', address: `10.0.0.${index}` },
        { type: 'Hostname', address: name },
      ],
      nodeInfo: {
        kubeletVersion: 'v1.36.3',
        operatingSystem: 'linux',
        architecture: 'amd64',
        osImage: 'Riata sandbox',
        kernelVersion: 'none',
        containerRuntimeVersion: 'none://0',
        kubeProxyVersion: '',
        machineID: name,
        systemUUID: name,
        bootID: name,
      },
    };
    const node = await client.status.patch(Node, { name }, { type: 'strategic', body: { status } });
    // New nodes are kept free until they are ready, and nobody else would say that they are.
    const taints = (node.spec.taints ?? []).filter(({ key }) => key !== 'node.kubernetes.io/not-ready');
    await client.patch(Node, { name }, { type: 'merge', body: { spec: { taints } } });
  }
}
