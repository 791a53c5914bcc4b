import { ComponentStatus, Deployment, Pod } from 'riata/kinds';
import { expect, test, vi } from 'vitest';
import { Sandbox } from './sandbox.js';

test('a sandbox has a whole control plane, its scheduler included', async () => {
  await using sandbox = await Sandbox.start({ nodes: 0 });
  const { items } = await sandbox.client.list(ComponentStatus);
  expect(items.map(({ metadata, conditions }) => `${metadata.name} ${conditions?.[0]?.status}`)).toEqual([
    ...['controller-manager True', 'scheduler True', 'etcd-0 True'],
  ]);
});

test('a sandbox runs, and leaves nothing behind', async () => {
  await using sandbox = await Sandbox.start({ nodes: 2 });
  const { client } = sandbox;
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } };
  const key = { namespace: 'default', name: 'web' };
  await client.create(
    Deployment({ metadata: key, spec: { replicas: 2, selector: { matchLabels: labels }, template } }),
  );
  await vi.waitFor(async () => expect((await client.get(Deployment, key)).status?.availableReplicas).toBe(2), 45_000);
  const [pod] = (await client.list(Pod, { namespace: 'default' })).items;
  await client.delete(Pod, pod!.metadata);
  await vi.waitFor(async () => {
    const { items } = await client.list(Pod, { namespace: 'default' });
    expect(items.map(({ status }) => status?.phase)).toEqual(['Running', 'Running']);
    expect(items.map(({ metadata }) => metadata.name)).not.toContain(pod!.metadata.name);
  }, 45_000);
});
