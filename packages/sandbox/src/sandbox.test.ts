import { TestEnvironment } from '@riata/testing';
import { CronJob, Deployment, EndpointSlice, Job, Pod, ReplicaSet, Service } from 'riata/kinds';
import { expect, test } from 'vitest';
import { nodeControllers, workloadControllers } from './controllers.js';
import type { KubeletOptions } from './node/kubelet.js';
import { makeNodes } from './node/nodes.js';

const labels = { app: 'web' };
const web = (replicas: number, image = 'web:1') =>
  Deployment({
    metadata: { namespace: 'default', name: 'web' },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image }] } },
    },
  });
const key = { namespace: 'default', name: 'web' };

async function sandbox(fate?: KubeletOptions['fate']) {
  const env = await TestEnvironment.start();
  await makeNodes(env.client, 3);
  await env.run(...workloadControllers(), ...nodeControllers({ ...(fate && { fate }) }));
  return env;
}

test('a Deployment becomes Pods that are ready, and a Service finds them', async () => {
  await using env = await sandbox();
  await env.client.create(web(3));
  await env.client.create(
    Service({ metadata: { namespace: 'default', name: 'web' }, spec: { selector: labels, ports: [{ port: 80 }] } }),
  );
  await env.settle();
  const { status } = await env.client.get(Deployment, key);
  expect(status).toMatchObject({ replicas: 3, readyReplicas: 3, availableReplicas: 3, updatedReplicas: 3 });
  const pods = await env.client.list(Pod, { namespace: 'default' });
  expect(new Set(pods.items.map(({ spec }) => spec?.nodeName)).size).toBe(3);
  const [slice] = (
    await env.client.list(EndpointSlice, { namespace: 'default', labelSelector: 'kubernetes.io/service-name=web' })
  ).items;
  expect(slice?.endpoints?.filter(({ conditions }) => conditions?.ready)).toHaveLength(3);
  await env.expectConverged();
});

test('a new template is rolled out, and an old one comes back', async () => {
  await using env = await sandbox();
  await env.client.create(web(4));
  await env.settle();
  await env.client.patch(Deployment, key, {
    type: 'strategic',
    body: { spec: { template: { spec: { containers: [{ name: 'web', image: 'web:2' }] } } } },
  });
  await env.settle();
  const pods = await env.client.list(Pod, { namespace: 'default' });
  expect(pods.items.map(({ spec }) => spec?.containers[0]?.image)).toEqual(['web:2', 'web:2', 'web:2', 'web:2']);
  const sets = await env.client.list(ReplicaSet, { namespace: 'default' });
  expect(
    sets.items
      .map(({ spec, metadata }) => [spec?.replicas, metadata.annotations?.['deployment.kubernetes.io/revision']])
      .sort(),
  ).toEqual([
    [0, '1'],
    [4, '2'],
  ]);
  await env.expectConverged();
});

test('a CronJob makes a Job when it is due, and keeps three of them', async () => {
  await using env = await sandbox();
  const pod = { spec: { restartPolicy: 'Never' as const, containers: [{ name: 'work', image: 'work' }] } };
  const metadata = { namespace: 'default', name: 'tick' };
  await env.client.create(
    CronJob({ metadata, spec: { schedule: '*/5 * * * *', jobTemplate: { spec: { template: pod } } } }),
  );
  await env.settle();
  expect((await env.client.list(Job)).items).toEqual([]);
  for (let count = 0; count < 5; count += 1) {
    await env.advance('5m');
    await env.settle();
  }
  const jobs = (await env.client.list(Job)).items;
  expect(jobs.map(({ status }) => status?.succeeded)).toEqual([1, 1, 1]);
  const { status } = await env.client.get(CronJob, metadata);
  expect(status).toMatchObject({
    lastScheduleTime: '2026-01-01T00:25:00Z',
    lastSuccessfulTime: '2026-01-01T00:25:00Z',
  });
});

test('a Pod that crashes is started again, later each time', async () => {
  await using env = await sandbox(() => ({ startsAfter: '5s', endsAfter: '5s', exitCode: 1 }));
  await env.client.create(Pod({ metadata: key, spec: { containers: [{ name: 'web', image: 'web:1' }] } }));
  const restarts = async () => (await env.client.get(Pod, key)).status?.containerStatuses?.[0]?.restartCount;
  await env.settle();
  expect((await env.client.get(Pod, key)).status?.phase).toBe('Pending');
  await env.advance('10s');
  expect(await restarts()).toBe(1);
  await env.advance('18s');
  expect(await restarts()).toBe(1);
  await env.advance('4s');
  expect(await restarts()).toBe(2);
  expect((await env.client.get(Pod, key)).status?.containerStatuses?.[0]).toMatchObject({
    state: { waiting: { reason: 'CrashLoopBackOff' } },
    lastState: { terminated: { exitCode: 1 } },
  });
});

test('a Pod is given to the node that has room for it', async () => {
  await using env = await sandbox();
  const asks = (cpu: string) => ({ containers: [{ name: 'web', image: 'web:1', resources: { requests: { cpu } } }] });
  for (const name of ['a', 'b', 'c', 'd']) {
    await env.client.create(Pod({ metadata: { namespace: 'default', name }, spec: asks('5') }));
  }
  await env.settle();
  const waiting = async () => {
    const { items } = await env.client.list(Pod, { namespace: 'default' });
    return items.filter(({ spec }) => spec?.nodeName === undefined);
  };
  const [last, ...none] = await waiting();
  expect(none).toEqual([]);
  expect(last?.status?.conditions?.[0]).toMatchObject({
    type: 'PodScheduled',
    status: 'False',
    message: '0/3 nodes are available: 3 Insufficient cpu.',
  });
  const other = ['a', 'b', 'c', 'd'].find((name) => name !== last?.metadata.name) as string;
  await env.client.delete(Pod, { namespace: 'default', name: other });
  await env.advance('1m');
  expect(await waiting()).toEqual([]);
});
