import { Deployment, Pod, ReplicaSet, ReplicationController } from 'riata/kinds';
import { describe, expect, test } from 'vitest';
import { describeClusters, eventually } from './cluster.js';

const labels = { app: 'web' };
const template = {
  metadata: { labels },
  spec: { containers: [{ name: 'web', image: 'web:1' }], terminationGracePeriodSeconds: 1 },
};

describeClusters((cluster) => {
  const activePods = async (namespace: string) =>
    (await cluster().client.list(Pod, { namespace })).items.filter(
      ({ metadata }) => metadata.deletionTimestamp === undefined,
    );

  describe.concurrent('replicas', () => {
    test('a ReplicationController keeps as many Pods as it says, and is scaled', async () => {
      const { client, newNamespace } = cluster();
      const at = { namespace: await newNamespace(), name: 'web' };
      await client.create(ReplicationController({ metadata: at, spec: { replicas: 2, template } }));
      const has = (count: number) =>
        eventually(async () => {
          const { status, metadata } = await client.get(ReplicationController, at);
          expect(status).toEqual({
            replicas: count,
            fullyLabeledReplicas: count,
            readyReplicas: count,
            availableReplicas: count,
            observedGeneration: metadata.generation,
          });
        });
      await has(2);
      const [victim] = await activePods(at.namespace);
      expect(victim?.metadata.ownerReferences).toMatchObject([
        { apiVersion: 'v1', kind: 'ReplicationController', name: 'web', controller: true, blockOwnerDeletion: true },
      ]);
      expect(victim?.metadata.name).toMatch(/^web-[a-z0-9]{5}$/);
      await client.delete(Pod, victim!.metadata);
      await eventually(async () => {
        const pods = await activePods(at.namespace);
        expect(pods.map(({ status }) => status?.phase)).toEqual(['Running', 'Running']);
        expect(pods.map(({ metadata }) => metadata.name)).not.toContain(victim!.metadata.name);
      });
      type Scale = { readonly spec: { readonly replicas: number }; readonly status: object };
      const scale = await client.subresource('scale').get<Scale>(ReplicationController, at);
      expect(scale).toMatchObject({ spec: { replicas: 2 }, status: { replicas: 2, selector: 'app=web' } });
      await client.subresource('scale').replace(ReplicationController, at, { ...scale, spec: { replicas: 3 } });
      await has(3);
      await client.subresource('scale').patch(ReplicationController, at, {
        type: 'merge',
        body: { spec: { replicas: 1 } },
      });
      await has(1);
      await client.delete(ReplicationController, at, { propagationPolicy: 'Background' });
      await eventually(async () => expect(await activePods(at.namespace)).toEqual([]));
    });

    test.each(['ReplicaSet', 'ReplicationController'])(
      'a %s adopts Pods without an owner, and releases those whose labels change',
      async (kind) => {
        const { client, newNamespace } = cluster();
        const at = { namespace: await newNamespace(), name: 'web' };
        const orphan = await client.create(
          Pod({ metadata: { ...at, name: 'orphan', labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } }),
        );
        if (kind === 'ReplicaSet') {
          const selector = { matchLabels: labels };
          await client.create(ReplicaSet({ metadata: at, spec: { replicas: 2, selector, template } }));
        } else await client.create(ReplicationController({ metadata: at, spec: { replicas: 2, template } }));
        await eventually(async () => {
          const pods = await activePods(at.namespace);
          expect(pods).toHaveLength(2);
          expect(pods.map(({ metadata }) => metadata.ownerReferences?.[0]?.kind)).toEqual([kind, kind]);
        });
        await client.patch(Pod, orphan.metadata, { type: 'merge', body: { metadata: { labels: { app: 'debug' } } } });
        await eventually(async () => {
          const pods = await activePods(at.namespace);
          expect(pods).toHaveLength(3);
          const released = pods.find(({ metadata }) => metadata.name === 'orphan');
          expect(released?.metadata.ownerReferences ?? []).toEqual([]);
        });
      },
    );

    test('a Deployment has the condition of its ReplicaSet whose Pods are refused', async () => {
      const { client, newNamespace } = cluster();
      const at = { namespace: await newNamespace(), name: 'web' };
      const spec = { ...template.spec, nodeName: 'nowhere', schedulingGates: [{ name: 'example.com/gate' }] };
      const selector = { matchLabels: labels };
      await client.create(Deployment({ metadata: at, spec: { selector, template: { ...template, spec } } }));
      const conditions = async () =>
        (await client.get(Deployment, at)).status.conditions
          ?.map(({ type, status, reason }) => `${type} ${status} ${reason}`)
          .sort();
      await eventually(async () =>
        expect(await conditions()).toEqual([
          'Available False MinimumReplicasUnavailable',
          'Progressing True NewReplicaSetCreated',
          'ReplicaFailure True FailedCreate',
        ]),
      );
      await client.patch(Deployment, at, {
        type: 'merge',
        body: {
          spec: { template: { ...template, spec: { ...template.spec, nodeName: null, schedulingGates: null } } },
        },
      });
      await eventually(async () =>
        expect(await conditions()).toEqual([
          'Available True MinimumReplicasAvailable',
          'Progressing True NewReplicaSetAvailable',
        ]),
      );
    });

    test('a Pod that cannot be created is a condition, until it can be', async () => {
      const { client, newNamespace } = cluster();
      const at = { namespace: await newNamespace(), name: 'web' };
      // A Pod with gates cannot have a node; a template may say both.
      const spec = { ...template.spec, nodeName: 'nowhere', schedulingGates: [{ name: 'example.com/gate' }] };
      const selector = { matchLabels: labels };
      await client.create(
        ReplicaSet({ metadata: at, spec: { replicas: 1, selector, template: { ...template, spec } } }),
      );
      await eventually(async () => {
        const { status } = await client.get(ReplicaSet, at);
        expect(status).toMatchObject({
          replicas: 0,
          conditions: [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate' }],
        });
        expect(status.conditions?.[0]?.message).toMatch(
          /^Pod "web-[a-z0-9]{5}" is invalid: spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared$/,
        );
      });
      await client.patch(ReplicaSet, at, { type: 'merge', body: { spec: { replicas: 0 } } });
      await eventually(async () => expect((await client.get(ReplicaSet, at)).status.conditions ?? []).toEqual([]));
    });
  });
});
