import { TestEnvironment } from '@riata/testing';
import { Lease, Node, Pod } from 'riata/kinds';
import { expect, test } from 'vitest';
import { nodeControllers } from '../controllers.js';
import { makeNodes } from './nodes.js';

const leaseOf = (name: string) => ({ namespace: 'kube-node-lease', name });
const ready = ({ status }: Node) => status.conditions?.find(({ type }) => type === 'Ready');
const taints = ({ spec }: Node) => (spec.taints ?? []).map(({ key, effect }) => `${key}:${effect}`);

test('a Node that the user creates becomes ready, and Pods run on it', async () => {
  await using env = await TestEnvironment.start();
  await env.run(...nodeControllers());
  const status = { capacity: { cpu: '2', memory: '4Gi', pods: '10' } };
  await env.client.create(Node({ metadata: { name: 'mine', labels: { disk: 'fast' } }, status }));
  const key = { namespace: 'default', name: 'web' };
  const spec = { nodeSelector: { disk: 'fast' }, containers: [{ name: 'web', image: 'web:1' }] };
  await env.client.create(Pod({ metadata: key, spec }));
  await env.settle();
  const node = await env.client.get(Node, { name: 'mine' });
  expect(node.status.conditions?.map(({ type, status: is, reason }) => `${type} ${is} ${reason}`)).toEqual([
    'MemoryPressure False KubeletHasSufficientMemory',
    'DiskPressure False KubeletHasNoDiskPressure',
    'PIDPressure False KubeletHasSufficientPID',
    'Ready True KubeletReady',
  ]);
  expect(node.status).toMatchObject({ capacity: status.capacity, allocatable: status.capacity });
  expect(taints(node)).toEqual([]);
  const pod = await env.client.get(Pod, key);
  expect(pod.spec.nodeName).toBe('mine');
  expect(pod.status).toMatchObject({ phase: 'Running', hostIP: node.status.addresses?.[0]?.address });
  await env.expectConverged();
});

test('a kubelet renews its Lease every ten seconds, and reports its status every five minutes', async () => {
  await using env = await TestEnvironment.start();
  await makeNodes(env.client, 2);
  await env.run(...nodeControllers());
  await env.settle({ horizon: 'never' });
  const first = await env.client.get(Lease, leaseOf('sandbox-1'));
  expect(first.spec).toMatchObject({ holderIdentity: 'sandbox-1', leaseDurationSeconds: 40 });
  expect(first.metadata.ownerReferences).toMatchObject([{ kind: 'Node', name: 'sandbox-1' }]);
  const before = ready(await env.client.get(Node, { name: 'sandbox-1' }));
  await env.advance('4m');
  const renewed = await env.client.get(Lease, leaseOf('sandbox-1'));
  expect(env.clock.now() - Date.parse(renewed.spec?.renewTime ?? '')).toBeLessThanOrEqual(10_000);
  expect(ready(await env.client.get(Node, { name: 'sandbox-1' }))).toEqual(before);
  await env.advance('2m');
  const after = ready(await env.client.get(Node, { name: 'sandbox-1' }));
  expect(after?.lastTransitionTime).toBe(before?.lastTransitionTime);
  expect(Date.parse(after?.lastHeartbeatTime ?? '')).toBeGreaterThan(Date.parse(before?.lastHeartbeatTime ?? ''));
  // Six minutes of two nodes: 36 renewals and one report each, and nothing else.
  const writes = env.requests.all.filter(({ verb }) => verb === 'patch');
  expect(writes.length).toBeLessThanOrEqual(2 * (36 + 2));
  await env.client.delete(Lease, leaseOf('sandbox-2'));
  await env.advance('10s');
  await env.client.get(Lease, leaseOf('sandbox-2'));
  await env.settle({ horizon: 'never' });
});

test('conditions that others set stay, and taint the node as they should', async () => {
  await using env = await TestEnvironment.start();
  await makeNodes(env.client, 1);
  await env.run(...nodeControllers());
  await env.settle();
  const name = 'sandbox-1';
  const set = (type: string, status: string) =>
    env.client.status.patch(
      Node,
      { name },
      { type: 'strategic', body: { status: { conditions: [{ type, status, reason: 'Test', message: '' }] } } },
    );
  await set('Ready', 'False');
  await set('MemoryPressure', 'True');
  await env.client.patch(Node, { name }, { type: 'merge', body: { spec: { unschedulable: true } } });
  await env.advance('6m');
  const node = await env.client.get(Node, { name });
  expect(ready(node)).toMatchObject({ status: 'False', reason: 'Test' });
  expect(taints(node).sort()).toEqual([
    'node.kubernetes.io/memory-pressure:NoSchedule',
    'node.kubernetes.io/not-ready:NoExecute',
    'node.kubernetes.io/not-ready:NoSchedule',
    'node.kubernetes.io/unschedulable:NoSchedule',
  ]);
  await set('Ready', 'True');
  await set('MemoryPressure', 'False');
  await env.client.patch(Node, { name }, { type: 'merge', body: { spec: { unschedulable: false } } });
  await env.settle();
  expect(taints(await env.client.get(Node, { name }))).toEqual([]);
});

test('nodes that a kubelet leaves alone get nothing', async () => {
  await using env = await TestEnvironment.start();
  await env.run(...nodeControllers({ nodes: (name) => name !== 'other' }));
  await env.client.create(Node({ metadata: { name: 'other' } }));
  await env.advance('1m');
  const node = await env.client.get(Node, { name: 'other' });
  expect(ready(node)).toBeUndefined();
  expect(await env.client.find(Lease, leaseOf('other'))).toBeUndefined();
});

test('a condition that others set while the kubelet reports is not written over', async () => {
  await using env = await TestEnvironment.start();
  await env.run(...nodeControllers());
  const name = 'mine';
  // The first report of the kubelet is late: what it knows is old by then.
  env.faults.add({ verb: 'patch', kind: Node }, { delayMs: 5_000 }, { times: 1 });
  await env.client.create(Node({ metadata: { name } }));
  await env.advance('1s');
  const conditions = [{ type: 'DiskPressure', status: 'True', reason: 'Test', message: '' }];
  await env.client.status.patch(Node, { name }, { type: 'strategic', body: { status: { conditions } } });
  await env.advance('20s');
  await env.settle();
  const node = await env.client.get(Node, { name });
  expect(node.status.conditions?.find(({ type }) => type === 'DiskPressure')).toMatchObject({ status: 'True' });
  expect(ready(node)).toMatchObject({ status: 'True' });
  expect(taints(node)).toEqual(['node.kubernetes.io/disk-pressure:NoSchedule']);
});
