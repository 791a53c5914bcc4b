import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../object/meta.js';
import { DeletedFinalStateUnknown } from '../informer/deleted-final-state-unknown.js';
import { createIndexer, createStore } from './indexer.js';
import { byNamespace, deletionHandlingKeyOf, KeyError } from './key-func.js';
import { type Store, TransactionError } from './store.js';

const pod = (name: string, users?: string, resourceVersion = '1'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    ...{ namespace: 'shop', name, uid: name, resourceVersion, creationTimestamp: '2026-01-01T00:00:00Z' },
    ...(users && { annotations: { users } }),
  },
});
const byUser = (obj: KubeObject) => obj.metadata.annotations?.users?.split(',') ?? [];
const nameless = { apiVersion: 'v1', kind: 'Pod', metadata: {} } as unknown as KubeObject;

describe('a store', () => {
  const stores: [string, () => Store<KubeObject>][] = [
    ['createStore', () => createStore<KubeObject>()],
    ['createIndexer', () => createIndexer<KubeObject>({ indexers: { byUser, byNamespace } })],
  ];

  test.each(stores)('%s: add, update, delete, get, list and replace', (_, create) => {
    const store = create();
    const [a, b] = [pod('a'), pod('b')];
    store.add(a);
    expect(store.get(pod('a'))).toBe(a);
    expect(store.getByKey('shop/a')).toBe(a);
    const newer = pod('a', undefined, '2');
    store.update(newer);
    expect(store.get(a)).toBe(newer);
    store.add(b);
    store.delete(a);
    expect(store.get(a)).toBeUndefined();
    expect(store.list()).toEqual([b]);
    const list = ['c', 'd', 'e'].map((name) => pod(name));
    store.replace(list, '10');
    expect(store.list()).toEqual(list);
    expect(store.listKeys()).toEqual(['shop/c', 'shop/d', 'shop/e']);
    expect(store.lastStoreSyncResourceVersion()).toBe('10');
    store.bookmark('11');
    store.resync();
    expect(store.lastStoreSyncResourceVersion()).toBe('11');
    store.delete(new DeletedFinalStateUnknown('shop/d'));
    expect(store.listKeys()).toEqual(['shop/c', 'shop/e']);
    expect(store.lastStoreSyncResourceVersion()).toBe('11');
  });

  test('what has no key is refused with a KeyError, and nothing has changed', () => {
    const store = createStore<KubeObject>();
    store.add(pod('a'));
    for (const write of [
      () => store.add(nameless),
      () => store.update(nameless),
      () => store.delete(nameless),
      () => store.replace([pod('b'), nameless], '5'),
      () => store.add('text' as never),
    ]) {
      expect(write).toThrow(KeyError);
    }
    expect(() => store.add(nameless)).toThrow('could not make a key for Pod without a name: ');
    expect(() => store.add('text' as never)).toThrow('expected an object with metadata, got a string');
    expect(store.listKeys()).toEqual(['shop/a']);
  });

  test('a transform changes what is kept, not what is deleted', () => {
    const store = createStore<KubeObject>({ transform: (obj) => pod(obj.metadata.name, 'seen') });
    store.add(pod('a'));
    store.update(pod('b'));
    expect(store.list().map(byUser)).toEqual([['seen'], ['seen']]);
    store.replace([pod('c')], '1');
    expect(store.list().map(byUser)).toEqual([['seen']]);
    store.delete(pod('c'));
    expect(store.list()).toEqual([]);
  });

  test('another key function', () => {
    const store = createStore<{ id: number }>({ keyFunc: ({ id }) => `#${id}` });
    store.add({ id: 7 });
    expect(store.getByKey('#7')).toEqual({ id: 7 });
  });
});

