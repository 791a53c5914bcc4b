import { isNotFound } from 'riata';
import { PersistentVolume, PersistentVolumeClaim, Pod } from 'riata/kinds';
import { expect, test } from 'vitest';
import { embeddedServer } from './embedded-server.fixture.js';

const server = embeddedServer();

const claim = (namespace: string) =>
  PersistentVolumeClaim({
    metadata: { name: 'data', namespace },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  });

test('an unused claim is deleted at once', async () => {
  const { client, newNamespace, calm } = server();
  const { metadata } = await client.create(claim(await newNamespace()));
  await client.delete(PersistentVolumeClaim, metadata);
  await calm();
  await expect(client.get(PersistentVolumeClaim, metadata)).rejects.toSatisfy(isNotFound);
});

test('a claim stays until the last Pod that uses it has terminated or is gone', async () => {
  const { client, newNamespace, calm } = server();
  const namespace = await newNamespace();
  const { metadata } = await client.create(claim(namespace));
  const podOf = (name: string) =>
    Pod({
      metadata: { name, namespace },
      spec: {
        containers: [{ name: 'c', image: 'i' }],
        volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }],
      },
    });
  await client.create(podOf('a'));
  const b = await client.create(podOf('b'));
  await client.delete(PersistentVolumeClaim, metadata);
  await client.delete(Pod, { name: 'a', namespace });
  await calm();
  const kept = await client.get(PersistentVolumeClaim, metadata);
  expect(kept.metadata.finalizers).toEqual(['kubernetes.io/pvc-protection']);
  await client.status.patch(Pod, b.metadata, { type: 'merge', body: { status: { phase: 'Succeeded' } } });
  await calm();
  await expect(client.get(PersistentVolumeClaim, metadata)).rejects.toSatisfy(isNotFound);
});

test('a bound volume stays', async () => {
  const { client, calm } = server();
  const name = 'v';
  await client.create(
    PersistentVolume({
      metadata: { name },
      spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/data' } },
    }),
  );
  await client.status.patch(PersistentVolume, { name }, { type: 'merge', body: { status: { phase: 'Bound' } } });
  await client.delete(PersistentVolume, { name });
  await calm();
  const { metadata } = await client.get(PersistentVolume, { name });
  expect(metadata.deletionTimestamp).toBeDefined();
  await client.status.patch(PersistentVolume, { name }, { type: 'merge', body: { status: { phase: 'Released' } } });
  await calm();
  await expect(client.get(PersistentVolume, { name })).rejects.toSatisfy(isNotFound);
});
