import { describe, expect, test } from 'vitest';
import { keyOf } from '../../object/key.js';
import { makeKind } from '../../object/kind.js';
import { memoryLogger } from '../../runtime/log/memory-logger.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { isDeletedFinalStateUnknown } from '../informer/deleted-final-state-unknown.js';
import type { Deltas } from '../informer/delta.js';
import { mute, short, type Thing, thing } from '../informer/informer.fixture.js';
import { OrderedFIFO } from '../informer/ordered-fifo.js';
import { RequeueError } from '../informer/queue.js';
import { FakeSource } from '../reflector/fake-source.fixture.js';
import { createStore } from '../store/indexer.js';
import { CacheController, type CacheControllerConfig } from './cache-controller.js';
import { DeltaFIFO } from './delta-fifo.js';
import { FIFO } from './fifo.js';

function running<A>(config: Omit<CacheControllerConfig<Thing, A>, 'listerWatcher' | 'runtime'>) {
  const clock = new VirtualClock();
  const log = memoryLogger();
  const stop = new AbortController();
  const controller = new CacheController({ ...config, listerWatcher: mute, runtime: { clock, log } });
  const ended = controller.run({ signal: stop.signal });
  return { clock, log, stop, controller, ended };
}

describe('CacheController', () => {
  test('processes what any queue holds, one item after the other', async () => {
    const queue = new FIFO<Thing>(keyOf);
    const seen: string[] = [];
    const { clock, stop, controller, ended } = running({
      queue,
      process: async (obj: Thing) => {
        seen.push(`begin ${short(obj)}`);
        await clock.sleep(1000);
        seen.push(`end ${short(obj)}`);
      },
    });
    queue.replace([thing('a', 1), thing('b', 1)], '1');
    await clock.advance(1500);
    expect(controller.hasSynced()).toBe(false);
    queue.update(thing('b', 2));
    await clock.advance(500);
    expect(seen).toEqual(['begin a1', 'end a1', 'begin b1', 'end b1', 'begin b2']);
    expect(controller.hasSynced()).toBe(true);
    await controller.synced();
    stop.abort();
    await clock.advance(1000);
    await ended;
    expect(seen.at(-1)).toBe('end b2');
    expect(queue.isClosed()).toBe(true);
  });

  test('runs once: a second run, now or later, is refused', async () => {
    const { controller, stop, ended } = running({ queue: new FIFO<Thing>(keyOf), name: 'things', process: () => {} });
    const again = () => controller.run({ signal: stop.signal });
    await expect(again()).rejects.toThrow(
      'cache controller "things" can run only once; create another one with a new queue',
    );
    stop.abort();
    await ended;
    await expect(again()).rejects.toThrow('can run only once');
  });

  test('takes several changes at once where the queue can', async () => {
    const queue = new OrderedFIFO<Thing>();
    const sizes: number[] = [];
    const { clock, stop, ended } = running({ queue, process: (deltas) => void sizes.push(deltas.length) });
    for (const name of ['a', 'b', 'c']) queue.add(thing(name, 1));
    await clock.settle();
    expect(sizes).toEqual([3]);
    stop.abort();
    await ended;
  });

  test('an item that fails is logged and gone', async () => {
    const queue = new DeltaFIFO<Thing>();
    const seen: string[] = [];
    const { clock, log, stop, ended } = running({
      queue,
      process: ([delta]) => {
        seen.push(short(delta?.object as Thing));
        throw new Error('no');
      },
    });
    queue.add(thing('a', 1));
    queue.add(thing('b', 1));
    await clock.settle();
    expect(seen).toEqual(['a1', 'b1']);
    expect(log.messages('error')).toEqual(Array(2).fill('cannot process queue item'));
    stop.abort();
    await ended;
  });

  test('with retryOnError it is put back', async () => {
    const queue = new OrderedFIFO<Thing>();
    const seen: string[] = [];
    const { clock, stop, ended } = running({
      queue,
      retryOnError: true,
      process: ([delta]) => {
        if (delta === undefined || !('object' in delta)) return;
        seen.push(short(delta.object as Thing));
        if (seen.length < 3) throw new Error('not yet');
      },
    });
    queue.add(thing('a', 1));
    queue.add(thing('b', 1));
    await clock.settle();
    expect(seen).toEqual(['a1', 'a1', 'a1', 'b1']);
    stop.abort();
    await ended;
  });

  test('a RequeueError puts it back, too', async () => {
    const queue = new DeltaFIFO<Thing>();
    let calls = 0;
    const { clock, log, stop, ended } = running({
      queue,
      process: () => {
        calls += 1;
        if (calls < 3) throw new RequeueError(calls === 1 ? new Error('told') : undefined);
      },
    });
    queue.add(thing('a', 1));
    await clock.settle();
    expect(calls).toBe(3);
    expect(log.messages('error')).toHaveLength(1);
    stop.abort();
    await ended;
  });

  test('the rest of Config: FullResyncPeriod, ShouldResync, WatchErrorHandler, WatchListPageSize', async () => {
    const clock = new VirtualClock();
    const log = memoryLogger();
    const source = new FakeSource();
    const asked: (number | undefined)[] = [];
    const store = createStore<Thing>();
    const seen: string[] = [];
    const errors: string[] = [];
    let resyncs = 0;
    const stop = new AbortController();
    const controller = new CacheController<Thing, Deltas<Thing>>({
      name: 'things',
      queue: new DeltaFIFO<Thing>({ knownObjects: store }),
      listerWatcher: {
        list: (options) => {
          asked.push(options.limit);
          return source.list(options);
        },
        watch: (options) => source.watch(options),
      },
      process: (deltas, isInInitialList) => {
        for (const { type, object } of deltas) {
          if (type === 'Deleted') store.delete(object);
          else store.update(object);
          const name = isDeletedFinalStateUnknown(object) ? `${object.key}?` : short(object);
          seen.push(`${type} ${name}${isInInitialList ? '!' : ''}`);
        }
      },
      kind: makeKind<Thing>({
        ...{ group: 'test.riata.dev', version: 'v1', kind: 'Thing', plural: 'things', scope: 'Namespaced' },
      }),
      useWatchList: false,
      fullResyncPeriod: '10s',
      // Every second time.
      shouldResync: () => ++resyncs % 2 === 0,
      watchErrorHandler: (error) => void errors.push(String(error)),
      watchListPageSize: 50,
      runtime: { clock, log },
    });
    expect([controller.hasSynced(), controller.lastSyncResourceVersion()]).toEqual([false, '']);
    source.put('a');
    const ended = controller.run({ signal: stop.signal });
    await clock.settle();
    await controller.synced();
    expect([asked, seen.splice(0), controller.lastSyncResourceVersion()]).toEqual([[50], ['Replaced a1!'], '1']);

    await clock.advance(10_000);
    expect([resyncs, seen]).toEqual([1, []]);
    await clock.advance(10_000);
    expect([resyncs, seen.splice(0)]).toEqual([2, ['Sync a1']]);
    expect(source.requests).toEqual(['list 0', 'watch 1']);

    source.failure = new Error('not now');
    source.disconnect();
    await clock.settle();
    expect(errors).toEqual([expect.stringContaining('not now')]);
    source.failure = undefined;
    source.delete('a');
    source.compact();
    await clock.advance(5_000);
    expect(seen).toContain('Deleted shop/a?');
    expect(store.list()).toEqual([]);
    stop.abort();
    await ended;
    expect(clock.pending).toBe(0);
  });
});
