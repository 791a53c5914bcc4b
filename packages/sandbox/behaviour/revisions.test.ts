import { ControllerRevision, DaemonSet, Deployment, Event, Pod, ReplicaSet, StatefulSet } from 'riata/kinds';
import { describe, expect, test } from 'vitest';
import { type Cluster, describeClusters, eventually, fateAnnotation } from './cluster.js';

const labels = { app: 'web' };
const selector = { matchLabels: labels };
const template = (image = 'web:1') => ({
  metadata: { labels },
  spec: { containers: [{ name: 'web', image }], terminationGracePeriodSeconds: 1 },
});
const body = (image: string) => ({ spec: { template: template(image) } });
const imageIn = (data: unknown) =>
  (data as { spec: { template: { spec: { containers: { image: string }[] } } } }).spec.template.spec.containers[0]
    ?.image;

describeClusters((cluster) => {
  const revisions = async ({ client }: Cluster, namespace: string) =>
    [...(await client.list(ControllerRevision, { namespace })).items].sort((a, b) => a.revision - b.revision);
  const history = async (namespace: string) =>
    (await revisions(cluster(), namespace)).map(({ revision, data }) => `${revision} ${imageIn(data)}`);
  const images = async (namespace: string) =>
    (await cluster().client.list(Pod, { namespace })).items
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata, spec }) => `${metadata.name} ${spec?.containers[0]?.image}`)
      .sort();

  describe.concurrent('revisions of a StatefulSet', () => {
    const key = async () => ({ namespace: await cluster().newNamespace(), name: 'db' });
    const create = async (at: { readonly namespace: string; readonly name: string }, spec: object = {}) => {
      const all = { replicas: 2, serviceName: 'db', selector, template: template(), ...spec };
      await cluster().client.create(StatefulSet({ metadata: { ...at, annotations: { note: 'first' } }, spec: all }));
      await settled(at);
    };
    const settled = (at: { readonly namespace: string; readonly name: string }) =>
      eventually(async () => {
        const { status, spec, metadata } = await cluster().client.get(StatefulSet, at);
        expect(status).toMatchObject({
          observedGeneration: metadata.generation,
          readyReplicas: spec.replicas,
          updatedReplicas: spec.replicas,
          currentReplicas: spec.replicas,
        });
        expect(status.currentRevision).toBe(status.updateRevision);
      });

    test('are named by their template, and Pods carry the name', async () => {
      const { client } = cluster();
      const at = await key();
      await create(at);
      const [made, ...others] = await revisions(cluster(), at.namespace);
      expect(others).toEqual([]);
      const { uid } = (await client.get(StatefulSet, at)).metadata;
      expect(made).toMatchObject({
        revision: 1,
        metadata: {
          name: 'db-c66f486f6',
          labels: { app: 'web', 'controller.kubernetes.io/hash': 'c66f486f6' },
          annotations: { note: 'first' },
          ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid, controller: true }],
        },
      });
      expect(made?.data).toMatchObject({ spec: { template: { $patch: 'replace', metadata: { labels } } } });
      expect((await client.get(StatefulSet, at)).status).toMatchObject({
        currentRevision: 'db-c66f486f6',
        updateRevision: 'db-c66f486f6',
        collisionCount: 0,
      });
      const pod = await client.get(Pod, { ...at, name: 'db-0' });
      expect(pod.metadata.labels).toMatchObject({ 'controller-revision-hash': 'db-c66f486f6' });
    });

    test('an old template comes back as the newest revision', async () => {
      const { client } = cluster();
      const at = await key();
      await create(at);
      await client.patch(StatefulSet, at, { type: 'merge', body: body('web:2') });
      await settled(at);
      expect(await history(at.namespace)).toEqual(['1 web:1', '2 web:2']);
      await client.patch(StatefulSet, at, { type: 'merge', body: body('web:1') });
      await settled(at);
      expect(await history(at.namespace)).toEqual(['2 web:2', '3 web:1']);
      expect(await images(at.namespace)).toEqual(['db-0 web:1', 'db-1 web:1']);
    });

    test('beyond revisionHistoryLimit are deleted, the oldest first', async () => {
      const { client } = cluster();
      const at = await key();
      await create(at, { replicas: 1, revisionHistoryLimit: 1 });
      for (const image of ['web:2', 'web:3', 'web:4']) {
        await client.patch(StatefulSet, at, { type: 'merge', body: body(image) });
        await settled(at);
      }
      await eventually(async () => expect(await history(at.namespace)).toEqual(['3 web:3', '4 web:4']));
    });

    test('below a partition Pods keep the current revision, even when they are deleted', async () => {
      const { client } = cluster();
      const at = await key();
      const updateStrategy = { type: 'RollingUpdate' as const, rollingUpdate: { partition: 1 } };
      await create(at, { replicas: 2, ordinals: { start: 3 }, updateStrategy });
      await client.patch(StatefulSet, at, { type: 'merge', body: body('web:2') });
      const isHeldBack = () =>
        eventually(async () => {
          expect(await images(at.namespace)).toEqual(['db-3 web:1', 'db-4 web:2']);
          const { status } = await client.get(StatefulSet, at);
          expect(status).toMatchObject({ readyReplicas: 2, currentReplicas: 1, updatedReplicas: 1 });
          expect(status.currentRevision).not.toBe(status.updateRevision);
        });
      await isHeldBack();
      const before = await client.get(Pod, { ...at, name: 'db-3' });
      await client.delete(Pod, before.metadata);
      await eventually(async () => {
        const { metadata } = await client.get(Pod, { ...at, name: 'db-3' });
        expect(metadata.uid).not.toBe(before.metadata.uid);
      });
      await isHeldBack();
      const all = { spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } };
      await client.patch(StatefulSet, at, { type: 'merge', body: all });
      await settled(at);
      expect(await images(at.namespace)).toEqual(['db-3 web:2', 'db-4 web:2']);
    });

    test('that lost their owner are adopted again, and so are Pods', async () => {
      const { client } = cluster();
      const at = await key();
      await create(at);
      const before = await revisions(cluster(), at.namespace);
      const pod = await client.get(Pod, { ...at, name: 'db-0' });
      await client.delete(StatefulSet, at, { propagationPolicy: 'Orphan' });
      await eventually(async () => expect(await client.find(StatefulSet, at)).toBeUndefined());
      await create(at);
      const after = await revisions(cluster(), at.namespace);
      expect(after.map(({ metadata }) => metadata.uid)).toEqual(before.map(({ metadata }) => metadata.uid));
      expect((await client.get(Pod, { ...at, name: 'db-0' })).metadata.uid).toBe(pod.metadata.uid);
    });
  });

  describe.concurrent('revisions of a DaemonSet', () => {
    const key = async () => ({ namespace: await cluster().newNamespace(), name: 'agent' });
    const settled = (at: { readonly namespace: string; readonly name: string }) =>
      eventually(async () => {
        const { status, metadata } = await cluster().client.get(DaemonSet, at);
        expect(status).toMatchObject({
          observedGeneration: metadata.generation,
          desiredNumberScheduled: 3,
          currentNumberScheduled: 3,
          numberReady: 3,
          updatedNumberScheduled: 3,
          numberAvailable: 3,
        });
      });
    const set = (at: { readonly namespace: string; readonly name: string }, image: string) =>
      cluster().client.patch(DaemonSet, at, { type: 'merge', body: body(image) });

    test('keep templates, and an old one comes back as the newest', async () => {
      const { client } = cluster();
      const at = await key();
      const metadata = { ...at, annotations: { note: 'first' } };
      await client.create(DaemonSet({ metadata, spec: { selector, template: template() } }));
      await settled(at);
      const [made] = await revisions(cluster(), at.namespace);
      const hash = made?.metadata.labels?.['controller-revision-hash'];
      expect(made?.metadata).toMatchObject({
        name: `agent-${hash}`,
        labels,
        annotations: { note: 'first' },
        ownerReferences: [{ kind: 'DaemonSet', name: 'agent', controller: true }],
      });
      for (const pod of (await client.list(Pod, { namespace: at.namespace })).items) {
        expect(pod.metadata.labels).toMatchObject({ 'controller-revision-hash': hash });
      }
      await set(at, 'web:2');
      await settled(at);
      expect(await history(at.namespace)).toEqual(['1 web:1', '2 web:2']);
      await set(at, 'web:1');
      await settled(at);
      expect(await history(at.namespace)).toEqual(['2 web:2', '3 web:1']);
      expect((await images(at.namespace)).map((text) => text.split(' ')[1])).toEqual(['web:1', 'web:1', 'web:1']);
    });

    test('beyond revisionHistoryLimit are deleted', async () => {
      const { client } = cluster();
      const at = await key();
      const spec = { selector, template: template(), revisionHistoryLimit: 1 };
      await client.create(DaemonSet({ metadata: at, spec }));
      await settled(at);
      for (const image of ['web:2', 'web:3']) {
        await set(at, image);
        await settled(at);
      }
      await eventually(async () => expect(await history(at.namespace)).toEqual(['2 web:2', '3 web:3']));
    });

    test('with maxSurge, old Pods stay until new ones are ready beside them', async () => {
      const { client } = cluster();
      const at = await key();
      const updateStrategy = { type: 'RollingUpdate' as const, rollingUpdate: { maxSurge: '40%', maxUnavailable: 0 } };
      await client.create(DaemonSet({ metadata: at, spec: { selector, template: template(), updateStrategy } }));
      await settled(at);
      const all = async () => (await images(at.namespace)).map((text) => text.split(' ')[1]).sort();
      const never = { annotations: { [fateAnnotation]: JSON.stringify({ readyAfter: 'never' }) } };
      const broken = { ...template('web:2'), metadata: { labels, ...never } };
      await client.patch(DaemonSet, at, { type: 'merge', body: { spec: { template: broken } } });
      await eventually(async () => {
        // The status counts the older Pod of a node, and both may be of the same second: it is not looked at.
        expect(await all()).toEqual(['web:1', 'web:1', 'web:1', 'web:2', 'web:2']);
      });
      await client.patch(DaemonSet, at, {
        type: 'merge',
        body: { spec: { template: { ...template('web:3'), metadata: { labels, annotations: null } } } },
      });
      await settled(at);
      await eventually(async () => expect(await all()).toEqual(['web:3', 'web:3', 'web:3']));
    });
  });

  describe.concurrent('revisions of a Deployment', () => {
    const settled = (at: { readonly namespace: string; readonly name: string }) =>
      eventually(async () => {
        const { status, metadata } = await cluster().client.get(Deployment, at);
        expect(status).toMatchObject({
          observedGeneration: metadata.generation,
          replicas: 1,
          updatedReplicas: 1,
          availableReplicas: 1,
        });
      });
    const sets = async (namespace: string) =>
      (await cluster().client.list(ReplicaSet, { namespace })).items
        .map(({ metadata: { annotations = {} }, spec }) =>
          [
            annotations['deployment.kubernetes.io/revision'],
            annotations['deployment.kubernetes.io/revision-history'],
            spec?.template?.spec?.containers[0]?.image,
            annotations.note,
          ].join(' '),
        )
        .sort();

    test('a ReplicaSet remembers which revisions it has been', async () => {
      const { client, newNamespace } = cluster();
      const at = { namespace: await newNamespace(), name: 'web' };
      const metadata = { ...at, annotations: { note: 'mine', 'deployment.kubernetes.io/desired-replicas': '7' } };
      await client.create(Deployment({ metadata, spec: { selector, template: template() } }));
      await settled(at);
      for (const image of ['web:2', 'web:1', 'web:2', 'web:1']) {
        await client.patch(Deployment, at, { type: 'merge', body: body(image) });
        await settled(at);
      }
      await eventually(async () => expect(await sets(at.namespace)).toEqual(['4 2 web:2 mine', '5 1,3 web:1 mine']));
      const [first] = (await client.list(ReplicaSet, { namespace: at.namespace })).items;
      expect(first?.metadata.annotations).toMatchObject({ 'deployment.kubernetes.io/desired-replicas': '1' });
      const { annotations } = (await client.get(Deployment, at)).metadata;
      expect(annotations?.['deployment.kubernetes.io/revision']).toBe('5');
      expect(annotations?.['deployment.kubernetes.io/revision-history']).toBeUndefined();
    });

    test('the deprecated annotation rolls back, and says so', async () => {
      const { client, newNamespace } = cluster();
      const at = { namespace: await newNamespace(), name: 'web' };
      const to = (revision: string) => ({
        metadata: { annotations: { 'deprecated.deployment.rollback.to': revision } },
      });
      const messages = async () =>
        (await client.list(Event, { namespace: at.namespace })).items
          .filter(({ reason }) => reason?.startsWith('DeploymentRollback'))
          .map(({ type, reason, message }) => `${type} ${reason} ${message}`)
          .sort();
      await client.create(Deployment({ metadata: at, spec: { selector, template: template() } }));
      await settled(at);
      await client.patch(Deployment, at, { type: 'merge', body: body('web:2') });
      await settled(at);
      await client.patch(Deployment, at, { type: 'merge', body: to('0') });
      await eventually(async () => {
        const { metadata, spec } = await client.get(Deployment, at);
        expect(spec.template.spec?.containers[0]?.image).toBe('web:1');
        expect(metadata.annotations?.['deprecated.deployment.rollback.to']).toBeUndefined();
        expect(await messages()).toEqual(['Normal DeploymentRollback Rolled back deployment "web" to revision 1']);
      });
      await settled(at);
      await client.patch(Deployment, at, { type: 'merge', body: to('9') });
      await eventually(async () =>
        expect(await messages()).toEqual([
          'Normal DeploymentRollback Rolled back deployment "web" to revision 1',
          'Warning DeploymentRollbackRevisionNotFound Unable to find the revision to rollback to.',
        ]),
      );
    });

    test('none is made while the Deployment is paused, but its size changes', async () => {
      const { client, newNamespace } = cluster();
      const at = { namespace: await newNamespace(), name: 'web' };
      const progressing = async () => {
        const { conditions } = (await client.get(Deployment, at)).status;
        const found = conditions?.find(({ type }) => type === 'Progressing');
        return `${found?.status} ${found?.reason} ${found?.message}`;
      };
      await client.create(Deployment({ metadata: at, spec: { selector, template: template() } }));
      await settled(at);
      await client.patch(Deployment, at, { type: 'merge', body: { spec: { paused: true } } });
      await eventually(async () => expect(await progressing()).toBe('Unknown DeploymentPaused Deployment is paused'));
      await client.patch(Deployment, at, { type: 'merge', body: { spec: { replicas: 2, ...body('web:2').spec } } });
      await eventually(async () => {
        const { status, metadata } = await client.get(Deployment, at);
        expect(status).toMatchObject({ observedGeneration: metadata.generation, replicas: 2, availableReplicas: 2 });
      });
      expect(await sets(at.namespace)).toEqual(['1  web:1 ']);
      await client.patch(Deployment, at, { type: 'merge', body: { spec: { paused: false, replicas: 1 } } });
      await settled(at);
      expect(await sets(at.namespace)).toEqual(['1  web:1 ', '2  web:2 ']);
      await eventually(async () => expect(await progressing()).toMatch(/^True NewReplicaSetAvailable /));
    });

    test('a rollout in which Pods are not ready keeps its proportions when it is scaled', async () => {
      const { client, newNamespace } = cluster();
      const at = { namespace: await newNamespace(), name: 'web' };
      const strategy = { rollingUpdate: { maxSurge: 2, maxUnavailable: 2 } };
      await client.create(
        Deployment({ metadata: at, spec: { replicas: 6, strategy, selector, template: template() } }),
      );
      await eventually(async () => expect((await client.get(Deployment, at)).status.availableReplicas).toBe(6));
      const never = { annotations: { [fateAnnotation]: JSON.stringify({ readyAfter: 'never' }) } };
      const broken = { ...template('web:2'), metadata: { labels, ...never } };
      await client.patch(Deployment, at, { type: 'merge', body: { spec: { template: broken } } });
      const sizes = async () =>
        (await client.list(ReplicaSet, { namespace: at.namespace })).items
          .map(({ spec, metadata: { annotations = {} } }) =>
            [
              spec.template?.spec?.containers[0]?.image,
              spec.replicas,
              annotations['deployment.kubernetes.io/desired-replicas'],
              annotations['deployment.kubernetes.io/max-replicas'],
            ].join(' '),
          )
          .sort();
      await eventually(async () => expect(await sizes()).toEqual(['web:1 4 6 8', 'web:2 4 6 8']));
      await client.patch(Deployment, at, { type: 'merge', body: { spec: { replicas: 14 } } });
      await eventually(async () => expect(await sizes()).toEqual(['web:1 8 14 16', 'web:2 8 14 16']));
    });

    test('a name that is taken is avoided', async () => {
      const { client, newNamespace } = cluster();
      const at = { namespace: await newNamespace(), name: 'web' };
      await client.create(Deployment({ metadata: at, spec: { selector, template: template() } }));
      await settled(at);
      const [own] = (await client.list(ReplicaSet, { namespace: at.namespace })).items;
      await client.delete(Deployment, at, { propagationPolicy: 'Foreground' });
      await eventually(async () => expect(await client.find(Deployment, at)).toBeUndefined());
      const other = { app: 'other' };
      await client.create(
        ReplicaSet({
          metadata: { namespace: at.namespace, name: own!.metadata.name },
          spec: {
            replicas: 0,
            selector: { matchLabels: other },
            template: { ...template(), metadata: { labels: other } },
          },
        }),
      );
      await client.create(Deployment({ metadata: at, spec: { selector, template: template() } }));
      await settled(at);
      expect((await client.get(Deployment, at)).status.collisionCount).toBe(1);
    });
  });
});
