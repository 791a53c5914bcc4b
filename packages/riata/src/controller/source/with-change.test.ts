import { expect, test } from 'vitest';
import { type Change, StoredChange } from '../../cache/informer/change.js';
import type { KubeObject } from '../../object/meta.js';
import { withChange } from './with-change.js';

function version(resourceVersion: number, uid = 'u'): KubeObject {
  const metadata = { namespace: 'shop', name: 'a', uid, resourceVersion: `${resourceVersion}`, creationTimestamp: '' };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata };
}

const [first, second, third, other] = [version(1), version(2), version(3), version(4, 'another')];
const added = (now: KubeObject, isInInitialList = false) =>
  new StoredChange('Added', 'shop/a', undefined, now, { isInInitialList });
const updated = (old: KubeObject, now: KubeObject) => new StoredChange('Updated', 'shop/a', old, now);
const deleted = (old: KubeObject) => new StoredChange('Deleted', 'shop/a', old, undefined);
const sync = (now: KubeObject) => new StoredChange('Sync', 'shop/a', now, now);

/** `Updated 1>3`, as the handler must receive it. */
const shown = (changes: readonly Change<KubeObject>[]) =>
  changes.map(({ type, old, new: now }) => {
    const [from, to] = [old?.metadata.resourceVersion ?? '', now?.metadata.resourceVersion ?? ''];
    return `${type} ${from}>${to}`;
  });

test.each<[string, readonly StoredChange<KubeObject>[], readonly string[]]>([
  ['never taken, changed', [added(first), updated(first, second)], ['Added >2']],
  ['never taken, gone', [added(first), updated(first, second), deleted(second)], []],
  ['taken, changed twice', [updated(first, second), updated(second, third)], ['Updated 1>3']],
  ['taken, changed, gone: as it was taken', [updated(first, second), deleted(second)], ['Deleted 1>']],
  ['looked at again', [added(first), sync(first)], ['Added >1']],
  ['looked at again twice', [sync(first), sync(first)], ['Sync 1>1']],
  ['looked at again, then changed', [sync(first), updated(first, second)], ['Updated 1>2']],
  ['gone, another one in its place', [deleted(first), added(other)], ['Deleted 1>', 'Added >4']],
  ['and that one gone, too', [deleted(first), added(other), deleted(other)], ['Deleted 1>']],
  ['never taken, gone, another one', [added(first), deleted(first), added(other)], ['Added >4']],
])('%s', (_, changes, expected) => {
  expect(shown(changes.reduce<readonly Change<KubeObject>[]>(withChange, []))).toEqual(expected);
});

test('what was there at the start is not urgent as long as nothing has changed', () => {
  const isInitial = (...changes: StoredChange<KubeObject>[]) =>
    changes.reduce<readonly Change<KubeObject>[]>(withChange, [])[0]?.isInInitialList;
  expect(isInitial(added(first, true), sync(first))).toBe(true);
  expect(isInitial(added(first, true), updated(first, second))).toBe(false);
});
