import { expect, test } from 'vitest';
import type { WriteObject } from '../../client/interfaces.js';
import { ClusterRole, ConfigMap, Namespace, Secret } from '../../kinds/index.js';
import type { KubeObject } from '../../object/meta.js';
import { type PlacingOptions, placeObjects } from './place-objects.js';

const owner = (namespace?: string): KubeObject => ({
  ...{ apiVersion: 'example.com/v1', kind: 'Foo' },
  metadata: { namespace, name: 'foo', uid: 'u', resourceVersion: '1', creationTimestamp: '' },
});

async function place(object: WriteObject, namespace?: string, options: PlacingOptions = {}): Promise<WriteObject> {
  const [placed] = await placeObjects([object], owner(namespace), options, async ({ kind }) =>
    kind === 'Namespace' ? Namespace : ConfigMap,
  );
  if (placed === undefined) throw new Error('expected an object');
  return placed;
}

const ref = { apiVersion: 'example.com/v1', kind: 'Foo', name: 'foo', uid: 'u' };
const controlled = [{ ...ref, controller: true, blockOwnerDeletion: false }];

test("objects without a namespace are put into the owner's, and refer to it", async () => {
  const { metadata } = await place(ConfigMap({ metadata: { name: 'a' } }), 'shop');
  expect(metadata).toEqual({ name: 'a', namespace: 'shop', ownerReferences: controlled });
  const copy = { ...ConfigMap({ metadata: { name: 'a' } }) };
  expect((await place(copy, 'shop')).metadata.namespace).toBe('shop');
});

test('a cluster-scoped owner owns anything, but cannot say where', async () => {
  const there = await place(ConfigMap({ metadata: { namespace: 'shop', name: 'a' } }));
  expect(there.metadata.ownerReferences).toEqual(controlled);
  const role = await place(ClusterRole({ metadata: { name: 'a' } }));
  expect(role.metadata).toEqual({ name: 'a', ownerReferences: controlled });
  await expect(place(ConfigMap({ metadata: { name: 'a' } }))).rejects.toThrow('set one');
});

test('what is elsewhere has to be allowed, and does not refer to its owner', async () => {
  const elsewhere = Secret({ metadata: { namespace: 'other', name: 'a' } });
  const role = { ...ClusterRole({ metadata: { name: 'a' } }), kind: 'Namespace' };
  await expect(place(elsewhere, 'shop', { allowClusterScoped: true })).rejects.toThrow('set allowCrossNamespace');
  await expect(place(role, 'shop', { allowCrossNamespace: true })).rejects.toThrow('set allowClusterScoped');
  expect((await place(elsewhere, 'shop', { allowCrossNamespace: true })).metadata.ownerReferences).toBeUndefined();
  expect((await place(role, 'shop', { allowClusterScoped: true })).metadata).toEqual({ name: 'a' });
});

test('another controller stays the controller; without owner references there are none', async () => {
  const other = { ...ref, kind: 'Bar', uid: 'v', controller: true };
  const object = ConfigMap({ metadata: { name: 'a', ownerReferences: [other] } });
  const { metadata } = await place(object, 'shop');
  expect(metadata.ownerReferences).toEqual([other, { ...ref, blockOwnerDeletion: false }]);
  const bare = await place(ConfigMap({ metadata: { name: 'a' } }), 'shop', { ownerReferences: false });
  expect(bare.metadata.ownerReferences).toBeUndefined();
});

test('anything but an object is refused, and named', async () => {
  const objects = [ConfigMap({ metadata: { name: 'a' } }), undefined as never];
  const placing = placeObjects(objects, owner('shop'), {}, async () => ConfigMap);
  await expect(placing).rejects.toThrow(
    'objects[1] of the generating handler must be an object with a kind, got undefined',
  );
});