describe('an indexer', () => {
  test('index func values', () => {
    const index = createIndexer<KubeObject>({ indexers: { byUser } });
    for (const [name, users] of [
      ['one', 'foo'],
      ['two', 'bar'],
      ['tre', 'foo'],
    ] as const) {
      index.add(pod(name, users));
    }
    expect(index.listIndexFuncValues('byUser').sort()).toEqual(['bar', 'foo']);
  });

  test('multi index keys', () => {
    const index = createIndexer<KubeObject>({ indexers: { byUser } });
    index.add(pod('one', 'ernie,bert'));
    index.add(pod('two', 'bert,oscar'));
    index.add(pod('tre', 'ernie,elmo'));
    const users = () =>
      Object.fromEntries(
        ['ernie', 'bert', 'elmo', 'oscar'].map((user) => [
          user,
          index.byIndex('byUser', user).map((o) => o.metadata.name),
        ]),
      );
    expect(users()).toEqual({ ernie: ['one', 'tre'], bert: ['one', 'two'], elmo: ['tre'], oscar: ['two'] });
    expect(index.indexKeys('byUser', 'ernie')).toEqual(['shop/one', 'shop/tre']);
    expect(index.index('byUser', pod('x', 'ernie,oscar'))).toHaveLength(3);
    index.delete(pod('tre'));
    expect(users()).toEqual({ ernie: ['one'], bert: ['one', 'two'], elmo: [], oscar: ['two'] });
    index.update(pod('two', 'elmo'));
    expect(users()).toEqual({ ernie: ['one'], bert: ['one'], elmo: ['two'], oscar: [] });
  });

  test('by namespace; objects without one are under the empty name', () => {
    const index = createIndexer<KubeObject>({ indexers: { byNamespace } });
    const { namespace: _, ...metadata } = pod('node').metadata;
    index.add(pod('a'));
    index.add({ ...pod('node'), metadata });
    expect(index.indexKeys('byNamespace', 'shop')).toEqual(['shop/a']);
    expect(index.indexKeys('byNamespace', '')).toEqual(['node']);
  });

  test('getIndexers gives a copy, addIndexers refuses names that are taken', () => {
    const index = createIndexer<KubeObject>({ indexers: { byUser } });
    Object.assign(index.getIndexers(), { more: () => [] });
    expect(Object.keys(index.getIndexers())).toEqual(['byUser']);
    expect(() => index.addIndexers({ byUser })).toThrow('already exists');
    index.addIndexers({ byNamespace });
    expect(Object.keys(index.getIndexers())).toEqual(['byUser', 'byNamespace']);
  });
});

describe('a transaction', () => {
  const index = () =>
    createIndexer<KubeObject>({
      indexers: {
        byUser: (obj) => {
          if (byUser(obj).includes('bad')) throw new Error('bad user');
          return byUser(obj);
        },
      },
    });

  test('carries all out in order', () => {
    const store = index();
    store.add(pod('old', 'foo'));
    store.transaction([
      { type: 'Add', object: pod('a', 'foo') },
      { type: 'Update', object: pod('a', 'bar', '4') },
      { type: 'Delete', object: pod('old') },
      { type: 'Delete', object: new DeletedFinalStateUnknown('shop/none') },
    ]);
    expect(store.indexKeys('byUser', 'bar')).toEqual(['shop/a']);
    expect(store.listIndexFuncValues('byUser')).toEqual(['bar']);
    store.transaction([]);
    expect(store.listKeys()).toEqual(['shop/a']);
  });

  test('reports the indexes of those that worked', () => {
    const store = index();
    let failure: unknown;
    try {
      store.transaction([
        { type: 'Add', object: pod('a') },
        { type: 'Add', object: pod('b', 'bad') },
        { type: 'Update', object: pod('c') },
        { type: 'Delete', object: nameless },
        { type: 'Add', object: pod('d') },
      ]);
    } catch (error) {
      failure = error;
    }
    expect(failure).toBeInstanceOf(TransactionError);
    expect(failure).toMatchObject({ successfulIndices: [0, 2, 4], totalTransactions: 5 });
    expect((failure as TransactionError).errors.map((e: Error) => e.name)).toEqual(['Error', 'KeyError']);
    expect((failure as Error).message).toContain('2 of 5 writes to the store failed; the first: index "byUser"');
    expect(store.listKeys()).toEqual(['shop/a', 'shop/c', 'shop/d']);
  });
});

test('deletionHandlingKeyOf knows objects and tombstones', () => {
  expect(deletionHandlingKeyOf(pod('a'))).toBe('shop/a');
  expect(deletionHandlingKeyOf(new DeletedFinalStateUnknown('shop/b'))).toBe('shop/b');
  expect(() => deletionHandlingKeyOf({})).toThrow(TypeError);
});
