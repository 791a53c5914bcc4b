import { describe, expect, test } from 'vitest';
import { ConfigMap, Deployment } from '../../kinds/index.js';
import type { KubeObject } from '../../object/meta.js';
import { controllerOf } from '../../object/owner-references.js';
import { applyMergePatch } from '../../object/patch/merge-patch.js';
import { freeze } from '../../object/value/freeze.js';
import { createOrPatch, createOrUpdate } from './create-or-update.js';

const key = { namespace: 'shop', name: 'cart' };
const meta = { ...key, uid: 'u', resourceVersion: '1', creationTimestamp: '' };

/** A client over one object, and what it was asked to write. */
function over(stored: object | undefined) {
  let current = stored === undefined ? undefined : freeze(stored);
  const writes: unknown[] = [];
  const patching = (what: string) => async (_kind: unknown, _key: unknown, patch: { body: object }) => {
    writes.push([what, patch.body]);
    current = freeze(applyMergePatch(current as never, patch.body as never) as object);
    return current;
  };
  const put = (what: string) => async (object: object) => {
    writes.push([what, object]);
    current = freeze({ ...object });
    return current;
  };
  const client = {
    find: async () => current,
    create: put('create'),
    update: put('update'),
    patch: patching('patch'),
    status: { patch: patching('patch status') },
  } as unknown as Parameters<typeof createOrUpdate>[0];
  return { client, writes, current: () => current as KubeObject | undefined };
}

const cart = (data?: Record<string, string>) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: meta, data });
const web = (status?: object) => ({
  ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: meta },
  ...{ spec: { replicas: 1 }, ...(status && { status }) },
});

describe.each([
  ['createOrUpdate', createOrUpdate],
  ['createOrPatch', createOrPatch],
])('%s', (_, createOr) => {
  test('creates what is not there', async () => {
    const { client, writes } = over(undefined);
    const { result, object } = await createOr(client, ConfigMap, key, (draft) => {
      draft.data = { ...draft.data, size: '3' };
    });
    expect(result).toBe('created');
    expect(object.data).toEqual({ size: '3' });
    expect(writes).toEqual([
      [
        'create',
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'cart', namespace: 'shop' }, data: { size: '3' } },
      ],
    ]);
  });

  test('sets an owner if requested, which is a no-op the next time; never takes one from another owner', async () => {
    const owner = { ...web(), metadata: { ...meta, name: 'shop-owner', uid: 'o' } } as KubeObject;
    const { client, writes, current } = over(undefined);
    const set = (draft: { data?: Record<string, string> }) => {
      draft.data = { size: '3' };
    };
    const createOrOwned = (ownedBy: KubeObject) => createOr(client, ConfigMap, key, set, { ownedBy });
    const { result, object } = await createOrOwned(owner);
    expect([result, controllerOf(object)]).toMatchObject(['created', { kind: 'Deployment', uid: 'o' }]);
    expect((await createOrOwned(owner)).result).toBe('unchanged');
    expect(writes).toHaveLength(1);
    const other = { ...owner, metadata: { ...owner.metadata, name: 'other', uid: 'p' } };
    await expect(createOrOwned(other)).rejects.toThrow('is already controlled by Deployment "shop-owner"');
    expect(controllerOf(current() as KubeObject)?.uid).toBe('o');
  });

  test('a mutate function that returns another object, or a promise, is refused', async () => {
    const { client, writes } = over(cart());
    const copying = (draft: object) => ({ ...draft, data: { size: '3' } });
    await expect(createOr(client, ConfigMap, key, copying)).rejects.toThrow(
      'returned an object that is not part of the draft; change the draft in place',
    );
    await expect(createOr(client, ConfigMap, key, async () => {})).rejects.toThrow(
      'is async, so its changes would be lost',
    );
    await createOr(client, ConfigMap, key, (draft) => draft);
    expect(writes).toEqual([]);
  });

  test('writes nothing if nothing changes', async () => {
    const stored = cart({ size: '3' });
    const { client, writes } = over(stored);
    const outcome = await createOr(client, ConfigMap, key, (draft) => {
      draft.data = { size: '3' };
    });
    expect(outcome).toEqual({ result: 'unchanged', object: stored });
    expect(writes).toEqual([]);
  });

  test('nor if what was not there is empty, which servers do not store', async () => {
    const { client, writes } = over(cart({ size: '3' }));
    const { result } = await createOr(client, ConfigMap, key, (draft) => {
      draft.metadata.labels ??= {};
      draft.metadata.annotations = {};
      draft.metadata.finalizers = [];
    });
    expect([result, writes]).toEqual(['unchanged', []]);
  });

  test('takes away the last label', async () => {
    const { client, writes } = over({ ...cart(), metadata: { ...meta, labels: { a: 'b' } } });
    const { result } = await createOr(client, ConfigMap, key, (draft) => {
      draft.metadata.labels = {};
    });
    expect([result, writes.length]).toEqual(['updated', 1]);
  });

  test('refuses another kind, and anything but an object', async () => {
    const { client, writes } = over(undefined);
    const corrupt = (change: (draft: Record<string, unknown>) => void) =>
      createOr(client, ConfigMap, key, change as unknown as (draft: object) => void);
    const changed = 'ConfigMap shop/cart: the mutate function has changed its name or namespace, or its kind, to';
    await expect(corrupt((draft) => Object.assign(draft, { kind: 'Secret' }))).rejects.toThrow(
      `${changed} v1 Secret shop/cart;`,
    );
    await expect(corrupt((draft) => delete draft.metadata)).rejects.toThrow(changed);
    expect(writes).toEqual([]);
  });

  test('refuses another name', async () => {
    const { client, writes } = over(cart());
    const outcome = createOr(client, ConfigMap, key, (draft) => {
      draft.metadata.name = 'other';
    });
    await expect(outcome).rejects.toThrow('ConfigMap shop/cart: the mutate function has changed its name or namespace');
    expect(writes).toEqual([]);
  });
});

