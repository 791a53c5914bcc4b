import { describe, expect, test } from 'vitest';
import { silentLogger } from '../../runtime/log/logger.js';
import { memoryLogger } from '../../runtime/log/memory-logger.js';
import type { Runtime } from '../../runtime/runtime.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { newInformer } from '../compat/new-informer.js';
import { FakeSource } from '../reflector/fake-source.fixture.js';
import type { Change } from './change.js';
import { noting, short, type Thing } from './informer.fixture.js';
import { OrderedFIFO } from './ordered-fifo.js';
import { SharedIndexInformer } from './shared-index-informer.js';
import type { SharedIndexInformerOptions } from './shared-informer.js';

class Watched implements AsyncDisposable {
  readonly source = new FakeSource();
  readonly clock = new VirtualClock();
  readonly informer: SharedIndexInformer<Thing>;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: SharedIndexInformerOptions<Thing> = {}, runtime: Partial<Runtime> = {}) {
    this.informer = new SharedIndexInformer(this.source, {
      name: 'things',
      useWatchList: false,
      ...options,
      runtime: { clock: this.clock, log: silentLogger, ...runtime },
    });
  }

  async start(): Promise<void> {
    this.#running = this.informer.run({ signal: this.#stop.signal });
    await this.clock.settle();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
    expect(this.clock.pending, 'timers left').toBe(0);
  }
}

describe('an informer over list and watch', () => {
  test('follows the server', async () => {
    await using watched = new Watched();
    const seen: string[] = [];
    watched.informer.addEventHandler(noting(seen));
    watched.source.put('a');
    await watched.start();
    await watched.informer.synced();
    watched.source.put('b');
    watched.source.put('a');
    watched.source.delete('b');
    await watched.clock.settle();
    expect(seen).toEqual(['add a1!', 'add b2', 'update a1 a3', 'delete b4']);
    expect(watched.informer.lastSyncResourceVersion()).toBe('4');
    expect(watched.informer.getController().lastSyncResourceVersion()).toBe('4');
    expect(watched.informer.health).toMatchObject({ phase: 'watching', resourceVersion: '4', objects: 1 });
    expect(watched.source.requests).toEqual(['list 0', 'watch 1']);
  });

  test('misses nothing when watches end (watch disruption)', async () => {
    await using watched = new Watched();
    const seen: string[] = [];
    for (const name of ['a', 'b', 'c']) watched.source.put(name);
    watched.informer.addEventHandler(noting(seen));
    await watched.start();
    seen.length = 0;
    await watched.clock.advance(5000);
    watched.source.disconnect();
    watched.source.put('a');
    watched.source.delete('b');
    await watched.clock.advance(60_000);
    expect(seen).toEqual(['update a1 a4', 'delete b5']);
    expect(watched.source.requests.filter((request) => request.startsWith('list'))).toHaveLength(1);
  });

  test('finds out by a list what the server has forgotten (watch disruption)', async () => {
    await using watched = new Watched();
    const seen: string[] = [];
    for (const name of ['a', 'b', 'c']) watched.source.put(name);
    watched.informer.addEventHandler(noting(seen));
    await watched.start();
    seen.length = 0;
    await watched.clock.advance(5000);
    watched.source.disconnect();
    watched.source.put('a');
    watched.source.delete('b');
    watched.source.put('d');
    watched.source.delete('c');
    watched.source.put('c');
    watched.source.compact();
    await watched.clock.advance(120_000);
    expect(seen).toEqual(['delete b2?', 'update a1 a4', 'add d6', 'delete c3?', 'add c8']);
    expect(watched.informer.getStore().list().map(short)).toEqual(['a4', 'd6', 'c8']);
    expect(watched.source.requests.filter((request) => request.startsWith('list'))).toHaveLength(2);
  });

  test('calls the watch error handler, and continues', async () => {
    const errors: string[] = [];
    await using watched = new Watched();
    watched.informer.setWatchErrorHandler((error, { phase }) => errors.push(`${phase}: ${String(error)}`));
    watched.source.failure = new Error('not today');
    await watched.start();
    expect(errors).toEqual([expect.stringMatching(/^waiting: .*not today/)]);
    expect(watched.informer.health).toMatchObject({ phase: 'waiting', synced: false, consecutiveFailures: 1 });
    watched.source.failure = undefined;
    await watched.clock.advance(60_000);
    expect(watched.informer.hasSynced()).toBe(true);
  });

  test('transforms every object once, before any reader sees it', async () => {
    let calls = 0;
    const transform = (obj: Thing): Thing => {
      calls += 1;
      return { ...obj, spec: { node: `node-${obj.spec?.value}` } };
    };
    await using watched = new Watched({ transform, indexers: { byNode: (obj) => [obj.spec?.node ?? ''] } });
    const nodes: unknown[] = [];
    watched.informer.addEventHandler({
      onAdd: (obj) => nodes.push(obj.spec?.node),
      onUpdate: (old, obj) => nodes.push([old.spec?.node, obj.spec?.node]),
    });
    watched.source.put('a');
    await watched.start();
    watched.source.put('a');
    await watched.clock.settle();
    expect(nodes).toEqual(['node-1', ['node-1', 'node-2']]);
    expect(watched.informer.getIndexer().indexKeys('byNode', 'node-2')).toEqual(['shop/a']);
    expect(calls).toBe(2);
  });

  test('objects of a list share what is equal, with each other and with what was known', async () => {
    await using watched = new Watched();
    for (const name of ['a', 'b']) watched.source.put(name);
    await watched.start();
    const store = watched.informer.getStore();
    const [a, b] = store.list();
    expect(a?.spec?.list).toEqual(['same']);
    expect(b?.spec?.list).toBe(a?.spec?.list);
    watched.source.disconnect();
    watched.source.put('b');
    watched.source.compact();
    await watched.clock.advance(120_000);
    expect(watched.source.requests.filter((request) => request.startsWith('list'))).toHaveLength(2);
    expect(store.list().map(short)).toEqual(['a1', 'b3']);
    expect(store.getByKey('shop/a')).toBe(a);
    expect(store.getByKey('shop/b')?.spec?.list).toBe(a?.spec?.list);
  });

  test('a queue that changes what it is given changes that one alone', async () => {
    const transform = (obj: Thing): Thing => {
      const { list } = obj.spec as { list: string[] };
      if (obj.metadata.name === 'b') list.push('changed');
      return obj;
    };
    await using watched = new Watched({ newQueue: () => new OrderedFIFO<Thing>({ transform }) });
    for (const name of ['a', 'b', 'c']) watched.source.put(name);
    await watched.start();
    const lists = watched.informer
      .getStore()
      .list()
      .map(({ spec }) => spec?.list);
    expect(lists).toEqual([['same'], ['same', 'changed'], ['same']]);
  });

  test('newInformer: one handler and a store', async () => {
    const source = new FakeSource();
    const clock = new VirtualClock();
    const stop = new AbortController();
    const seen: string[] = [];
    const options = { useWatchList: false, runtime: { clock, log: silentLogger } };
    const { indexer, controller } = newInformer(source, noting(seen), options);
    source.put('a');
    const running = controller.run({ signal: stop.signal });
    await controller.synced();
    expect(seen).toEqual(['add a1!']);
    expect(indexer.list().map(short)).toEqual(['a1']);
    stop.abort();
    await running;
    expect(controller.isStopped).toBe(true);
  });
});

