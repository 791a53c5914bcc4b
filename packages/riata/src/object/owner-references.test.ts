import { describe, expect, test } from 'vitest';
import type { OwnerReference } from './meta.js';
import {
  AlreadyOwnedError,
  controllerOf,
  hasControllerReference,
  hasOwnerReference,
  isAlreadyOwned,
  isControlledBy,
  removeControllerReference,
  removeOwnerReference,
  setControllerReference,
  setOwnerReference,
} from './owner-references.js';
import type { WithMetadata } from './with-metadata.js';

const foo = { apiVersion: 'example.com/v1', kind: 'Foo', metadata: { namespace: 'shop', name: 'foo', uid: 'u-foo' } };
const other = { ...foo, metadata: { ...foo.metadata, name: 'other', uid: 'u-other' } };
const cluster = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: 'u-n1' } };

function pod(...ownerReferences: OwnerReference[]): WithMetadata & { spec: object } {
  const metadata = { name: 'p', namespace: 'shop', ...(ownerReferences.length > 0 && { ownerReferences }) };
  return Object.freeze({ apiVersion: 'v1', kind: 'Pod', metadata: Object.freeze(metadata), spec: {} });
}

const fooRef = { apiVersion: 'example.com/v1', kind: 'Foo', name: 'foo', uid: 'u-foo' };
const fooController = { ...fooRef, controller: true, blockOwnerDeletion: true };
const nodeRef = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u-n1' };

