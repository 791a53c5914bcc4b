import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { CachePlay, forbidden } from './cache.fixture.js';
import { Cache } from './cache.js';
import { cached, type KindCacheOptions } from './cache-options.js';
import { FakeCluster, ThingKind } from './fake-cluster.fixture.js';
import type { Thing } from './informer/informer.fixture.js';

describe('a handler of a cache', () => {
  test('whose signal has aborted already is never called, and stays nowhere', async () => {
    await using play = new CachePlay();
    play.cluster.put('one', 'a');
    await play.start();
    const { informer } = play.cache.use(ThingKind);
    const signal = AbortSignal.abort(new Error('before'));
    const registration = informer.addEventHandler({ onAdd: () => expect.unreachable() }, { signal });
    await play.clock.settle();
    expect(informer.health[0]?.handlers).toEqual([]);
    await registration.remove();
  });

  test('of a cache that has ended leaves nothing on its signal', async () => {
    const play = await new CachePlay().start();
    const { signal } = new AbortController();
    const registration = play.cache.use(ThingKind).informer.addEventHandler({}, { signal });
    await play.cache.close();
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    await registration.remove();
  });

  test('that is removed leaves nothing on its signal', async () => {
    await using play = await new CachePlay().start();
    const { informer } = play.cache.use(ThingKind);
    const stop = new AbortController();
    const registration = informer.addEventHandler({}, { signal: stop.signal });
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1);
    await registration.remove();
    expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  });
});

describe('a cache that does not run yet', () => {
  test('gives its informers at once, to add handlers to; waitForCacheSync waits for the run', async () => {
    await using play = new CachePlay();
    const { cluster, cache, clock } = play;
    cluster.put('one', 'a');
    const reported: string[] = [];
    const informer = await cache.getInformer(ThingKind);
    informer.addEventHandler({ onAdd: ({ metadata }) => void reported.push(metadata.name) });
    let isSynced = false;
    const synced = cache.waitForCacheSync().then(() => {
      isSynced = true;
    });
    await clock.settle();
    expect([isSynced, cluster.requests]).toEqual([false, []]);
    await play.start();
    await synced;
    expect(reported).toEqual(['a']);
    expect((await cache.getInformer(ThingKind)).hasSynced()).toBe(true);
  });

  test('lets reads wait, and logs what for, once', async () => {
    await using play = new CachePlay();
    const { cluster, cache } = play;
    cluster.put('one', 'a');
    const reads = [cache.get(ThingKind, { namespace: 'one', name: 'a' }), cache.list(ThingKind)] as const;
    await play.clock.settle();
    expect(play.log.messages('warn')).toEqual([expect.stringContaining('call run({ signal })')]);
    await play.start();
    expect((await reads[0]).metadata.name).toBe('a');
    expect((await reads[1]).items).toHaveLength(1);
  });
});

describe('a kind that waits for its first use', () => {
  const options = { start: 'first-use' } as const;

  test.each<[string, (cache: Cache) => unknown]>([
    ['a handler', (cache) => cache.use(ThingKind).informer.addEventHandler({})],
    ['a read', (cache) => cache.list(ThingKind)],
    ['getInformer', (cache) => cache.getInformer(ThingKind)],
  ])('%s before the run is one: it is listed when the cache runs', async (_, use) => {
    await using play = new CachePlay(options);
    const used = use(play.cache);
    await play.clock.settle();
    expect(play.cluster.requests).toEqual([]);
    await play.start();
    expect(play.cluster.requests).toEqual(['list *', 'watch *']);
    await used;
  });

  test('an explicit one: a handler before the run does not start it, startKind does, and any use while it runs', async () => {
    await using play = new CachePlay({ start: 'explicit' });
    play.cache.use(ThingKind).informer.addEventHandler({});
    await play.start();
    expect(play.cluster.requests).toEqual([]);
    await play.cache.list(ThingKind);
    expect(play.cluster.requests).toEqual(['list *', 'watch *']);
    await using reported = new CachePlay({ start: 'explicit' });
    reported.cache.startKind(ThingKind);
    await reported.start();
    expect(reported.cluster.requests).toEqual(['list *', 'watch *']);
  });

  test('checking whether the cache holds a kind is not a use, nor is an index', async () => {
    await using play = await new CachePlay(options).start();
    expect(play.cache.holds(ThingKind)).toBe(true);
    await play.cache.indexField(ThingKind, 'spec.node', () => []);
    await play.clock.settle();
    expect(play.cluster.requests).toEqual([]);
  });
});

test('a closed cache has ended: its run resolves, waiting reads reject, and it records no more writes', async () => {
  const play = await new CachePlay().start();
  expect(play.cluster.listeners).toBe(1);
  await play.cache.close();
  await play.running;
  expect([play.cluster.watches, play.cluster.listeners]).toEqual([0, 0]);
  const never = new CachePlay();
  const waiting = expect(never.cache.waitForCacheSync()).rejects.toThrow('the cache has stopped');
  await never.cache.close();
  await waiting;
});

test('an error of watchErrorHandler does not hide the failure', async () => {
  await using play = new CachePlay({}, () => {
    throw new Error('not that, too');
  });
  play.cluster.onRequest = () => {
    throw forbidden();
  };
  await play.start();
  await expect(play.cache.waitForCacheSync()).rejects.toThrow('may not list things.test.riata.dev');
  expect(play.log.messages('error')).toEqual(['error handler failed']);
});

test('options that make no sense are refused where they are given, and leave nothing behind', async () => {
  const cluster = new FakeCluster();
  const make = (...options: KindCacheOptions<Thing>[]) =>
    new Cache(cluster.client, { kinds: options.map((each) => cached(ThingKind, each)) });
  expect(() => make({ silence: '0s' })).toThrow('"things.test.riata.dev": silence must be more than 0 or "never"');
  expect(() => make({ pageSize: 0.5 })).toThrow('pageSize must be an integer ≥ 1, got 0.5');
  expect(() => make({ labelSelector: 'a' }, { labelSelector: 'b' })).toThrow('with different labelSelector');
  expect(cluster.listeners).toBe(0);
});

describe('reads', () => {
  test('a limit of 0 or less counts as none, as for the server', async () => {
    await using play = new CachePlay();
    for (const name of ['a', 'b', 'c']) play.cluster.put('one', name);
    await play.start();
    const count = async (limit: number) => (await play.cache.list(ThingKind, { limit })).items.length;
    expect([await count(0), await count(-1), await count(2)]).toEqual([3, 3, 2]);
  });

  test('a key that cannot be one is a mistake, not an object that is not there', async () => {
    await using play = await new CachePlay().start();
    const key = (given: object) => given as { namespace: string; name: string };
    await expect(play.cache.get(ThingKind, key({ name: 'a' }))).rejects.toThrow(
      new TypeError('get Thing "a": the namespace is missing; give one, or use inNamespace(client, …)'),
    );
    await expect(play.cache.find(ThingKind, key({ namespace: 'one' }))).rejects.toThrow(
      new TypeError('find Thing: the name is missing'),
    );
  });
});
