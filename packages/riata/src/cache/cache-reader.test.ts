import { expect, test } from 'vitest';
import type { Client } from '../client/interfaces.js';
import { keyOf } from '../object/key.js';
import { makeKind } from '../object/kind.js';
import type { KubeObject } from '../object/meta.js';
import { isFrozenDeep } from '../object/value/freeze.js';
import { silentLogger } from '../runtime/log/logger.js';
import { memoryMetrics } from '../runtime/metrics.js';
import { VirtualClock } from '../runtime/time/virtual-clock.js';
import { CacheReader } from './cache-reader.js';
import type { KindCache } from './kind-cache.js';
import { OwnWrites } from './own-writes/own-writes.js';
import { OwnWritesView } from './own-writes/own-writes-view.js';
import { createIndexer } from './store/indexer.js';
import { InformerStore } from './store/informer-store.js';

const Thing = makeKind<KubeObject, 'Namespaced'>({
  ...{ group: 'test.riata.dev', version: 'v1', kind: 'Thing', plural: 'things', scope: 'Namespaced' },
});
const key = { namespace: 'shop', name: 'a' };

/** One that has all. */
const informer = { name: 'things', withheld: 0, withheldError: () => undefined, unindexed: () => 0 };

function thing(uid: string, resourceVersion: string): KubeObject {
  const metadata = { ...key, uid, resourceVersion, creationTimestamp: '' };
  return { apiVersion: 'test.riata.dev/v1', kind: 'Thing', metadata };
}

/** A reader over one kind; `answers` are what the server says, one request after the other. */
function reading(answers: readonly (() => KubeObject | undefined)[]) {
  const clock = new VirtualClock();
  const base = createIndexer<KubeObject>();
  const writes = new OwnWrites<KubeObject>({ clock, metrics: memoryMetrics(), name: 'things' });
  const view = new OwnWritesView<KubeObject>(base, writes, keyOf);
  let asked = 0;
  const live = { find: async () => answers[asked++]?.() } as unknown as Client;
  const member = { view, writes, informer, admit: (object: KubeObject) => ({ object }) };
  const cache = { memberFor: () => member, hasSynced: () => true } as unknown as KindCache;
  const reader = new CacheReader(live, { undeclared: 'fail', catchUpMs: 2_000, clock, log: silentLogger });
  return {
    ...{ base, writes },
    asked: () => asked,
    find: async () => (await reader.find(Thing, key, {}, cache))?.metadata,
  };
}

test('after a lost answer the server is asked once, and what it says is seen', async () => {
  const t = reading([() => thing('u1', '12')]);
  t.base.add(thing('u1', '9'));
  t.writes.markUncertain('shop/a');
  expect(await t.find()).toMatchObject({ uid: 'u1', resourceVersion: '12' });
  expect(await t.find()).toMatchObject({ uid: 'u1', resourceVersion: '12' });
  expect(t.asked()).toBe(1);
});

test('after a lost answer an object that is gone is not seen, also if another one of that name was deleted before', async () => {
  const t = reading([() => undefined]);
  t.writes.deleted('shop/a', 'u1');
  t.base.add(thing('u2', '13'));
  t.writes.markUncertain('shop/a');
  expect(await t.find()).toBeUndefined();
  expect(t.asked()).toBe(1);
});

test('an object that the watch shows while the server is asked is newer than an answer of none: it is not hidden', async () => {
  const recreate = () => {
    t.base.update(thing('u2', '13'));
    return undefined;
  };
  const t = reading([recreate, () => thing('u2', '13')]);
  t.base.add(thing('u1', '9'));
  t.writes.markUncertain('shop/a');
  expect(await t.find()).toMatchObject({ uid: 'u2' });
  expect(t.asked()).toBe(2);
});

test('the same, deleted at once: the second answer decides', async () => {
  const recreate = () => {
    t.base.update(thing('u2', '13'));
    return undefined;
  };
  const t = reading([recreate, () => undefined]);
  t.base.add(thing('u1', '9'));
  t.writes.markUncertain('shop/a');
  expect(await t.find()).toBeUndefined();
});

test('a name whose objects come and go all the time does not hold up a read', async () => {
  const again = () => {
    t.base.update(thing(`u${t.asked() + 1}`, '20'));
    return undefined;
  };
  const t = reading(Array.from({ length: 10 }, () => again));
  t.writes.markUncertain('shop/a');
  expect(await t.find()).toMatchObject({ uid: 'u4' });
  expect(t.asked()).toBe(3);
});

test('a list of objects that were not read yet yields to the event loop', async () => {
  const clock = new VirtualClock();
  const base = new InformerStore<KubeObject>({});
  const metadata = { namespace: 'shop', creationTimestamp: '', uid: 'u', resourceVersion: '1' };
  const objects = Array.from({ length: 1001 }, (_, i) => ({
    ...thing('u', '1'),
    metadata: { ...metadata, name: `t${i}` },
  }));
  base.replace(objects, '7');
  const writes = new OwnWrites<KubeObject>({ clock, metrics: memoryMetrics(), name: 'things' });
  const member = { base, writes, informer, view: new OwnWritesView<KubeObject>(base, writes, keyOf) };
  const cache = { members: [member], memberFor: () => member, synced: async () => {} } as unknown as KindCache;
  const options = { undeclared: 'fail', catchUpMs: 2_000, log: silentLogger } as const;
  let now = 0;
  let turns = 0;
  const slow = {
    ...{ now: () => 0, monotonic: () => ++now, after: () => expect.unreachable(), sleep: () => expect.unreachable() },
    yield: async () => {
      turns += 1;
    },
  };
  const reader = new CacheReader({} as Client, { ...options, clock: slow });
  expect((await reader.list(Thing, { namespace: 'elsewhere' }, cache)).items).toEqual([]);
  expect(turns).toBe(0);
  const { items, metadata: meta } = await reader.list(Thing, { labelSelector: 'a=b' }, cache);
  expect([items, meta.resourceVersion]).toEqual([[], '7']);
  expect(turns).toBeGreaterThan(100);
  expect(objects.every(isFrozenDeep)).toBe(true);
  const before = turns;
  expect((await reader.list(Thing, {}, cache)).items).toHaveLength(1001);
  expect(turns).toBe(before);
});
