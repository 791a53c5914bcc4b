import { describe, expect, test } from 'vitest';
import { StoredChange } from '../../cache/informer/change.js';
import type { KubeObject } from '../../object/meta.js';
import {
  and,
  annotationsChanged,
  changed,
  generationChanged,
  labelsChanged,
  matchesLabels,
  not,
  or,
  predicateFuncs,
  resourceVersionChanged,
} from './predicate.js';

interface Thing extends KubeObject {
  readonly spec?: { readonly x?: unknown };
}

function thing(metadata: object = {}, x: unknown = 1): Thing {
  const meta = { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '', generation: 1, ...metadata };
  return { apiVersion: 'v1', kind: 'Thing', metadata: meta, spec: { x } };
}

const added = (object: Thing) => new StoredChange<Thing>('Added', 'a', undefined, object);
const updated = (old: Thing, now: Thing) => new StoredChange<Thing>('Updated', 'a', old, now);
const deleted = (object: Thing) => new StoredChange<Thing>('Deleted', 'a', object, undefined);
const resynced = (object: Thing) => new StoredChange<Thing>('Sync', 'a', object, object);

describe('what changed', () => {
  test.each([
    ['generationChanged', generationChanged, { generation: 2 }, { resourceVersion: '2' }],
    ['resourceVersionChanged', resourceVersionChanged, { resourceVersion: '2' }, { generation: 2 }],
    ['annotationsChanged', annotationsChanged, { annotations: { a: 'b' } }, { annotations: {} }],
    ['labelsChanged', labelsChanged, { labels: { a: 'b' } }, { labels: {} }],
  ])('%s', (_, predicate, different, same) => {
    expect(predicate(updated(thing(), thing(different)))).toBe(true);
    expect(predicate(updated(thing(), thing(same)))).toBe(false);
    expect(predicate(resynced(thing()))).toBe(false);
    expect([predicate(added(thing())), predicate(deleted(thing()))]).toEqual([true, true]);
  });

  test('a field of one’s own, compared deeply', () => {
    const predicate = changed<Thing>((object) => object.spec?.x);
    expect(predicate(updated(thing({}, { deep: [1] }), thing({ generation: 2 }, { deep: [1] })))).toBe(false);
    expect(predicate(updated(thing({}, { deep: [1] }), thing({}, { deep: [2] })))).toBe(true);
  });
});

test('labels: those that match, and the change by which one no longer does', () => {
  const predicate = matchesLabels('app=web');
  const web = thing({ labels: { app: 'web' } });
  const db = thing({ labels: { app: 'db' } });
  expect([predicate(added(web)), predicate(added(db)), predicate(deleted(web))]).toEqual([true, false, true]);
  expect([predicate(updated(web, db)), predicate(updated(db, web)), predicate(updated(db, db))]).toEqual([
    true,
    true,
    false,
  ]);
  expect(matchesLabels({ matchLabels: { app: 'web' } })(added(web))).toBe(true);
});

test('and, or, not', () => {
  const yes = () => true;
  const no = () => false;
  const change = added(thing());
  expect([and(yes, yes), and(yes, no), and(), or(no, yes), or(no, no), or(), not(no)].map((p) => p(change))).toEqual([
    true,
    false,
    true,
    true,
    false,
    false,
    true,
  ]);
});

test('by kind of change', () => {
  const predicate = predicateFuncs<Thing>({
    create: (_, isInInitialList) => isInInitialList,
    update: (old, now) => old !== now,
  });
  expect(predicate(added(thing()))).toBe(false);
  expect(predicate(new StoredChange<Thing>('Added', 'a', undefined, thing(), { isInInitialList: true }))).toBe(true);
  expect([predicate(updated(thing(), thing())), predicate(resynced(thing()))]).toEqual([true, false]);
  expect(predicate(deleted(thing()))).toBe(true);
});
