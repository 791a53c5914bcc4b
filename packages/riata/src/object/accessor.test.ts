import { describe, expect, expectTypeOf, test } from 'vitest';
import { accessor, isKubeList, isKubeObject, listItems } from './accessor.js';
import type { KubeList, ObjectMeta } from './meta.js';
import { lossOf, markLossy } from './value/lossy.js';

const metadata: Required<ObjectMeta> = {
  name: 'cart',
  generateName: 'cart-',
  namespace: 'shop',
  selfLink: '/x',
  uid: 'u1',
  resourceVersion: '7',
  generation: 2,
  creationTimestamp: '2026-01-01T00:00:00Z',
  deletionTimestamp: '2026-01-02T00:00:00Z',
  deletionGracePeriodSeconds: 30,
  labels: { a: 'b' },
  annotations: JSON.parse('{"__proto__":"x","constructor":"y"}'),
  ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' }],
  finalizers: ['example.com/f'],
  managedFields: [{ manager: 'm' }],
};
const pod = { apiVersion: 'v1', kind: 'Pod', metadata };

describe('accessor', () => {
  test('gives every field of the metadata', () => {
    const access = accessor(pod);
    for (const field of Object.keys(metadata) as (keyof ObjectMeta)[]) expect(access[field]).toBe(metadata[field]);
    expect([access.apiVersion, access.kind, access.object]).toEqual(['v1', 'Pod', pod]);
    expect(Object.keys(access.annotations ?? {})).toEqual(['__proto__', 'constructor']);
    expectTypeOf(access.generation).toEqualTypeOf<number | undefined>();
  });

  test('what is missing or null is undefined', () => {
    const access = accessor({ metadata: { labels: null, creationTimestamp: null } });
    for (const field of Object.keys(metadata) as (keyof ObjectMeta)[]) expect(access[field]).toBeUndefined();
    expect(accessor({ apiVersion: 'v1', kind: 'Pod' }).name).toBeUndefined();
  });

  test.each([
    [undefined, 'got undefined'],
    [null, 'got null'],
    ['pod', 'got a string'],
    [[pod], 'got an array'],
    [{}, 'neither metadata nor apiVersion and kind'],
    [{ kind: 'Pod' }, 'neither metadata nor apiVersion and kind'],
    [{ ...pod, metadata: 'x' }, 'v1 Pod: expected metadata to be an object, got a string'],
    [{ apiVersion: 'v1', kind: 'PodList', items: [] }, 'got the list "PodList": use listItems(list)'],
  ])('refuses %j', (value, message) => {
    expect(() => accessor(value)).toThrow(TypeError);
    expect(() => accessor(value)).toThrow(message);
  });

  test.each([
    ['name', 1, 'a string'],
    ['generation', '1', 'a number'],
    ['labels', ['a'], 'an object of strings'],
    ['annotations', { a: 1 }, 'an object of strings'],
    ['finalizers', [1], 'an array of strings'],
    ['finalizers', 'x', 'an array of strings'],
    ['ownerReferences', [{ name: 'x' }], 'an array of references'],
    ['managedFields', ['x'], 'an array of objects'],
  ] as const)('refuses metadata.%s %j', (field, value, expected) => {
    const access = accessor({ ...pod, metadata: { ...metadata, [field]: value } });
    expect(() => access[field]).toThrow(`expected metadata.${field} to be ${expected}`);
  });

  test('a message names the object but shows none of its contents', () => {
    const access = accessor({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's', annotations: { k: ['hunter2'] } },
    });
    expect(() => access.annotations).toThrow(
      /^v1 Secret "s": expected metadata.annotations to be an object of strings, got an object$/,
    );
  });
});

describe('isKubeObject and isKubeList', () => {
  test('distinguish objects from lists', () => {
    expect(isKubeObject(pod)).toBe(true);
    expect(isKubeList(pod)).toBe(false);
    const list = { apiVersion: 'v1', kind: 'PodList', metadata: { resourceVersion: '1' }, items: [] };
    expect(isKubeObject(list)).toBe(false);
    expect(isKubeList(list)).toBe(true);
  });

  test('a resource with the word list in its kind is not a list', () => {
    const allow = {
      apiVersion: 'net.example.com/v1',
      kind: 'AllowList',
      metadata: { name: 'a' },
      items: ['10.0.0.0/8'],
    };
    expect(isKubeObject(allow)).toBe(true);
    expect(isKubeList(allow)).toBe(false);
  });

  test.each([null, 1, 'x', [], {}, { apiVersion: 'v1', kind: 'Pod' }, { apiVersion: 'v1', kind: 'Pod', metadata: {} }])(
    '%j is neither',
    (value) => {
      expect(isKubeObject(value)).toBe(false);
      expect(isKubeList(value)).toBe(false);
    },
  );
});

describe('listItems', () => {
  test('fills in the kind of the list, in copies', () => {
    const bare = Object.freeze({ metadata: { name: 'a' } });
    const full = { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'b' } };
    const list = { apiVersion: 'v1', kind: 'PodList', metadata: {}, items: [bare, full] };
    const items = listItems(list);
    expect(JSON.stringify(items[0])).toBe('{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}');
    expect(items[1]).toBe(full);
  });

  test('fills in only what is missing, and remembers what was lost', () => {
    const item = markLossy({ kind: 'Special', apiVersion: '', x: 1 }, 'transformed');
    const [filled] = listItems({ apiVersion: 'a/v1', kind: 'FooList', metadata: {}, items: [item] });
    expect(filled).toEqual({ apiVersion: 'a/v1', kind: 'Special', x: 1 });
    expect(lossOf(filled as object)).toEqual(lossOf(item));
  });

  test('keeps mixed kinds and raw items', () => {
    const items = [pod, { apiVersion: 'apps/v1', kind: 'Deployment' }, 'raw', null, { untyped: true }];
    const list = { apiVersion: 'v1', kind: 'List', metadata: {}, items };
    expect(listItems(list)).toBe(items);
    const typed = listItems({ ...list, kind: 'PodList' });
    expect(typed.slice(0, 4)).toEqual(items.slice(0, 4));
    expect(typed[0]).toBe(pod);
  });

  test('null is the empty list of Go', () => {
    expect(listItems({ apiVersion: 'v1', kind: 'PodList', metadata: {}, items: null })).toEqual([]);
  });

  test.each([null, [], { kind: 'Pod', apiVersion: 'v1' }, { kind: 'PodList', apiVersion: 'v1', items: {} }])(
    'refuses %j',
    (value) => {
      expect(() => listItems(value)).toThrow(TypeError);
    },
  );

  test('keeps the type of the items', () => {
    const list: KubeList<{ readonly spec: 1 }> = { apiVersion: 'v1', kind: 'PodList', metadata: {}, items: [] };
    expectTypeOf(listItems(list)).toEqualTypeOf<readonly { readonly spec: 1 }[]>();
    expect(listItems(list)).toHaveLength(0);
  });
});
