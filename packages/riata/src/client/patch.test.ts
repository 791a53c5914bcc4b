import { describe, expect, test } from 'vitest';
import { ConfigMap, type Deployment } from '../kinds/index.js';
import type { KubeObject } from '../object/meta.js';
import { clone } from '../object/value/clone.js';
import { isLossyObjectError, markLossy } from '../object/value/lossy.js';
import { jsonPatchFrom, mergeFrom, strategicMergeFrom } from './patch.js';

const metadata = { namespace: 'shop', name: 'a', uid: 'u', resourceVersion: '7', creationTimestamp: '' };
const before = { ...ConfigMap({ metadata: { name: 'a' } }), metadata, data: { a: '1', b: '2' } } as ConfigMap;
const after = { ...before, data: { a: '3' } };
const containers = (image: string) => [{ name: 'web', image }, { name: 'side' }];
const deployment = (image: string) =>
  ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: { selector: {}, template: { spec: { containers: containers(image) } } },
    status: {},
  }) satisfies Deployment;

describe('mergeFrom', () => {
  test('says what changed, null for what went', () => {
    expect(mergeFrom(before, after)).toEqual({ type: 'merge', body: { data: { a: '3', b: null } } });
    expect(mergeFrom(before, before)).toEqual({ type: 'merge', body: {} });
  });

  test('with the lock, the resourceVersion of before', () => {
    const changed = { ...after, metadata: { ...metadata, labels: { x: 'y' } } };
    expect(mergeFrom(before, changed, { optimisticLock: true }).body).toEqual({
      data: { a: '3', b: null },
      metadata: { labels: { x: 'y' }, resourceVersion: '7' },
    });
    expect(mergeFrom(before, before, { optimisticLock: true }).body).toEqual({ metadata: { resourceVersion: '7' } });
  });
});

describe('jsonPatchFrom', () => {
  test('says what changed', () => {
    expect(jsonPatchFrom(before, after)).toEqual({
      type: 'json',
      body: expect.arrayContaining([{ op: 'replace', path: '/data/a', value: '3' }]),
    });
  });

  test('with the lock, pins the resourceVersion of before', () => {
    expect(jsonPatchFrom(before, before, { optimisticLock: true }).body).toEqual([
      { op: 'add', path: '/metadata/resourceVersion', value: '7' },
    ]);
  });
});

describe('strategicMergeFrom', () => {
  test('changes elements of keyed lists one by one', () => {
    const { type, body } = strategicMergeFrom(deployment('a'), deployment('b'), { optimisticLock: true });
    expect(type).toBe('strategic');
    expect(body).toMatchObject({
      metadata: { resourceVersion: '7' },
      spec: { template: { spec: { containers: [{ name: 'web', image: 'b' }] } } },
    });
    expect(mergeFrom(deployment('a'), deployment('b')).body).toEqual({
      spec: { template: { spec: { containers: containers('b') } } },
    });
  });

  test('refuses kinds that are not built in', () => {
    const custom: KubeObject = { apiVersion: 'x.dev/v1', kind: 'Gadget', metadata };
    expect(() => strategicMergeFrom(custom, custom)).toThrow('x.dev/v1 Gadget is not a built-in kind');
  });
});

test.each([mergeFrom, jsonPatchFrom, strategicMergeFrom])('%o: the lock requires a resourceVersion', (from) => {
  const unread = { ...before, metadata: { ...metadata, resourceVersion: '' } };
  expect(() => from(unread, after, { optimisticLock: true })).toThrow('it has no resourceVersion');
});

describe('integers past 2^53', () => {
  type Custom = KubeObject & { spec: { n: number; m: number; list: { big: number | bigint; other: number }[] } };
  const read = markLossy<Custom>(
    {
      apiVersion: 'x.dev/v1',
      kind: 'Gadget',
      metadata,
      spec: { n: 2 ** 53 + 2, m: 1, list: [{ big: 2 ** 53 + 2, other: 1 }] },
    },
    'unsafe-integer',
    ['spec.n', 'spec.list[0].big'],
  );

  test('are left out where nothing changes', () => {
    const changed = clone(read) as { spec: { m: number } } & Custom;
    changed.spec.m = 2;
    expect(mergeFrom(read, changed).body).toEqual({ spec: { m: 2 } });
  });

  test('are never written back rounded: a list that is replaced whole would do it', () => {
    const changed = clone(read) as Custom;
    changed.spec.list[0]!.other = 2;
    expect(() => mergeFrom(read, changed)).toThrow(/patch Gadget shop\/a refused.*spec\.list\[0\]\.big/);
    try {
      mergeFrom(read, changed);
    } catch (error) {
      expect(isLossyObjectError(error)).toBe(true);
    }
    // A JSON patch names the one field.
    expect(jsonPatchFrom(read, changed).body).toEqual([{ op: 'replace', path: '/spec/list/0/other', value: 2 }]);
  });

  test('can be given in full', () => {
    const changed = clone(read) as Custom;
    changed.spec.list = [{ big: 9007199254740995n, other: 2 }];
    expect(mergeFrom(read, changed).body).toEqual({ spec: { list: [{ big: 9007199254740995n, other: 2 }] } });
  });
});
