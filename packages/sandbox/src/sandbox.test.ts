import { TestEnvironment } from '@riata/testing';
import { Deployment, EndpointSlice, Pod, ReplicaSet, Service } from 'riata/kinds';
import { expect, test } from 'vitest';
import { nodeControllers, workloadControllers } from './controllers.js';
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

async function sandbox() {
  const env = await TestEnvironment.start();
  await makeNodes(env.client, 3);
  const { clock } = env;
  await env.run(...([...workloadControllers({ clock }), ...nodeControllers({ clock })] as never[]));
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
