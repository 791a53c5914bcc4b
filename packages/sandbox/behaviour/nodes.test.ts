import { Lease, Node, Pod } from 'riata/kinds';
import { expect, test } from 'vitest';
import { describeClusters, eventually } from './cluster.js';

const taints = ({ spec }: Node) => (spec.taints ?? []).map(({ key, effect }) => `${key}:${effect}`).sort();

describeClusters(
  (cluster) => {
    test('a Node that the user creates becomes ready and runs Pods; its Lease is renewed and goes with it', async () => {
      const { client, newNamespace } = cluster();
      const namespace = await newNamespace();
      const name = `mine-${namespace}`;
      await client.create(Node({ metadata: { name, labels: { owner: name } } }));
      const key = { namespace, name: 'web' };
      const spec = { nodeSelector: { owner: name }, containers: [{ name: 'web', image: 'web:1' }] };
      await client.create(Pod({ metadata: key, spec }));
      await eventually(async () => {
        const node = await client.get(Node, { name });
        expect(taints(node)).toEqual([]);
        expect(node.status.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('True');
        const pod = await client.get(Pod, key);
        expect(pod.status.phase).toBe('Running');
        expect(pod.spec.nodeName).toBe(name);
      });
      const lease = { namespace: 'kube-node-lease', name };
      const renewed = async () => (await client.get(Lease, lease)).spec?.renewTime;
      const first = await renewed();
      await eventually(async () => expect(await renewed()).not.toBe(first));
      await client.delete(Pod, key, { gracePeriodSeconds: 0 });
      await client.delete(Node, { name });
      await eventually(async () => expect(await client.find(Lease, lease)).toBeUndefined());
    });

    test('a node is tainted by its conditions, and by being cordoned', async () => {
      const { client, newNamespace } = cluster();
      const name = `sick-${await newNamespace()}`;
      await client.create(Node({ metadata: { name } }));
      await eventually(async () => expect(taints(await client.get(Node, { name }))).toEqual([]));
      const body = { status: { conditions: [{ type: 'DiskPressure', status: 'True', reason: 'Test', message: '' }] } };
      await client.status.patch(Node, { name }, { type: 'strategic', body });
      await client.patch(Node, { name }, { type: 'merge', body: { spec: { unschedulable: true } } });
      await eventually(async () =>
        expect(taints(await client.get(Node, { name }))).toEqual([
          'node.kubernetes.io/disk-pressure:NoSchedule',
          'node.kubernetes.io/unschedulable:NoSchedule',
        ]),
      );
      await client.patch(Node, { name }, { type: 'merge', body: { spec: { unschedulable: false } } });
      await eventually(async () =>
        expect(taints(await client.get(Node, { name }))).toEqual(['node.kubernetes.io/disk-pressure:NoSchedule']),
      );
      await client.delete(Node, { name });
    });
  },
  { controllers: ['nodelifecycle'] },
);
