import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { Write } from '../client/write-hook.js';
import { ApiError } from '../rest/api-error.js';
import type { Scheduler } from '../runtime/clock.js';
import { memoryLogger } from '../runtime/memory-logger.js';
import { VirtualClock } from '../runtime/virtual-clock.js';
import { Cache } from './cache.js';
import { cached, type KindCacheOptions } from './cache-options.js';
import type { ResourceEventHandler } from './event-handler.js';
import { FakeCluster, ThingKind } from './fake-cluster.fixture.js';
import type { Thing } from './informer.fixture.js';
import type { WatchErrorHandler } from './shared-informer.js';

function forbidden(): ApiError {
  return new ApiError({
    ...{ apiVersion: 'v1', kind: 'Status', metadata: {}, status: 'Failure' },
    ...{ code: 403, reason: 'Forbidden', message: 'no' },
  });
}

function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** A cache of things over a cluster that has nothing yet. */
class Play implements AsyncDisposable {
  readonly clock = new VirtualClock();
  readonly log = memoryLogger();
  readonly cluster = new FakeCluster();
  readonly cache: Cache;
  readonly #stop = new AbortController();
  running: Promise<void> | undefined;

  constructor(
    options: KindCacheOptions<Thing> = {},
    watchErrorHandler?: WatchErrorHandler,
    over: (clock: VirtualClock) => Scheduler = (clock) => clock,
  ) {
    const kinds = [cached(ThingKind, { useWatchList: false, ...options })];
    const runtime = { clock: over(this.clock), log: this.log };
    this.cache = new Cache(this.cluster.client, { kinds, watchErrorHandler, runtime });
  }

