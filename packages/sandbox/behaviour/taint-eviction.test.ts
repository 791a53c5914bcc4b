import { Event, Node, Pod, type Toleration } from 'riata/kinds';
import { expect, test } from 'vitest';
import { describeClusters, eventually } from './cluster.js';

const key = 'example.com/broken';

describeClusters(
  (cluster) => {
    test('Pods leave a node with a NoExecute taint unless they tolerate it', async () => {
      const { client, newNamespace } = cluster();
      const namespace = await newNamespace();
      const nodeName = `broken-${namespace}`;
      await client.create(Node({ metadata: { name: nodeName } }));
      await eventually(async () => expect((await client.get(Node, { name: nodeName })).spec.taints ?? []).toEqual([]));
      const create = (name: string, tolerations: readonly Toleration[] = [], finalizers: readonly string[] = []) => {
        const spec = { nodeName, tolerations, containers: [{ name: 'web', image: 'web:1' }] };
        return client.create(Pod({ metadata: { namespace, name, finalizers }, spec }));
      };
      const brief = { key, operator: 'Exists' as const, effect: 'NoExecute' as const, tolerationSeconds: 1 };
      await create('none');
      await create('kept', [], ['example.com/keep']);
      await create('brief', [brief]);
      await create('forever', [{ key, operator: 'Exists' }]);
      const names = async () =>
        (await client.list(Pod, { namespace })).items.map(({ metadata }) => metadata.name).sort();
      await eventually(async () => {
        const { items } = await client.list(Pod, { namespace });
        expect(items.map(({ status }) => status.phase)).toEqual(['Running', 'Running', 'Running', 'Running']);
      });
      const taints = [{ key, effect: 'NoExecute' as const }];
      await client.patch(Node, { name: nodeName }, { type: 'merge', body: { spec: { taints } } });
      await eventually(async () => expect(await names()).toEqual(['forever', 'kept']));
      const kept = await client.get(Pod, { namespace, name: 'kept' });
      expect(kept.metadata.deletionTimestamp).toBeDefined();
      expect(kept.status.conditions?.find(({ type }) => type === 'DisruptionTarget')).toMatchObject({
        status: 'True',
        reason: 'DeletionByTaintManager',
        message: 'Taint manager: deleting due to NoExecute taint',
      });
      await eventually(async () => {
        const { items } = await client.list(Event, { namespace });
        const own = items.filter(({ reason }) => reason === 'TaintManagerEviction');
        expect(own.map(({ involvedObject, message }) => `${involvedObject.name}: ${message}`).sort()).toEqual(
          ['brief', 'kept', 'none'].map((name) => `${name}: Marking for deletion Pod ${namespace}/${name}`),
        );
        expect(new Set(own.map(({ source, reportingComponent }) => source?.component || reportingComponent))).toEqual(
          new Set(['taint-eviction-controller']),
        );
      });
      await client.patch(Pod, kept.metadata, { type: 'merge', body: { metadata: { finalizers: null } } });
      await client.delete(Pod, { namespace, name: 'forever' }, { gracePeriodSeconds: 0 });
      await client.delete(Node, { name: nodeName });
    });
  },
  { controllers: ['taint-eviction-controller'] },
);