describe('resync', () => {
  const updates = (seen: string[]) => seen.filter((text) => text.startsWith('update')).length;

  test('every listener has its own period (ListenerResyncPeriods)', async () => {
    await using watched = new Watched({ resyncPeriod: '1s' });
    const [one, two, three]: [string[], string[], string[]] = [[], [], []];
    watched.informer.addEventHandlerWithResyncPeriod(noting(one), 0);
    watched.informer.addEventHandlerWithResyncPeriod(noting(two), '2s');
    watched.informer.addEventHandler(noting(three), { resyncPeriod: '3s' });
    watched.source.put('a');
    watched.source.put('b');
    await watched.start();
    await watched.clock.advance(6500);
    expect([one, two, three].map((seen) => updates(seen) / 2)).toEqual([0, 3, 2]);
    expect(two.slice(0, 4)).toEqual(['add a1!', 'add b2!', 'update a1 a1', 'update b2 b2']);
    expect(watched.source.requests).toHaveLength(2);
  });

  test('the smallest period asked for before start is the check period; later ones are raised to it', async () => {
    const log = memoryLogger('warn');
    await using watched = new Watched({ resyncPeriod: '12h' }, { log });
    const [one, two]: [string[], string[]] = [[], []];
    watched.informer.addEventHandlerWithResyncPeriod(noting(one), '4s');
    watched.source.put('a');
    await watched.start();
    watched.informer.addEventHandlerWithResyncPeriod(noting(two), '1s');
    await watched.clock.advance(8500);
    expect([updates(one), updates(two)]).toEqual([2, 2]);
    expect(log.messages()).toEqual(['informer is already started, using its longer resync period']);
  });

  test('without a period of the informer there are no resyncs', async () => {
    await using watched = new Watched();
    const seen: string[] = [];
    watched.informer.addEventHandlerWithResyncPeriod(noting(seen), '1s');
    watched.source.put('a');
    await watched.start();
    await watched.clock.advance(10_000);
    expect(seen).toEqual(['add a1!']);
  });

  test('is a Sync of one object, not an update', async () => {
    await using watched = new Watched({ resyncPeriod: '1s' });
    const changes: Change<Thing>[] = [];
    watched.informer.addEventHandler({ onChange: (change) => changes.push(change) });
    watched.source.put('a');
    await watched.start();
    await watched.clock.advance(1500);
    expect(changes.map(({ type }) => type)).toEqual(['Added', 'Sync']);
    expect(changes[1]?.old).toBe(changes[1]?.new);
  });

  test('an update with the same resourceVersion is delivered only to listeners that are resyncing', async () => {
    await using watched = new Watched({ resyncPeriod: '12h' });
    const [one, two]: [string[], string[]] = [[], []];
    watched.informer.addEventHandler(noting(one));
    watched.informer.addEventHandlerWithResyncPeriod(noting(two), '3s');
    watched.source.put('a');
    await watched.start();
    await watched.clock.advance(3500);
    expect(two).toEqual(['add a1!', 'update a1 a1']);
    watched.source.compact();
    watched.source.put('b');
    watched.source.compact();
    watched.source.disconnect();
    await watched.clock.advance(1000);
    expect(one).toEqual(['add a1!', 'add b2']);
    expect(two).toEqual(['add a1!', 'update a1 a1', 'add b2']);
  });
});
