import type { PodFate } from '@riata/sandbox';
import { CronJob, DaemonSet, Deployment, EndpointSlice, Job, Pod, ReplicaSet, Service, StatefulSet } from 'riata/kinds';
import { describe, expect, test } from 'vitest';
import { type Cluster, describeClusters, eventually, fateAnnotation } from './cluster.js';

const labels = { app: 'web' };
const selector = { matchLabels: labels };
const template = (image = 'web:1', fate?: PodFate) => ({
  metadata: { labels, ...(fate && { annotations: { [fateAnnotation]: JSON.stringify(fate) } }) },
  spec: { containers: [{ name: 'web', image }], terminationGracePeriodSeconds: 1 },
});
const images = (pods: readonly Pod[]) => pods.map(({ spec }) => spec?.containers[0]?.image).sort();
const active = async ({ client }: Cluster, namespace: string) =>
  (await client.list(Pod, { namespace })).items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);

describeClusters((cluster) => {
  describe.concurrent('workloads', () => {
    test('a Deployment becomes ready Pods, which a Service finds; a deleted one is replaced', async () => {
      const { client, newNamespace } = cluster();
      const namespace = await newNamespace();
      const key = { namespace, name: 'web' };
      await client.create(Service({ metadata: key, spec: { selector: labels, ports: [{ port: 80 }] } }));
      await client.create(Deployment({ metadata: key, spec: { replicas: 3, selector, template: template() } }));
      await eventually(async () => {
        const { status } = await client.get(Deployment, key);
        expect(status).toMatchObject({ replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3 });
        const conditions = status?.conditions?.map(({ type, status: s, reason }) => `${type} ${s} ${reason}`).sort();
        expect(conditions).toEqual([
          'Available True MinimumReplicasAvailable',
          'Progressing True NewReplicaSetAvailable',
        ]);
      });
      const [set] = (await client.list(ReplicaSet, { namespace })).items;
      expect(set?.metadata.annotations).toMatchObject({
        'deployment.kubernetes.io/revision': '1',
        'deployment.kubernetes.io/desired-replicas': '3',
        'deployment.kubernetes.io/max-replicas': '4',
      });
      expect(set?.metadata.name).toBe(`web-${set?.metadata.labels?.['pod-template-hash']}`);
      const endpoints = async () => {
        const { items } = await client.list(EndpointSlice, {
          namespace,
          labelSelector: 'kubernetes.io/service-name=web',
        });
        return items.flatMap((slice) => slice.endpoints ?? []).filter(({ conditions }) => conditions?.ready);
      };
      await eventually(async () => expect(await endpoints()).toHaveLength(3));
      const [victim] = await active(cluster(), namespace);
      await client.delete(Pod, victim!.metadata);
      await eventually(async () => {
        const pods = (await client.list(Pod, { namespace })).items;
        expect(pods.map(({ status }) => status?.phase)).toEqual(['Running', 'Running', 'Running']);
        expect(pods.map(({ metadata }) => metadata.name)).not.toContain(victim!.metadata.name);
      });
    });

    test('a new template is rolled out step by step, an old one comes back as a new revision', async () => {
      const { client, newNamespace } = cluster();
      const namespace = await newNamespace();
      const key = { namespace, name: 'web' };
      const set = (image: string) =>
        client.patch(Deployment, key, { type: 'merge', body: { spec: { template: template(image) } } });
      const revisions = async () =>
        (await client.list(ReplicaSet, { namespace })).items
          .map(
            ({ metadata, spec }) => `${metadata.annotations?.['deployment.kubernetes.io/revision']}: ${spec?.replicas}`,
          )
          .sort();
      await client.create(Deployment({ metadata: key, spec: { replicas: 4, selector, template: template('web:1') } }));
      await eventually(async () => expect((await client.get(Deployment, key)).status?.availableReplicas).toBe(4));
      await set('web:2');
      await eventually(async () => {
        expect(images(await active(cluster(), namespace))).toEqual(['web:2', 'web:2', 'web:2', 'web:2']);
        expect(await revisions()).toEqual(['1: 0', '2: 4']);
      });
      await set('web:1');
      await eventually(async () => {
        expect(images(await active(cluster(), namespace))).toEqual(['web:1', 'web:1', 'web:1', 'web:1']);
        expect(await revisions()).toEqual(['2: 0', '3: 4']);
      });
    });

    test('a rollout of Pods that never become ready stops, and the old ones stay', async () => {
      const { client, newNamespace } = cluster();
      const namespace = await newNamespace();
      const key = { namespace, name: 'web' };
      const spec = { replicas: 4, progressDeadlineSeconds: 2, selector, template: template() };
      await client.create(Deployment({ metadata: key, spec }));
      await eventually(async () => expect((await client.get(Deployment, key)).status?.availableReplicas).toBe(4));
      const body = { spec: { template: template('web:2', { readyAfter: 'never' }) } };
      await client.patch(Deployment, key, { type: 'merge', body });
      await eventually(async () => {
        const { status } = await client.get(Deployment, key);
        expect(status?.conditions?.find(({ type }) => type === 'Progressing')?.reason).toBe('ProgressDeadlineExceeded');
        // A quarter may be missing, and a quarter may be too many.
        expect(status).toMatchObject({ replicas: 5, updatedReplicas: 2, availableReplicas: 3 });
      });
    });

    test('a rollout that is done stays so when a Pod is lost, or more are wanted', async () => {
      const { client, newNamespace } = cluster();
      const namespace = await newNamespace();
      const key = { namespace, name: 'web' };
      const spec = { replicas: 2, progressDeadlineSeconds: 4, minReadySeconds: 3, selector, template: template() };
      const seen = async () => {
        const { status } = await client.get(Deployment, key);
        const progressing = status?.conditions?.find(({ type }) => type === 'Progressing');
        return `${status?.availableReplicas} ${progressing?.reason}`;
      };
      await client.create(Deployment({ metadata: key, spec }));
      await eventually(async () => expect(await seen()).toBe('2 NewReplicaSetAvailable'));
      const [victim] = await active(cluster(), namespace);
      await client.delete(Pod, victim!.metadata);
      await eventually(async () => expect(await seen()).toBe('1 NewReplicaSetAvailable'));
      await eventually(async () => expect(await seen()).toBe('2 NewReplicaSetAvailable'));
      await client.patch(Deployment, key, { type: 'merge', body: { spec: { replicas: 3 } } });
      await eventually(async () => {
        const { status } = await client.get(Deployment, key);
        expect(status).toMatchObject({ replicas: 3, availableReplicas: 2 });
        expect(await seen()).toBe('2 NewReplicaSetAvailable');
      });
    });

    test('recreate: all old Pods go before the first new one comes', async () => {
      const { client, newNamespace } = cluster();
      const namespace = await newNamespace();
      const key = { namespace, name: 'web' };
      const spec = { replicas: 2, strategy: { type: 'Recreate' as const }, selector, template: template() };
      await client.create(Deployment({ metadata: key, spec }));
      await eventually(async () => expect((await client.get(Deployment, key)).status?.availableReplicas).toBe(2));
      await client.patch(Deployment, key, { type: 'merge', body: { spec: { template: template('web:2') } } });
      await eventually(async () => expect(images(await active(cluster(), namespace))).toEqual(['web:2', 'web:2']));
    });

    test('a StatefulSet numbers its Pods, makes them in order, and replaces them from behind', async () => {
      const { client, newNamespace } = cluster();
      const namespace = await newNamespace();
      const key = { namespace, name: 'db' };
      await client.create(
        StatefulSet({ metadata: key, spec: { replicas: 3, serviceName: 'db', selector, template: template() } }),
      );
      await eventually(async () => {
        expect((await client.get(StatefulSet, key)).status).toMatchObject({
          readyReplicas: 3,
          updatedReplicas: 3,
          currentReplicas: 3,
        });
      });
      const pods = (await client.list(Pod, { namespace })).items;
      expect(pods.map(({ metadata }) => metadata.name).sort()).toEqual(['db-0', 'db-1', 'db-2']);
      expect(pods.find(({ metadata }) => metadata.name === 'db-1')?.metadata.labels).toMatchObject({
        'apps.kubernetes.io/pod-index': '1',
      });
      await client.patch(StatefulSet, key, {
        type: 'merge',
        body: { spec: { replicas: 2, template: template('web:2') } },
      });
      await eventually(async () => {
        expect(images(await active(cluster(), namespace))).toEqual(['web:2', 'web:2']);
        const { status } = await client.get(StatefulSet, key);
        expect(status).toMatchObject({ replicas: 2, readyReplicas: 2, updatedReplicas: 2 });
        expect(status?.currentRevision).toBe(status?.updateRevision);
      });
    });

    test('a DaemonSet runs on every node', async () => {
      const { client, newNamespace } = cluster();
      const namespace = await newNamespace();
      const key = { namespace, name: 'agent' };
      await client.create(DaemonSet({ metadata: key, spec: { selector, template: template() } }));
      await eventually(async () => {
        const { status } = await client.get(DaemonSet, key);
        expect(status).toMatchObject({
          desiredNumberScheduled: 3,
          currentNumberScheduled: 3,
          numberReady: 3,
          numberAvailable: 3,
        });
        const pods = await active(cluster(), namespace);
        expect(new Set(pods.map(({ spec }) => spec?.nodeName)).size).toBe(3);
      });
      await client.patch(DaemonSet, key, { type: 'merge', body: { spec: { template: template('web:2') } } });
      await eventually(async () => {
        expect(images(await active(cluster(), namespace))).toEqual(['web:2', 'web:2', 'web:2']);
        expect((await client.get(DaemonSet, key)).status).toMatchObject({ updatedNumberScheduled: 3, numberReady: 3 });
      });
    });

    test('a Job runs until enough Pods have succeeded, or too many have failed', async () => {
      const { client, newNamespace } = cluster();
      const namespace = await newNamespace();
      const once = (fate: PodFate) => ({
        metadata: { annotations: { [fateAnnotation]: JSON.stringify(fate) } },
        spec: { restartPolicy: 'Never' as const, containers: [{ name: 'work', image: 'work' }] },
      });
      const good = { namespace, name: 'good' };
      const bad = { namespace, name: 'bad' };
      await client.create(
        Job({ metadata: good, spec: { completions: 3, parallelism: 2, template: once({ endsAfter: '0s' }) } }),
      );
      await client.create(
        Job({ metadata: bad, spec: { backoffLimit: 0, template: once({ endsAfter: '0s', exitCode: 1 }) } }),
      );
      const done = async (key: typeof good) =>
        (await client.get(Job, key)).status?.conditions
          ?.map(({ type, status, reason }) => `${type} ${status} ${reason}`)
          .sort();
      await eventually(async () => {
        expect(await done(good)).toEqual([
          'Complete True CompletionsReached',
          'SuccessCriteriaMet True CompletionsReached',
        ]);
        expect(await done(bad)).toEqual([
          'Failed True BackoffLimitExceeded',
          'FailureTarget True BackoffLimitExceeded',
        ]);
      });
      expect((await client.get(Job, good)).status).toMatchObject({ succeeded: 3 });
      expect((await client.get(Job, bad)).status).toMatchObject({ failed: 1 });
    });

    test('a CronJob that is suspended makes no Jobs', async () => {
      const { client, newNamespace } = cluster();
      const namespace = await newNamespace();
      const key = { namespace, name: 'tick' };
      const pod = { spec: { restartPolicy: 'Never' as const, containers: [{ name: 'work', image: 'work' }] } };
      const spec = { schedule: '* * * * *', suspend: true, jobTemplate: { spec: { template: pod } } };
      await client.create(CronJob({ metadata: key, spec }));
      await client.create(Job({ metadata: { namespace, name: 'other' }, spec: { template: pod } }));
      await eventually(async () =>
        expect((await client.get(Job, { namespace, name: 'other' })).status?.succeeded).toBe(1),
      );
      expect((await client.list(Job, { namespace })).items).toHaveLength(1);
    });

    test('a Pod that asks for what no node has waits, and says so', async () => {
      const { client, newNamespace } = cluster();
      const namespace = await newNamespace();
      const key = { namespace, name: 'picky' };
      const spec = { nodeSelector: { disk: 'fast' }, containers: [{ name: 'web', image: 'web:1' }] };
      await client.create(Pod({ metadata: key, spec }));
      await eventually(async () => {
        const { status } = await client.get(Pod, key);
        expect(status?.conditions?.find(({ type }) => type === 'PodScheduled')).toMatchObject({
          status: 'False',
          reason: 'Unschedulable',
          message: "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.",
        });
      });
    });
  });
});
