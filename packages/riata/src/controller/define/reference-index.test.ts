import { expect, test } from 'vitest';
import { StoredChange } from '../../cache/informer/change.js';
import type { KubeObject } from '../../object/meta.js';
import { ReferenceIndex } from './reference-index.js';

function pod(name: string, refersTo: readonly string[]): KubeObject {
  const metadata = { namespace: 'shop', name, uid: 'u', resourceVersion: '1', creationTimestamp: '' };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, finalizers: refersTo } };
}

function setUp() {
  const index = new ReferenceIndex(({ metadata: { finalizers = [] } }) => {
    if (finalizers.includes('bad')) throw new Error('no luck');
    return finalizers;
  });
  let known = new Map<string, KubeObject>();
  const report = (name: string, refersTo: readonly string[] | undefined) => {
    const [old, now] = [known.get(name), refersTo && pod(name, refersTo)];
    const type = old === undefined ? 'Added' : now === undefined ? 'Deleted' : 'Updated';
    index.take(new StoredChange(type, `shop/${name}`, old, now));
    known = new Map(known);
    if (now === undefined) known.delete(name);
    else known.set(name, now);
  };
  return { index, report, to: (key: string) => [...index.referringTo(key)] };
}

test('the objects that refer to a key: by their last known references', () => {
  const { report, to } = setUp();
  report('a', ['x', 'y']);
  report('b', ['x']);
  expect([to('x'), to('y'), to('z')]).toEqual([['shop/a', 'shop/b'], ['shop/a'], []]);
  report('a', ['z', 'z']);
  expect([to('x'), to('y'), to('z')]).toEqual([['shop/b'], [], ['shop/a']]);
  report('b', undefined);
  report('a', []);
  expect([to('x'), to('y'), to('z')]).toEqual([[], [], []]);
});

test('an object whose references fail keeps its former ones, and does not affect others', () => {
  const { report, to } = setUp();
  report('a', ['x']);
  expect(() => report('a', ['bad'])).toThrow('no luck');
  report('b', ['x']);
  expect(to('x')).toEqual(['shop/a', 'shop/b']);
});
