import { describe, expect, test } from 'vitest';
import type { Write } from '../client/operation/write-hook.js';
import { CachePlay } from './cache.fixture.js';
import { ThingKind } from './fake-cluster.fixture.js';
import { TransformError } from './informer/apply-transform.js';
import type { Thing } from './informer/informer.fixture.js';

test('a late index: objects that were not read yet are frozen for it in many turns', async () => {
  let now = 0;
  let turns = 0;
  await using play = new CachePlay({}, undefined, (clock) => ({
    ...{ now: () => clock.now(), after: clock.after.bind(clock), sleep: clock.sleep.bind(clock) },
    // Every look at it takes a millisecond.
    monotonic: () => clock.monotonic() + ++now,
    yield: () => {
      turns += 1;
      return clock.yield();
    },
  }));
  for (let i = 0; i < 1100; i += 1) play.cluster.put('one', `t${i}`, { node: `n${i % 7}` });
  await play.start();
  turns = 0;
  const indexed = play.cache.indexField(ThingKind, 'spec.node', ({ spec }) => [spec?.node ?? '']);
  await play.clock.settle();
  await indexed;
  expect(turns).toBeGreaterThan(100);
  expect(play.cache.keysByField(ThingKind, 'spec.node', 'n1')).toHaveLength(157);
});

describe('a transform', () => {
  test.each<[string, (thing: Thing) => unknown, string]>([
    ['that gives nothing', () => undefined, 'transform returned undefined for Thing "one/a"; return'],
    ['that gives no object', () => 'a', 'transform returned a string for Thing "one/a"; return'],
    [
      'that drops what caches go by',
      ({ metadata: { namespace, name, uid }, ...rest }) => ({ ...rest, metadata: { namespace, name, uid } }),
      'transform changed metadata.resourceVersion of Thing "one/a"',
    ],
    [
      'that renames, in place',
      (thing) => {
        (thing.metadata as { name: string }).name = 'b';
        return thing;
      },
      'transform changed metadata.name of Thing "one/a"',
    ],
  ])('%s: told, with the object and the remedy', async (_, transform, message) => {
    await using play = new CachePlay({ transform: transform as (thing: Thing) => Thing });
    play.cluster.put('one', 'a');
    await play.start();
    const [reported] = play.log.records.filter(({ level }) => level === 'error');
    expect(reported?.message).toBe('withheld an object that the transform failed for, will be retried');
    expect(reported?.fields).toMatchObject({ kind: 'Thing', key: 'one/a', error: expect.any(TransformError) });
    expect(String(reported?.fields.error)).toContain(message);
    await play.cache.waitForCacheSync();
    const key = { namespace: 'one', name: 'a' };
    await expect(play.cache.get(ThingKind, key)).rejects.toThrow(
      `Thing "one/a" is withheld from the cache: ${message}`,
    );
    await expect(play.cache.find(ThingKind, key)).rejects.toThrow('is withheld from the cache');
    // It is retried as it was sent, however often, and never under another name.
    await play.clock.advance(10_000);
    expect(play.cache.health[0]?.informers).toMatchObject([{ objects: 0, missing: 1, withheld: 1 }]);
    expect(play.cache.health[0]?.informers[0]?.failing).toMatchObject([
      { key: 'one/a', function: 'transform', attempts: 6, error: expect.stringContaining(message) },
    ]);
  });

  test('that fails on an own write: the read waits for the watch, then asks the server', async () => {
    let isBroken = true;
    await using play = new CachePlay({
      transform: (thing) => {
        if (isBroken && thing.spec?.value === 2) throw new Error('not this one');
        return thing;
      },
    });
    const { cluster, cache } = play;
    cluster.put('one', 'a', { value: 1 });
    await play.start();
    const key = { namespace: 'one', name: 'a' };
    const answer = { ...cluster.put('one', 'a', { value: 2 }) };
    // The watch has left it out, as it could not be transformed.
    cluster.wrote({ operation: { verb: 'update', kind: ThingKind, ...key, params: {} }, answer } as Write);
    expect(play.log.messages('error')).toEqual(['withheld an object that the transform failed for, will be retried']);
    isBroken = false;
    const read = cache.get(ThingKind, key);
    await play.clock.advance(2_000);
    expect((await read).spec?.value).toBe(2);
  });
});

test('an index function that fails on an own write keeps no list from being read', async () => {
  await using play = new CachePlay();
  const { cluster, cache } = play;
  cluster.put('one', 'a', { node: 'n1' });
  await play.start();
  await cache.indexField(ThingKind, 'spec.node', ({ spec }) => [(spec as { node: string }).node.toUpperCase()]);
  const names = async (fieldSelector: string) =>
    (await cache.list(ThingKind, { fieldSelector })).items.map(({ metadata }) => metadata.name);
  const key = { namespace: 'one', name: 'b' };
  const metadata = { ...key, uid: 'u', resourceVersion: '99', creationTimestamp: '' };
  const answer = { apiVersion: ThingKind.apiVersion, kind: 'Thing', metadata };
  cluster.wrote({ operation: { verb: 'create', kind: ThingKind, ...key, params: {} }, answer } as unknown as Write);
  expect(await names('spec.node=N1')).toEqual(['a']);
  expect(await names('spec.node!=N1')).toEqual(['b']);
  expect(cache.keysByField(ThingKind, 'spec.node', 'N1')).toEqual(['one/a']);
  expect(await names('')).toEqual(['a', 'b']);
});