  async start(): Promise<this> {
    this.running = this.cache.run({ signal: this.#stop.signal });
    await this.clock.settle();
    return this;
  }

  /** Notes what a handler is told. */
  async noting(): Promise<string[]> {
    const told: string[] = [];
    const handler: ResourceEventHandler<Thing> = { onChange: ({ type, key }) => void told.push(`${type} ${key}`) };
    this.cache.use(ThingKind).informer.addEventHandler(handler);
    await this.clock.settle();
    return told;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.running;
    await this.cache.close();
  }
}

describe('a handler of a cache', () => {
  test('whose signal has aborted already is never called, and stays nowhere', async () => {
    await using play = new Play();
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
    const play = await new Play().start();
    const { signal } = new AbortController();
    const registration = play.cache.use(ThingKind).informer.addEventHandler({}, { signal });
    await play.cache.close();
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    await registration.remove();
  });

  test('that is removed leaves nothing on its signal', async () => {
    await using play = await new Play().start();
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
    await using play = new Play();
    const { cluster, cache, clock } = play;
    cluster.put('one', 'a');
    const told: string[] = [];
    const informer = await cache.getInformer(ThingKind);
    informer.addEventHandler({ onAdd: ({ metadata }) => void told.push(metadata.name) });
    let isSynced = false;
    const synced = cache.waitForCacheSync().then(() => {
      isSynced = true;
    });
    await clock.settle();
    expect([isSynced, cluster.requests]).toEqual([false, []]);
    await play.start();
    await synced;
    expect(told).toEqual(['a']);
    expect((await cache.getInformer(ThingKind)).hasSynced()).toBe(true);
  });

  test('lets reads wait, and the log tells what for, once', async () => {
    await using play = new Play();
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
    await using play = new Play(options);
    const used = use(play.cache);
    await play.clock.settle();
    expect(play.cluster.requests).toEqual([]);
    await play.start();
    expect(play.cluster.requests).toEqual(['list *', 'watch *']);
    await used;
  });

  test('one that waits to be told: a handler before the run is none, startKind is, and all that comes while it runs', async () => {
    await using play = new Play({ start: 'when-told' });
    play.cache.use(ThingKind).informer.addEventHandler({});
    await play.start();
    expect(play.cluster.requests).toEqual([]);
    await play.cache.list(ThingKind);
    expect(play.cluster.requests).toEqual(['list *', 'watch *']);
    await using told = new Play({ start: 'when-told' });
    told.cache.startKind(ThingKind);
    await told.start();
    expect(told.cluster.requests).toEqual(['list *', 'watch *']);
  });

  test('to ask whether the cache holds it is none, nor is an index', async () => {
    await using play = await new Play(options).start();
    expect(play.cache.holds(ThingKind)).toBe(true);
    await play.cache.indexField(ThingKind, 'spec.node', () => []);
    await play.clock.settle();
    expect(play.cluster.requests).toEqual([]);
  });
});

test('a cache that is closed has ended: its run resolves, who waits is told, and it hears of no more writes', async () => {
  const play = await new Play().start();
  expect(play.cluster.listeners).toBe(1);
  await play.cache.close();
  await play.running;
  expect([play.cluster.watches, play.cluster.listeners]).toEqual([0, 0]);
  const never = new Play();
  const waiting = expect(never.cache.waitForCacheSync()).rejects.toThrow('the cache has stopped');
  await never.cache.close();
  await waiting;
});

test('a watchErrorHandler that throws keeps nobody from being told what is wrong', async () => {
  await using play = new Play({}, () => {
    throw new Error('not that, too');
  });
  play.cluster.onRequest = () => {
    throw forbidden();
  };
  await play.start();
  await expect(play.cache.waitForCacheSync()).rejects.toThrow('may not list things.test.riata.dev');
  expect(play.log.messages('error')).toEqual(['the error handler itself failed']);
});

test('options that make no sense are refused where they are given, and leave nothing behind', async () => {
  const cluster = new FakeCluster();
  const make = (...options: KindCacheOptions<Thing>[]) =>
    new Cache(cluster.client, { kinds: options.map((each) => cached(ThingKind, each)) });
  expect(() => make({ silence: '0s' })).toThrow('"things.test.riata.dev": silence wants more than 0, or "never"');
  expect(() => make({ pageSize: 0.5 })).toThrow('pageSize wants a whole number from 1 up, got 0.5');
  expect(() => make({ labelSelector: 'a' }, { labelSelector: 'b' })).toThrow('with another labelSelector');
  expect(cluster.listeners).toBe(0);
});

describe('reads', () => {
  test('a limit of 0 or less is none, as for the server', async () => {
    await using play = new Play();
    for (const name of ['a', 'b', 'c']) play.cluster.put('one', name);
    await play.start();
    const count = async (limit: number) => (await play.cache.list(ThingKind, { limit })).items.length;
    expect([await count(0), await count(-1), await count(2)]).toEqual([3, 3, 2]);
  });

  test('a key that cannot be one is a mistake, not an object that is not there', async () => {
    await using play = await new Play().start();
    const key = (given: object) => given as { namespace: string; name: string };
    await expect(play.cache.get(ThingKind, key({ name: 'a' }))).rejects.toThrow(
      new TypeError('get Thing "a": the namespace is missing; give one, or use inNamespace(client, …)'),
    );
    await expect(play.cache.find(ThingKind, key({ namespace: 'one' }))).rejects.toThrow(
      new TypeError('find Thing: the name is missing'),
    );
  });
});

test('an index that comes late: objects that nobody has read are frozen for it in many turns', async () => {
  let now = 0;
  let turns = 0;
  await using play = new Play({}, undefined, (clock) => ({
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
    ['that gives nothing', () => undefined, 'the transform gave undefined for Thing "one/a": it has to return'],
    ['that gives no object', () => 'a', 'the transform gave a string for Thing "one/a": it has to return'],
    [
      'that drops what caches go by',
      ({ metadata: { namespace, name, uid }, ...rest }) => ({ ...rest, metadata: { namespace, name, uid } }),
      'the transform changed metadata.resourceVersion of Thing "one/a"',
    ],
    [
      'that renames, in place',
      (thing) => {
        (thing.metadata as { name: string }).name = 'b';
        return thing;
      },
      'the transform changed metadata.name of Thing "one/a"',
    ],
  ])('%s: told, with the object and the remedy', async (_, transform, message) => {
    const errors: unknown[] = [];
    await using play = new Play({ transform: transform as (thing: Thing) => Thing }, (error) => errors.push(error));
    play.cluster.put('one', 'a');
    await play.start();
    expect(errors).toEqual([expect.objectContaining({ message: expect.stringContaining(message) })]);
  });

  test('that fails on an own write: the read waits for the watch, then asks the server', async () => {
    let isBroken = true;
    await using play = new Play({
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
    expect(play.log.messages('error')).toEqual(['left out an event']);
    isBroken = false;
    const read = cache.get(ThingKind, key);
    await play.clock.advance(2_000);
    expect((await read).spec?.value).toBe(2);
  });
});

test('an index function that fails on an own write keeps no list from being read', async () => {
  await using play = new Play();
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

describe('after a write whose answer shows no object', () => {
  const deletedMany = { operation: { verb: 'deletecollection', kind: ThingKind, params: {} }, answer: {} };
  const evicted = (name: string) => ({
    operation: { verb: 'create', kind: ThingKind, namespace: 'one', name, subresource: 'eviction', params: {} },
    answer: { kind: 'Status' },
  });
  /** What is there before the test begins, and a watch that tells nothing more. */
  async function behind(...names: readonly string[]) {
    const play = new Play();
    for (const name of names) play.cluster.put('one', name);
    await play.start();
    play.cluster.isMute = true;
    play.cluster.requests.length = 0;
    return play;
  }
  const listed = async ({ cache }: Play) => (await cache.list(ThingKind)).items.map(({ metadata }) => metadata.name);

  test('of many objects: a list waits a while for the watch, then asks what there is, and not again', async () => {
    await using play = await behind('a', 'b', 'c');
    const { cluster, clock } = play;
    for (const name of ['a', 'b']) cluster.delete('one', name);
    cluster.put('one', 'd');
    cluster.wrote(deletedMany as never);
    const reads = Promise.all([listed(play), listed(play)]);
    await clock.advance(2_000);
    expect(await reads).toEqual([
      ['c', 'd'],
      ['c', 'd'],
    ]);
    const count = cluster.requests.length;
    expect(await listed(play)).toEqual(['c', 'd']);
    expect(cluster.requests.length).toBe(count);
  });

  test('of many objects: a watch that has told all of it is enough, whatever else happens on the server', async () => {
    await using play = new Play();
    const { cluster } = play;
    for (const name of ['a', 'b']) cluster.put('one', name);
    await play.start();
    cluster.requests.length = 0;
    cluster.delete('one', 'a');
    cluster.wrote(deletedMany as never);
    expect(await listed(play)).toEqual(['b']);
    expect(cluster.requests).toEqual(['list *']);
  });

  test('of many objects: each is asked for once, when it is read', async () => {
    await using play = await behind('a', 'b');
    const { cluster, cache } = play;
    cluster.delete('one', 'a');
    cluster.wrote(deletedMany as never);
    const find = async (name: string) => (await cache.find(ThingKind, { namespace: 'one', name }))?.metadata.name;
    expect([await find('a'), await find('b'), await find('a'), await find('b')]).toEqual([
      undefined,
      'b',
      undefined,
      'b',
    ]);
    expect(cluster.requests).toEqual(['list *', 'find one/a', 'find one/b']);
  });

  test('in a namespace that the cache does not hold: nothing is asked, which might not even be allowed', async () => {
    await using play = new Play({ namespaces: ['two', 'three'] });
    const { cluster, cache } = play;
    await play.start();
    cluster.requests.length = 0;
    cluster.onRequest = (request) => {
      throw new Error(request);
    };
    cluster.wrote(evicted('a') as never);
    cluster.wrote({ ...deletedMany, operation: { ...deletedMany.operation, namespace: 'one' } } as never);
    expect((await cache.list(ThingKind)).items).toEqual([]);
    expect(cluster.requests).toEqual([]);
  });

  test('of one object after the other: a list asks for all at once, not for each', async () => {
    const names = Array.from({ length: 100 }, (_, i) => `p${i}`);
    await using play = await behind(...names);
    const { cluster } = play;
    for (const name of names) {
      if (name !== 'p7') cluster.delete('one', name);
      cluster.wrote(evicted(name) as never);
    }
    expect(await listed(play)).toEqual(['p7']);
    expect(cluster.requests).toEqual(['list *']);
  });

  test('of one among very many: waits for the watch as far as the server is, and lists all of them only then', async () => {
    await using play = await behind(...Array.from({ length: 501 }, (_, i) => `p${i}`));
    const { cluster, clock } = play;
    const after = async (whatHappens: () => void) => {
      cluster.wrote(deletedMany as never);
      const read = listed(play);
      await clock.settle();
      whatHappens();
      await clock.advance(2_000);
      return [(await read).length, cluster.requests.splice(0)];
    };
    cluster.delete('one', 'p7');
    expect(await after(() => {})).toEqual([500, ['list *', 'list *']]);
    cluster.isMute = false;
    expect(await after(() => void cluster.delete('one', 'p8'))).toEqual([499, ['list *']]);
  });
});

describe('namespaces that change', () => {
  test('from one to all: what goes while nobody looks is told, what stays is not told as gone', async () => {
    await using play = new Play({ namespaces: ['one'] });
    const { cluster, cache, clock } = play;
    for (const name of ['a', 'b']) cluster.put('one', name);
    cluster.put('two', 'c');
    await play.start();
    const told = await play.noting();
    expect(told.splice(0)).toEqual(['Added one/a', 'Added one/b']);
    const list = gate();
    cluster.onRequest = (request) => (request === 'list *' ? list.opened : undefined);
    const changed = cache.setNamespaces(ThingKind, undefined);
    await clock.settle();
    cluster.delete('one', 'a');
    await clock.settle();
    list.open();
    await changed;
    await clock.settle();
    expect(told.filter((text) => text.startsWith('Deleted'))).toEqual(['Deleted one/a']);
    expect(cluster.watches).toBe(1);
    cluster.delete('one', 'b');
    await clock.settle();
    expect(told.filter((text) => text.startsWith('Deleted'))).toEqual(['Deleted one/a', 'Deleted one/b']);
  });

  test('from one to all, which is refused: said so, and the one is watched on until it is granted', async () => {
    await using play = new Play({ namespaces: ['one'] });
    const { cluster, cache, clock } = play;
    cluster.put('one', 'a');
    await play.start();
    const told = await play.noting();
    cluster.onRequest = (request) => {
      if (request === 'list *') throw forbidden();
    };
    await expect(cache.setNamespaces(ThingKind, undefined)).rejects.toThrow('may not list things.test.riata.dev');
    cluster.put('one', 'a');
    await clock.settle();
    expect(told).toEqual(['Added one/a', 'Updated one/a']);
    cluster.onRequest = () => undefined;
    await clock.advance(120_000);
    expect(told).toEqual(['Added one/a', 'Updated one/a', 'Added one/a']);
    expect(cluster.watches).toBe(1);
  });

  test('while somebody waits for one of them: he gets what there is in the others', async () => {
    await using play = new Play({ namespaces: ['one'] });
    const { cluster, cache, clock } = play;
    cluster.put('two', 'c');
    cluster.onRequest = (request) => (request === 'list one' ? new Promise(() => {}) : undefined);
    await play.start();
    const items = cache.list(ThingKind).then((list) => list.items.map((item) => item.metadata.name));
    const registration = cache.use(ThingKind).informer.addEventHandler({});
    const synced = registration.synced();
    await clock.settle();
    await cache.setNamespaces(ThingKind, ['two']);
    expect(await items).toEqual(['c']);
    await synced;
  });

  test('what was refused in one that is not held any more is no reason against the others', async () => {
    await using play = new Play({ namespaces: ['one'] });
    const { cluster, cache, clock } = play;
    cluster.put('two', 'c');
    const list = gate();
    cluster.onRequest = (request) => {
      if (request === 'list one') throw forbidden();
      return request === 'list two' ? list.opened : undefined;
    };
    await play.start();
    await expect(cache.list(ThingKind)).rejects.toThrow('reflector "things in one": the user of these credentials');
    await cache.setNamespaces(ThingKind, ['two']);
    const items = cache.list(ThingKind).then((all) => all.items.length);
    await clock.settle();
    list.open();
    expect(await items).toBe(1);
  });

  test('after the end: refused, and no watch begins', async () => {
    await using play = await new Play({ namespaces: ['one'] }).start();
    await play.cache.close();
    await expect(play.cache.setNamespaces(ThingKind, ['two'])).rejects.toThrow('the cache has stopped');
    await play.clock.settle();
    expect(play.cluster.watches).toBe(0);
  });

  test('a stop in the midst of it ends all watches, and tells nobody that something is gone', async () => {
    await using play = new Play({ namespaces: ['one'] });
    const { cluster, cache, clock } = play;
    cluster.put('one', 'a');
    await play.start();
    const told = await play.noting();
    cluster.onRequest = (request) => (request === 'list *' ? new Promise(() => {}) : undefined);
    const changed = cache.setNamespaces(ThingKind, undefined);
    const refused = expect(changed).rejects.toThrow('has stopped');
    await clock.settle();
    expect(cluster.watches).toBe(1);
    await cache.close();
    await refused;
    expect([cluster.watches, told]).toEqual([0, ['Added one/a']]);
  });
});