test('createOrUpdate replaces the object, with the version that was read', async () => {
  const { client, writes } = over(cart({ size: '3', colour: 'red' }));
  const { result } = await createOrUpdate(client, ConfigMap, key, (draft) => {
    draft.data = { ...draft.data, size: '4' };
  });
  expect(result).toBe('updated');
  expect(writes).toEqual([['update', cart({ size: '4', colour: 'red' })]]);
});

describe('createOrPatch sends what has changed', () => {
  test('of an object without a status', async () => {
    const { client, writes } = over(cart({ size: '3', colour: 'red' }));
    const { result, object } = await createOrPatch(client, ConfigMap, key, (draft) => {
      draft.data = { size: '4' };
    });
    expect([result, object.data]).toEqual(['updated', { size: '4' }]);
    expect(writes).toEqual([['patch', { data: { size: '4', colour: null } }]]);
  });

  test.each([
    ['updated', { replicas: 2 }, undefined, [['patch', { spec: { replicas: 2 } }]]],
    ['updatedStatusOnly', undefined, { replicas: 5 }, [['patch status', { status: { replicas: 5 } }]]],
    [
      'updatedStatus',
      { replicas: 2 },
      { replicas: 5 },
      [
        ['patch', { spec: { replicas: 2 } }],
        ['patch status', { status: { replicas: 5 } }],
      ],
    ],
  ])('%s', async (expected, spec, status, requests) => {
    const { client, writes, current } = over(web({ replicas: 1 }));
    const { result, object } = await createOrPatch(client, Deployment, key, (draft) => {
      if (spec) draft.spec = spec as never;
      if (status) draft.status = status;
    });
    expect(result).toBe(expected);
    expect(writes).toEqual(requests);
    expect(object).toBe(current());
  });

  test('also the status of a new object, which a server drops', async () => {
    const { client, writes } = over(undefined);
    const { result } = await createOrPatch(client, Deployment, key, (draft) => {
      draft.status = { replicas: 5 };
    });
    expect(result).toBe('created');
    expect(writes).toMatchObject([
      ['create', {}],
      ['patch status', { status: { replicas: 5 } }],
    ]);
  });
});