describe('setControllerReference', () => {
  test('adds the reference, the input stays', () => {
    const before = pod(nodeRef);
    const after = setControllerReference(foo, before);
    expect(after.metadata?.ownerReferences).toEqual([nodeRef, fooController]);
    expect(before.metadata?.ownerReferences).toEqual([nodeRef]);
    expect(after.spec).toBe(before.spec);
  });

  test('returns the same object when it is there already', () => {
    const owned = pod(fooController);
    expect(setControllerReference(foo, owned)).toBe(owned);
  });

  test('the same owner is updated in its place: new uid, new version, from mere owner to controller', () => {
    const stale = { ...fooRef, apiVersion: 'example.com/v1alpha1', uid: 'old' };
    expect(setControllerReference(foo, pod(stale, nodeRef)).metadata?.ownerReferences).toEqual([
      fooController,
      nodeRef,
    ]);
    const recreated = { ...fooController, uid: 'old' };
    expect(setControllerReference(foo, pod(recreated)).metadata?.ownerReferences).toEqual([fooController]);
  });

  test('the same name in another group is another owner', () => {
    const elsewhere = { ...fooRef, apiVersion: 'other.com/v1' };
    expect(setControllerReference(foo, pod(elsewhere)).metadata?.ownerReferences).toEqual([elsewhere, fooController]);
  });

  test('a second controller is refused', () => {
    const owned = pod(fooController);
    let error: unknown;
    try {
      setControllerReference(other, owned);
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(AlreadyOwnedError);
    expect(isAlreadyOwned(error) && error.owner).toEqual(fooController);
    expect(String(error)).toContain('Pod "shop/p" is already controlled by Foo "foo" (uid u-foo)');
    expect(isAlreadyOwned(new Error('x'))).toBe(false);
    expect(isAlreadyOwned(null)).toBe(false);
  });

  test('blockOwnerDeletion can be switched off', () => {
    const after = setControllerReference(foo, pod(), { blockOwnerDeletion: false });
    expect(controllerOf(after)?.blockOwnerDeletion).toBe(false);
  });

  test('an object without metadata gets some, where the owner is cluster-scoped', () => {
    const bare: WithMetadata = { kind: 'Pod' };
    expect(setControllerReference(cluster, bare)).toEqual({
      kind: 'Pod',
      metadata: { ownerReferences: [{ ...nodeRef, controller: true, blockOwnerDeletion: true }] },
    });
  });
});

describe.each([
  ['setControllerReference', setControllerReference],
  ['setOwnerReference', setOwnerReference],
])('%s', (_, set) => {
  test('refuses an owner in another namespace', () => {
    const elsewhere = { ...foo, metadata: { ...foo.metadata, namespace: 'bank' } };
    expect(() => set(elsewhere, pod())).toThrow('Foo "bank/foo" cannot own Pod "shop/p": an owner must be in the same');
  });

  test('refuses a namespaced owner of what has no namespace', () => {
    const node = { kind: 'ClusterRole', metadata: { name: 'r' } };
    expect(() => set(foo, node)).toThrow('set metadata.namespace to "shop"');
  });

  test('a cluster-scoped owner may own anything', () => {
    expect(hasOwnerReference(cluster, set(cluster, pod()))).toBe(true);
    expect(hasOwnerReference(cluster, set(cluster, { kind: 'ClusterRole', metadata: { name: 'r' } }))).toBe(true);
  });

  test('refuses an owner that was never stored or does not say what it is', () => {
    expect(() => set({ ...foo, metadata: { ...foo.metadata, uid: '' } }, pod())).toThrow(
      'it has no uid: only an object',
    );
    expect(() => set({ ...foo, kind: '' }, pod())).toThrow('it has no kind');
    expect(() => set({ ...foo, apiVersion: '' }, pod())).toThrow('it has no apiVersion');
  });
});

describe('setOwnerReference', () => {
  test('adds any number of owners, none of them a controller', () => {
    const both = setOwnerReference(cluster, setOwnerReference(foo, pod()));
    expect(both.metadata?.ownerReferences).toStrictEqual([fooRef, nodeRef]);
    expect(setOwnerReference(foo, both)).toBe(both);
    expect(setOwnerReference(foo, pod(), { blockOwnerDeletion: true }).metadata?.ownerReferences).toEqual([
      { ...fooRef, blockOwnerDeletion: true },
    ]);
  });

  test('goes along with a controller', () => {
    expect(setOwnerReference(other, pod(fooController)).metadata?.ownerReferences).toHaveLength(2);
  });
});

describe('removal', () => {
  test('takes the reference away, and the field with the last one', () => {
    expect(removeOwnerReference(foo, pod(nodeRef, fooController)).metadata?.ownerReferences).toEqual([nodeRef]);
    expect(removeOwnerReference(foo, pod(fooRef)).metadata).toStrictEqual({ name: 'p', namespace: 'shop' });
    expect(removeControllerReference(foo, pod(fooController, nodeRef)).metadata?.ownerReferences).toEqual([nodeRef]);
  });

  test('of what is not there is an error', () => {
    expect(() => removeOwnerReference(foo, pod())).toThrow('Pod "shop/p" has no owner reference to Foo "shop/foo"');
    expect(() => removeOwnerReference(foo, pod(nodeRef))).toThrow('has no owner reference');
    expect(() => removeControllerReference(foo, pod())).toThrow('has no owner reference');
    expect(() => removeControllerReference(foo, pod(fooRef))).toThrow('is owned by Foo "shop/foo", but not controlled');
    expect(() => removeControllerReference(other, pod(fooController))).toThrow('has no owner reference');
  });
});

test('questions', () => {
  expect(hasOwnerReference(foo, pod({ ...fooRef, uid: 'old' }))).toBe(true);
  expect(hasOwnerReference(foo, pod(nodeRef))).toBe(false);
  expect(hasControllerReference(pod(fooRef))).toBe(false);
  expect(hasControllerReference(pod(nodeRef, fooController))).toBe(true);
  expect(controllerOf(pod(nodeRef, fooController))).toEqual(fooController);
  expect(controllerOf({})).toBeUndefined();
  expect(isControlledBy(pod(fooController), foo)).toBe(true);
  expect(isControlledBy(pod(fooRef), foo)).toBe(false);
  expect(isControlledBy(pod({ ...fooController, uid: 'old' }), foo)).toBe(false);
});
