import { expect, test } from 'vitest';
import { CachePlay } from '../../cache/cache.fixture.js';
import { type FakeCluster, ThingKind } from '../../cache/fake-cluster.fixture.js';
import { Controller } from '../loop/controller.js';
import { enqueueRequestForObject, enqueueRequestForOwner } from './event-handler.js';
import { kindSource } from './kind-source.js';

/** Has a server give an object other metadata than it may have. */
function corrupt(cluster: FakeCluster, name: string, metadata: object): void {
  const object = cluster.put('one', name);
  Object.assign(object.metadata, metadata);
}

const owner = (name: unknown) => ({
  apiVersion: ThingKind.apiVersion,
  kind: 'Thing',
  name,
  uid: 'o',
  controller: true,
});

const cases: readonly (readonly [what: string, metadata: object, key: string, problem: string])[] = [
  ['a name that is a number', { name: 5 }, 'one/5', 'metadata.name must be a string, got a number'],
  ['a name with a slash', { name: 'b/c' }, 'one/b/c', 'metadata.name must not contain a slash, got "b/c"'],
  ['no name', { name: undefined, uid: 'u7' }, 'one/(no name) uid u7', 'metadata.name is missing'],
  [
    'a namespace with a slash',
    { namespace: 'x/y' },
    'x/y/bad',
    'metadata.namespace must not contain a slash, got "x/y"',
  ],
  ['labels that are a text', { labels: 'a=b' }, 'one/bad', 'metadata.labels must be a map of strings, got a string'],
  [
    'an owner whose name is a number',
    { ownerReferences: [owner(5)] },
    'one/bad',
    'metadata.ownerReferences must be a list of references with apiVersion, kind and name, got an array with an object in it',
  ],
  [
    'finalizers that are a text',
    { finalizers: 'x' },
    'one/bad',
    'metadata.finalizers must be a list of strings, got a string',
  ],
];

async function running(play: CachePlay) {
  const seen: string[] = [];
  const runtime = { clock: play.clock, log: play.log };
  const controller = new Controller('things', {
    ...{ runtime, concurrency: 1 },
    reconcile: ({ key }) => void seen.push(key.name),
  });
  await controller.watch(kindSource(play.cache, ThingKind, enqueueRequestForObject()));
  await controller.watch(kindSource(play.cache, ThingKind, enqueueRequestForOwner(ThingKind)));
  const stop = new AbortController();
  const ended = controller.run({ signal: stop.signal });
  return {
    ...{ controller, seen },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

test.each(cases)('an object with %s, at the start: the others are reconciled', async (_, metadata, key, problem) => {
  await using play = new CachePlay();
  for (const name of ['a', 'bad', 'z']) play.cluster.put('one', name);
  corrupt(play.cluster, 'bad', metadata);
  await play.start();
  await using run = await running(play);
  await play.clock.settle();
  expect(run.seen.toSorted()).toEqual(['a', 'z']);
  expect(run.controller.health).toMatchObject({ phase: 'running', failing: [] });
  const reported = play.log.records.filter(({ level }) => level === 'error');
  expect(reported).toMatchObject([
    { message: 'withheld a malformed object', fields: { reflector: 'things.test.riata.dev', kind: 'Thing', key } },
  ]);
  expect(String(reported[0]?.fields.error)).toBe(`TypeError: ${problem}`);
  const [informer] = play.cache.health[0]?.informers ?? [];
  expect(informer).toMatchObject({ synced: true, objects: 2, missing: 1, phase: 'watching', consecutiveFailures: 0 });
  expect(informer?.failing).toMatchObject([{ key, function: 'metadata', error: `TypeError: ${problem}` }]);
  // Lists are not kept from being read by it.
  const { items } = await play.cache.list(ThingKind, { labelSelector: '!app' });
  expect(items.map((thing) => thing.metadata.name).toSorted()).toEqual(['a', 'z']);
});

test.each(cases)('an object with %s, later: the watch continues', async (_, metadata, key) => {
  await using play = new CachePlay();
  play.cluster.put('one', 'a');
  await play.start();
  await using run = await running(play);
  await play.clock.settle();
  const event = (type: 'ADDED' | 'DELETED', version: string) => {
    const sound = { namespace: 'one', name: 'bad', uid: 'u7', resourceVersion: version, creationTimestamp: '' };
    const { apiVersion, kind } = ThingKind;
    play.cluster.report({ type, object: { apiVersion, kind, metadata: { ...sound, ...metadata } } as never });
  };
  event('ADDED', '100');
  play.cluster.put('one', 'z');
  await play.clock.settle();
  expect(run.seen).toEqual(['a', 'z']);
  const informer = () => play.cache.health[0]?.informers[0];
  expect(informer()?.failing).toMatchObject([{ key, function: 'metadata' }]);
  expect(play.cluster.requests).toEqual(['list *', 'watch *']);
  event('DELETED', '101');
  await play.clock.settle();
  expect(informer()).toMatchObject({ failing: [], missing: 0, objects: 2 });
});

test('an object that becomes malformed: the version before stays, reads fail with the reason, and its deletion is delivered', async () => {
  await using play = new CachePlay();
  play.cluster.put('one', 'a');
  await play.start();
  const reported = await play.noting();
  const { apiVersion, kind } = ThingKind;
  const metadata = { namespace: 'one', name: 'a', uid: 'uid-1', resourceVersion: '5', creationTimestamp: '' };
  const object = { apiVersion, kind, metadata: { ...metadata, labels: 'x' } } as never;
  play.cluster.report({ type: 'MODIFIED', object });
  const key = { namespace: 'one', name: 'a' };
  await expect(play.cache.get(ThingKind, key)).rejects.toThrow(
    'Thing "one/a" is withheld from the cache: metadata.labels must be a map of strings, got a string',
  );
  expect(play.cache.health[0]?.informers).toMatchObject([{ objects: 1, missing: 0, withheld: 1 }]);
  play.cluster.report({ type: 'DELETED', object });
  await play.clock.settle();
  expect(reported).toEqual(['Added one/a', 'Deleted one/a']);
  expect(await play.cache.find(ThingKind, key)).toBeUndefined();
});
