import { TestEnvironment } from '@riata/testing';
import { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from 'riata/kinds';
import { expect, test } from 'vitest';
import { clusterControllers, nodeControllers, type ProviderOptions, providerControllers } from '../controllers.js';
import { makeNodes } from '../node/nodes.js';
import { standardClass } from './provisioner.js';

const resources = { requests: { storage: '1Gi' } };
const spec = { accessModes: ['ReadWriteOnce' as const], resources };
const key = { namespace: 'default', name: 'data' };

async function start(options?: ProviderOptions) {
  const env = await TestEnvironment.start();
  await makeNodes(env.client, 2);
  await env.client.create(standardClass);
  await env.run(...clusterControllers(), ...providerControllers(options), ...nodeControllers());
  return env;
}

test('claims are bound, wait, grow and go, and controllers write nothing once that is done', async () => {
  await using env = await start();
  const { client } = env;
  await client.create(
    StorageClass({ metadata: { name: 'lazy' }, provisioner: 'x', volumeBindingMode: 'WaitForFirstConsumer' }),
  );
  const lazy = { namespace: 'default', name: 'lazy' };
  await client.create(PersistentVolumeClaim({ metadata: key, spec }));
  await client.create(PersistentVolumeClaim({ metadata: lazy, spec: { ...spec, storageClassName: 'lazy' } }));
  await env.settle();
  expect((await client.get(PersistentVolumeClaim, lazy)).status?.phase).toBe('Pending');
  const claim = await client.get(PersistentVolumeClaim, key);
  expect(claim.spec?.storageClassName).toBe('standard');
  expect(claim.status).toMatchObject({ phase: 'Bound', capacity: { storage: '1Gi' } });
  await env.expectConverged();
  const volumes = [{ name: 'lazy', persistentVolumeClaim: { claimName: 'lazy' } }];
  await client.create(Pod({ metadata: key, spec: { containers: [{ name: 'web', image: 'web:1' }], volumes } }));
  const body = { spec: { resources: { requests: { storage: '2Gi' } } } };
  await client.patch(PersistentVolumeClaim, key, { type: 'merge', body });
  await env.settle();
  expect((await client.get(Pod, key)).status.phase).toBe('Running');
  expect((await client.get(PersistentVolumeClaim, key)).status?.capacity).toEqual({ storage: '2Gi' });
  await env.expectConverged();
  await client.delete(Pod, key);
  await client.delete(PersistentVolumeClaim, key);
  await client.delete(PersistentVolumeClaim, lazy);
  await env.advance('1m');
  expect((await client.list(PersistentVolume)).items).toEqual([]);
});

test('a foreign provisioner is left alone', async () => {
  await using env = await start({ provisions: (name) => name !== 'mine.example.com' });
  const { client } = env;
  await client.create(StorageClass({ metadata: { name: 'mine' }, provisioner: 'mine.example.com' }));
  await client.create(PersistentVolumeClaim({ metadata: key, spec: { ...spec, storageClassName: 'mine' } }));
  await env.advance('1m');
  const { metadata, status } = await client.get(PersistentVolumeClaim, key);
  expect(metadata.annotations?.['volume.kubernetes.io/storage-provisioner']).toBe('mine.example.com');
  expect(status?.phase).toBe('Pending');
});

test('a claim that names no class waits for a default one', async () => {
  await using env = await TestEnvironment.start();
  await env.run(...clusterControllers(), ...providerControllers());
  const { client } = env;
  await client.create(PersistentVolumeClaim({ metadata: key, spec }));
  await client.create(
    PersistentVolumeClaim({ metadata: { ...key, name: 'none' }, spec: { ...spec, storageClassName: '' } }),
  );
  await env.settle();
  expect((await client.get(PersistentVolumeClaim, key)).status?.phase).toBe('Pending');
  await client.create(standardClass);
  await env.settle();
  expect((await client.get(PersistentVolumeClaim, key)).status?.phase).toBe('Bound');
  // An explicitly empty class stays empty.
  expect((await client.get(PersistentVolumeClaim, { ...key, name: 'none' })).status?.phase).toBe('Pending');
});
