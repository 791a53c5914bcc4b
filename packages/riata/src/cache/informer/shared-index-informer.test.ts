import { describe, expect, test } from 'vitest';
import { isFrozenDeep } from '../../object/value/freeze.js';
import type { Mutable } from '../../object/value/mutable.js';
import { memoryLogger } from '../../runtime/log/memory-logger.js';
import { memoryMetrics } from '../../runtime/metrics.js';
import { DeltaFIFO } from '../compat/delta-fifo.js';
import { byNamespace, namespaceIndex } from '../store/key-func.js';
import type { Change } from './change.js';
import { isCacheMutationError } from './handler-error.js';
import { DrivenInformer, mute, noting, short, type Thing, thing } from './informer.fixture.js';
import type { EventHandlerRegistration } from './resource-event-handler.js';
import { observeBase, SharedIndexInformer } from './shared-index-informer.js';
import { waitForCacheSync } from './wait-for-cache-sync.js';

const [a1, a2, b1] = [thing('a', 1), thing('a', 2), thing('b', 1)];
const fresh = (obj: Thing): Thing => structuredClone(obj) as Thing;

describe('SharedIndexInformer', () => {
  test('delivers changes: add, update, delete', async () => {
    await using driven = new DrivenInformer();
    const seen: string[] = [];
    driven.informer.addEventHandler(noting(seen));
    await driven.start(a1, b1);
    await driven.update(a2);
    await driven.delete(thing('b', 3));
    expect(seen).toEqual(['add a1!', 'add b1!', 'update a1 a2', 'delete b3']);
    expect(driven.informer.getStore().list().map(short)).toEqual(['a2']);
    expect(driven.informer.getStore().lastStoreSyncResourceVersion()).toBe('3');
  });

  test('a list delivers deletions first, as tombstones, then additions and updates in its order', async () => {
    await using driven = new DrivenInformer();
    const seen: string[] = [];
    await driven.start(a1, b1);
    driven.informer.addEventHandler(noting(seen));
    await driven.clock.settle();
    await driven.list(thing('c', 5), thing('a', 4));
    expect(seen).toEqual(['add a1!', 'add b1!', 'delete b1?', 'add c5', 'update a1 a4']);
  });

  test('a list that brings nothing new is not delivered', async () => {
    await using driven = new DrivenInformer();
    const seen: string[] = [];
    driven.informer.addEventHandler(noting(seen));
    await driven.start(a1);
    const stored = driven.informer.getStore().get(a1);
    await driven.list(fresh(a1));
    expect(seen).toEqual(['add a1!']);
    expect(driven.informer.getStore().get(a1)).toBe(stored);
  });

  test('a list takes the place of all at once: readers never see half of it', async () => {
    await using driven = new DrivenInformer();
    const sizes: number[] = [];
    driven.informer.addEventHandler({ onAdd: () => sizes.push(driven.informer.getStore().list().length) });
    driven.informer.addEventHandler({ onDelete: () => sizes.push(driven.informer.getStore().list().length) });
    await driven.start(a1, b1, thing('c', 1));
    await driven.list(thing('d', 2));
    expect(sizes).toEqual([3, 3, 3, 1, 1, 1, 1]);
  });

  test('what did not change is shared with the version before', async () => {
    await using driven = new DrivenInformer();
    const pairs: [Thing, Thing][] = [];
    driven.informer.addEventHandler({ onUpdate: (old, obj) => pairs.push([old, obj]) });
    await driven.start(fresh(a1));
    await driven.update(fresh(a2));
    const [[old, obj]] = pairs as [[Thing, Thing]];
    expect(old.spec).not.toBe(obj.spec);
    expect(old.spec?.list).toBe(obj.spec?.list);
  });

  test('a duplicate name in a list is delivered once', async () => {
    await using driven = new DrivenInformer();
    const seen: string[] = [];
    driven.informer.addEventHandler(noting(seen));
    await driven.start(a1, b1, a2);
    expect(seen).toEqual(['add a2!', 'add b1!']);
  });

  test('an object that cannot be taken in keeps no other out', async () => {
    const log = memoryLogger();
    await using driven = new DrivenInformer({}, { log });
    await driven.start(thing('a', 1));
    driven.informer[observeBase]({
      upserted: (key) => {
        if (key === 'shop/a') throw new Error('cannot');
      },
      ...{ deleted: () => {}, replaced: () => {}, bookmarked: () => {} },
    });
    await driven.update(thing('a', 2), thing('b', 3));
    expect(driven.informer.getStore().getByKey('shop/b')?.spec?.value).toBe(3);
    expect(log.messages('error')).toEqual(['cannot store object']);
  });

  test('deleting an unknown object is not delivered', async () => {
    await using driven = new DrivenInformer();
    const seen: string[] = [];
    driven.informer.addEventHandler(noting(seen));
    await driven.start(a1);
    await driven.delete(b1);
    expect(seen).toEqual(['add a1!']);
  });

  test('with a DeltaFIFO it delivers the same', async () => {
    const seen: string[] = [];
    let queue: DeltaFIFO<Thing> | undefined;
    await using driven = new DrivenInformer({
      newQueue: (knownObjects) => {
        queue = new DeltaFIFO<Thing>({ knownObjects });
        return queue;
      },
    });
    driven.informer.addEventHandler(noting(seen));
    driven.run();
    queue?.replace([a1, b1], '1');
    queue?.update(a2);
    await driven.clock.settle();
    queue?.replace([a2], '2');
    await driven.clock.settle();
    expect(seen).toEqual(['add a1!', 'update a1 a2', 'add b1!', 'delete b1?']);
    expect(driven.informer.hasSynced()).toBe(true);
  });
});

describe('delete and recreate (another UID)', () => {
  const other = thing('a', 7, 'another');

  test('is delivered as a deletion and an addition when only an update came', async () => {
    await using driven = new DrivenInformer();
    const seen: string[] = [];
    const changes: Change<Thing>[] = [];
    driven.informer.addEventHandler({ ...noting(seen), onChange: (change) => changes.push(change) });
    await driven.start(a1);
    await driven.update(other);
    expect(seen).toEqual(['add a1!', 'delete a1?', 'add a7']);
    expect(changes.map(({ type, isRecreated }) => [type, isRecreated])).toEqual([
      ['Added', false],
      ['Deleted', true],
      ['Added', true],
    ]);
  });

  test('also when only a list shows it', async () => {
    await using driven = new DrivenInformer();
    const seen: string[] = [];
    driven.informer.addEventHandler(noting(seen));
    await driven.start(a1);
    await driven.list(other);
    expect(seen).toEqual(['add a1!', 'delete a1?', 'add a7']);
  });

  test('the deletion of one that was never seen is that of the one before', async () => {
    await using driven = new DrivenInformer();
    const seen: string[] = [];
    driven.informer.addEventHandler(noting(seen));
    await driven.start(a1);
    await driven.delete(other);
    expect(seen).toEqual(['add a1!', 'delete a1?']);
    expect(driven.informer.getStore().list()).toEqual([]);
  });
});

describe('handlers', () => {
  test('a late handler receives all objects, and then changes (add while active)', async () => {
    await using driven = new DrivenInformer();
    await driven.start(a1, b1);
    const seen: string[] = [];
    const registration = driven.informer.addEventHandler(noting(seen));
    expect(seen).toEqual([]);
    expect(registration.hasSynced()).toBe(false);
    driven.queue.update(a2);
    driven.queue.delete(b1);
    await driven.clock.settle();
    expect(seen).toEqual(['add a1!', 'add b1!', 'update a1 a2', 'delete b1']);
    expect(registration.hasSynced()).toBe(true);
  });

  test('one that is added by a handler hears of nothing twice', async () => {
    await using driven = new DrivenInformer();
    const seen: string[] = [];
    let isAdded = false;
    driven.informer.addEventHandler({
      onAdd: () => {
        if (!isAdded) driven.informer.addEventHandler(noting(seen));
        isAdded = true;
      },
    });
    await driven.start(a1, b1);
    await driven.update(a2);
    expect(seen).toEqual(['add a1!', 'add b1!', 'update a1 a2']);
  });

  test('one that is removed hears nothing more, the others do (remove while active)', async () => {
    await using driven = new DrivenInformer();
    const [one, two]: [string[], string[]] = [[], []];
    const registration = driven.informer.addEventHandler(noting(one));
    driven.informer.addEventHandler(noting(two));
    await driven.start(a1);
    await driven.informer.removeEventHandler(registration);
    await driven.informer.removeEventHandler(registration);
    await driven.update(a2);
    expect([one, two]).toEqual([['add a1!'], ['add a1!', 'update a1 a2']]);
    expect(driven.informer.health.handlers).toHaveLength(1);
  });

  test('one can remove itself in the midst of a list', async () => {
    await using driven = new DrivenInformer();
    const seen: string[] = [];
    const registration = driven.informer.addEventHandler(noting(seen, () => void registration.remove()));
    await driven.start(a1, b1);
    expect(seen).toEqual(['add a1!']);
  });

  test('removing waits for the call in flight', async () => {
    await using driven = new DrivenInformer();
    let finish = () => {};
    const registration = driven.informer.addEventHandler({
      onAdd: () =>
        new Promise<void>((resolve) => {
          finish = resolve;
        }),
    });
    await driven.start(a1, b1);
    let isRemoved = false;
    const removing = registration.remove().then(() => {
      isRemoved = true;
    });
    await driven.clock.settle();
    expect(isRemoved).toBe(false);
    finish();
    await removing;
    expect(isRemoved).toBe(true);
  });

  test('a signal removes one', async () => {
    await using driven = new DrivenInformer();
    const seen: string[] = [];
    const stop = new AbortController();
    driven.informer.addEventHandler(noting(seen), { signal: stop.signal });
    await driven.start(a1);
    stop.abort();
    await driven.update(a2);
    expect(seen).toEqual(['add a1!']);
  });

  test('that of another informer is refused', async () => {
    await using driven = new DrivenInformer();
    await using other = new DrivenInformer();
    const registration = other.informer.addEventHandler({});
    await expect(driven.informer.removeEventHandler(registration)).rejects.toThrow(
      /informer "things": removeEventHandler requires a registration that its own addEventHandler returned/,
    );
  });

  test('an error or rejection is reported and stops no handler (handler throws)', async () => {
    const log = memoryLogger();
    await using driven = new DrivenInformer({}, { log });
    const seen: string[] = [];
    driven.informer.addEventHandler(
      noting(seen, () => Promise.reject(new Error('late'))),
      { name: 'late' },
    );
    driven.informer.addEventHandler(
      noting(seen, () => {
        throw new Error('no');
      }),
      { name: 'thrower' },
    );
    driven.informer.addEventHandler(noting(seen));
    await driven.start(a1);
    await driven.update(a2);
    expect(seen).toEqual([...Array(3).fill('add a1!'), ...Array(3).fill('update a1 a2')]);
    expect(log.messages('error')).toEqual(Array(4).fill('event handler failed'));
    expect(log.records[0]?.fields).toMatchObject({ informer: 'things', handler: 'thrower', key: 'shop/a' });
    expect(driven.informer.health.handlers.map(({ failures }) => failures)).toEqual([2, 2, 0]);
    expect(driven.informer.hasSynced()).toBe(true);
  });

  test('an error of the reporter stops no handler either', async () => {
    await using driven = new DrivenInformer({
      onHandlerError: () => {
        throw new Error('worse');
      },
    });
    const seen: string[] = [];
    driven.informer.addEventHandler({
      onAdd() {
        throw new Error('no');
      },
    });
    driven.informer.addEventHandler(noting(seen));
    await driven.start(a1);
    expect(seen).toEqual(['add a1!']);
  });

  test('one whose promise never settles: the others do not wait, and health names the object', async () => {
    await using driven = new DrivenInformer();
    const fast: string[] = [];
    let end = () => {};
    const onAdd = () =>
      new Promise<void>((resolve) => {
        end = resolve;
      });
    const hanging = driven.informer.addEventHandler({ onAdd }, { name: 'hangs' });
    driven.informer.addEventHandler(noting(fast));
    await driven.start();
    await driven.update(a1, b1);
    await driven.clock.advance(5_000);
    expect(fast).toEqual(['add a1', 'add b1']);
    expect(driven.informer.health.handlers).toMatchObject([
      { name: 'hangs', pending: 1, call: { key: 'shop/a', runningMs: 5_000 } },
      { pending: 0 },
    ]);
    const removed = hanging.remove();
    end();
    await removed;
  });

  test('one that fails for an object: others pass, and it is counted', async () => {
    const [log, metrics] = [memoryLogger(), memoryMetrics()];
    await using driven = new DrivenInformer({}, { log, metrics });
    const seen: string[] = [];
    driven.informer.addEventHandler({
      onAdd: async (obj) => {
        if (obj.metadata.name === 'a') throw new Error('cannot');
        seen.push(short(obj));
      },
    });
    await driven.start(a1, b1);
    expect(seen).toEqual(['b1']);
    expect(log.records).toMatchObject([{ level: 'error', fields: { key: 'shop/a', handler: 'handler-1' } }]);
    const labels = { informer: driven.informer.name, function: 'handler' };
    expect(metrics.value('riata_informer_failures_total', labels)).toBe(1);
  });

  test('a slow one gets its changes one after the other, merged beyond its buffer; the others do not wait', async () => {
    await using driven = new DrivenInformer();
    const [slow, fast]: [string[], string[]] = [[], []];
    driven.informer.addEventHandler(
      noting(slow, () => driven.clock.sleep(1000)),
      { bufferSize: 1 },
    );
    driven.informer.addEventHandler(noting(fast));
    await driven.start();
    await driven.update(a1, a2, thing('a', 3), thing('a', 4), b1);
    await driven.delete(b1);
    expect(fast).toEqual(['add a1', 'update a1 a2', 'update a2 a3', 'update a3 a4', 'add b1', 'delete b1']);
    expect(slow).toEqual(['add a1']);
    expect(driven.informer.health.handlers[0]).toMatchObject({ pending: 2, coalesced: 2 });
    await driven.clock.advance(5000);
    expect(slow).toEqual(['add a1', 'update a1 a2', 'update a2 a4']);
  });

  test('a bad buffer size is refused', async () => {
    await using driven = new DrivenInformer();
    expect(() => driven.informer.addEventHandler({}, { bufferSize: 0 })).toThrow(
      'handler "handler-1": bufferSize must be ≥ 1, got 0',
    );
  });
});

describe('what is handed out is frozen', () => {
  test('to handlers, to readers of the store and of indexes', async () => {
    await using driven = new DrivenInformer({ indexers: { byNode: (obj) => [obj.spec?.node ?? ''] } });
    const given: unknown[] = [];
    driven.informer.addEventHandler({
      onAdd: (obj) => given.push(obj),
      onUpdate: (old, obj) => given.push(old, obj),
      onDelete: (obj) => given.push(obj),
    });
    await driven.start(fresh(a1), fresh(b1));
    await driven.update(fresh(a2));
    await driven.list(fresh(b1));
    expect(given).toHaveLength(5);
    expect(given.every(isFrozenDeep)).toBe(true);

    await using undelivered = new DrivenInformer({ indexers: { byNode: (obj) => [obj.spec?.node ?? ''] } });
    const list = () => ['a', 'b', 'c', 'd', 'e'].map((name) => thing(name, 1));
    await undelivered.start(...list());
    const indexer = undelivered.informer.getIndexer();
    expect(isFrozenDeep(indexer.getByKey('shop/a'))).toBe(true);
    expect(isFrozenDeep(indexer.get(b1))).toBe(true);
    expect(indexer.byIndex('byNode', '').every(isFrozenDeep)).toBe(true);
    await undelivered.list(...list().map((obj) => thing(obj.metadata.name, 2)));
    expect(indexer.index('byNode', a1).every(isFrozenDeep)).toBe(true);
    await undelivered.list(...list().map((obj) => thing(obj.metadata.name, 3)));
    expect(indexer.list().every(isFrozenDeep)).toBe(true);
  });

  test('only then: without a reader, nothing is frozen', async () => {
    await using driven = new DrivenInformer();
    const mine = fresh(a1);
    driven.informer.addEventHandler({ onChange: ({ key, type }) => `${key} ${type}` });
    await driven.start(mine);
    expect(Object.isFrozen(mine)).toBe(false);
    driven.informer.addEventHandler({ onChange: ({ metadata }) => metadata.name });
    await driven.clock.settle();
    expect([Object.isFrozen(mine), isFrozenDeep(mine.metadata)]).toEqual([false, true]);
  });

  test.each<[string, (obj: Mutable<Thing>) => unknown]>([
    ['assigns', (obj) => Object.assign(obj.metadata, { labels: {} })],
    [
      'replaces',
      (obj) => {
        obj.metadata.name = 'other';
      },
    ],
    ['deletes', (obj) => delete obj.spec],
    ['pushes', (obj) => obj.spec?.list?.push('more')],
    ['shifts', (obj) => obj.spec?.list?.shift()],
    ['fills', (obj) => obj.spec?.list?.fill('')],
    ['sets a prototype', (obj) => Object.setPrototypeOf(obj, null)],
    ['defines', (obj) => Object.defineProperty(obj, 'x', { value: 1 })],
    ['is async and assigns', async (obj) => Object.assign(obj, { more: 1 })],
  ])('a handler that %s gets an error with the object and the remedy', async (_, mutate) => {
    const errors: unknown[] = [];
    await using driven = new DrivenInformer({ onHandlerError: (error) => errors.push(error) });
    const name = 'mutator';
    driven.informer.addEventHandler({ onAdd: (obj) => mutate(obj as Mutable<Thing>) }, { name });
    await driven.start(fresh(a1));
    expect(errors.map(isCacheMutationError)).toEqual([true]);
    expect(String(errors[0])).toMatch(
      /handler "mutator" of informer "things" tried to change Thing "shop\/a" .*clone\(x\), or edit\(x/,
    );
    expect(driven.informer.getStore().list()).toEqual([a1]);
  });
});

describe('synced', () => {
  test('an informer is when its first list is processed, a handler when it has received all of it', async () => {
    await using driven = new DrivenInformer();
    const order: string[] = [];
    const registration = driven.informer.addEventHandler({ onAdd: () => driven.clock.sleep(1000) });
    const late = registration.synced().then(() => order.push('handler'));
    const all = waitForCacheSync([driven.informer, registration]).then(() => order.push('all'));
    void driven.informer.synced().then(() => order.push('informer'));
    driven.run();
    await driven.clock.settle();
    expect([driven.informer.hasSynced(), registration.hasSynced()]).toEqual([false, false]);
    await driven.list(a1, b1);
    expect([driven.informer.hasSynced(), registration.hasSynced()]).toEqual([true, false]);
    await driven.clock.advance(1999);
    expect(registration.hasSynced()).toBe(false);
    await driven.clock.advance(1);
    await Promise.all([late, all]);
    expect(order).toEqual(['informer', 'handler', 'all']);
    expect(registration.hasSynced()).toBe(true);
  });

  test('an empty list is enough', async () => {
    await using driven = new DrivenInformer();
    const registration = driven.informer.addEventHandler({});
    await driven.start();
    await waitForCacheSync([driven.informer, registration]);
    expect(registration.hasSynced()).toBe(true);
  });

  test('a busy handler is synced though more keeps coming', async () => {
    await using driven = new DrivenInformer();
    const registration = driven.informer.addEventHandler({ onChange: () => driven.clock.sleep(1000) });
    await driven.start(a1);
    await driven.update(a2, thing('a', 3));
    await driven.clock.advance(1000);
    await registration.synced();
    expect(driven.informer.health.handlers[0]).toMatchObject({ synced: true, pending: 1 });
    await driven.clock.runAll();
  });

  test('waiting ends with the signal, with the handler, with the informer', async () => {
    await using driven = new DrivenInformer();
    const stop = new AbortController();
    const registration = driven.informer.addEventHandler({});
    const outcomes = Promise.allSettled([
      driven.informer.synced({ signal: stop.signal }),
      waitForCacheSync([driven.informer], { signal: stop.signal }),
      registration.synced(),
      driven.informer.addEventHandler({}, { name: 'other' }).synced(),
      driven.informer.synced(),
    ]);
    driven.run();
    await driven.clock.settle();
    stop.abort(new Error('enough'));
    await registration.remove();
    await driven.stop();
    const reasons = (await outcomes).map((outcome) => (outcome.status === 'rejected' ? String(outcome.reason) : ''));
    expect(reasons).toEqual([
      'Error: enough',
      'Error: enough',
      'Error: handler "handler-1" of informer "things" was removed',
      'Error: informer "things" has stopped',
      'Error: informer "things" has stopped',
    ]);
  });

  test('handlers added while the first list is processed miss nothing (initialization race)', async () => {
    await using driven = new DrivenInformer();
    const seen: string[][] = Array.from({ length: 10 }, () => []);
    const registrations: EventHandlerRegistration[] = [];
    for (const [i, own] of seen.entries()) {
      registrations.push(driven.informer.addEventHandler(noting(own)));
      if (i === 1) driven.run();
      if (i === 5) driven.queue.replace([a1, b1], '1');
      await Promise.resolve();
    }
    await waitForCacheSync(registrations);
    for (const each of seen) expect(each).toEqual(['add a1!', 'add b1!']);
  });
});

describe('start and stop', () => {
  test('a second run does nothing but warn', async () => {
    const log = memoryLogger();
    await using driven = new DrivenInformer({}, { log });
    await driven.start(a1);
    await driven.informer.run({ signal: driven.signal });
    expect(log.messages('warn')).toEqual(['informer was already started, ignoring this call of run']);
    expect(driven.informer.isStopped).toBe(false);
  });

  test('after the end nothing can be added, and nothing is delivered', async () => {
    const driven = new DrivenInformer();
    const seen: string[] = [];
    driven.informer.addEventHandler(noting(seen));
    await driven.start(a1);
    await driven.stop();
    expect(driven.informer.isStopped).toBe(true);
    driven.queue.update(a2);
    await driven.clock.settle();
    expect(seen).toEqual(['add a1!']);
    expect(() => driven.informer.addEventHandler({})).toThrow(
      /"things": cannot call addEventHandler after it has stopped/,
    );
    expect(() => driven.informer.addIndexers({})).toThrow(/"things": cannot call addIndexers after it has stopped/);
    expect(driven.informer.getStore().list()).toEqual([a1]);
    expect(driven.clock.pending).toBe(0);
  });

  test('run resolves when the last call of a handler is done; what waits is dropped', async () => {
    const driven = new DrivenInformer();
    const seen: string[] = [];
    driven.informer.addEventHandler(noting(seen, () => driven.clock.sleep(1000)));
    await driven.start(a1, b1);
    let isStopped = false;
    const stopping = driven.stop().then(() => {
      isStopped = true;
    });
    await driven.clock.settle();
    expect(isStopped).toBe(false);
    await driven.clock.advance(1000);
    await stopping;
    expect(seen).toEqual(['add a1!']);
  });

  test('what has to be set before start is refused after it', async () => {
    await using driven = new DrivenInformer();
    driven.informer.setTransform((obj) => obj);
    driven.informer.setWatchErrorHandler(() => {});
    await driven.start();
    expect(() => driven.informer.setTransform((obj) => obj)).toThrow(/setTransform must be called before run/);
    expect(() => driven.informer.setWatchErrorHandler(() => {})).toThrow(
      /setWatchErrorHandler must be called before run/,
    );
  });

  test('reports names and health', async () => {
    expect(new SharedIndexInformer(mute).name).toBe('informer');
    await using driven = new DrivenInformer();
    driven.informer.addEventHandler({}, { name: 'mine' });
    expect(driven.informer.health).toMatchObject({ name: 'things', phase: 'idle', synced: false, objects: 0 });
    await driven.start(a1);
    expect(driven.informer.health).toMatchObject({
      synced: true,
      objects: 1,
      handlers: [{ name: 'mine', synced: true, pending: 0, coalesced: 0, failures: 0 }],
    });
    expect(driven.informer.getController().hasSynced()).toBe(true);
  });
});

describe('indexes', () => {
  test('can be added before and after there are objects; the one by namespace is there', async () => {
    await using driven = new DrivenInformer({ indexers: { byNode: (obj) => [obj.spec?.node ?? 'none'] } });
    await driven.start(a1, b1);
    const indexer = driven.informer.getIndexer();
    expect(indexer.indexKeys(namespaceIndex, 'shop')).toEqual(['shop/a', 'shop/b']);
    driven.informer.addIndexers({ byValue: (obj) => [String(obj.spec?.value)], [namespaceIndex]: byNamespace });
    expect(indexer.byIndex('byValue', '1').map(short)).toEqual(['a1', 'b1']);
    await driven.update(a2);
    await driven.list(thing('a', 3));
    expect(indexer.listIndexFuncValues('byValue')).toEqual(['3']);
    expect(Object.keys(indexer.getIndexers())).toEqual([namespaceIndex, 'byNode', 'byValue']);
    expect(() => driven.informer.addIndexers({ byNode: () => [] })).toThrow(/index "byNode" already exists/);
  });

  test('a function that fails keeps no object out of the store, and is retried', async () => {
    const log = memoryLogger();
    let isBroken = true;
    const bad = (obj: Thing) => {
      if (isBroken && obj.metadata.name === 'a') throw new Error('cannot');
      return ['good'];
    };
    const odd = () => 'no array' as unknown as string[];
    await using driven = new DrivenInformer({ indexers: { bad, odd } }, { log });
    await driven.start(a1, b1);
    await driven.update(a2);
    expect(driven.informer.getStore().list().map(short)).toEqual(['a2', 'b1']);
    expect(driven.informer.getIndexer().byIndex('bad', 'good').map(short)).toEqual(['b1']);
    const reported = log.records.map(({ level, fields }) => `${level} ${fields.function} ${fields.key}`);
    expect(reported.filter((each) => each.startsWith('error'))).toEqual([
      'error index "bad" shop/a',
      'error index "odd" shop/a',
      'error index "odd" shop/b',
    ]);
    expect(driven.informer.health.failing.map(({ key, function: func }) => `${func} ${key}`)).toEqual([
      'index "odd" shop/b',
      'index "bad" shop/a',
      'index "odd" shop/a',
    ]);
    expect([driven.informer.unindexed('bad'), driven.informer.unindexed('odd')]).toEqual([1, 2]);
    isBroken = false;
    await driven.clock.advance(1_000);
    expect(driven.informer.getIndexer().byIndex('bad', 'good').map(short).toSorted()).toEqual(['a2', 'b1']);
    await driven.delete(thing('a', 3));
    expect(driven.informer.getIndexer().byIndex('bad', 'good').map(short)).toEqual(['b1']);
    expect(driven.informer.unindexed('odd')).toBe(1);
    // A list in place of all: what is not in it is forgotten.
    await driven.list(thing('c', 4));
    expect(driven.informer.health.failing.map(({ key }) => key)).toEqual(['shop/c']);
  });

  test('a function that failed and works by the next version: the object is filed, and under nothing else', async () => {
    let failing = 'a';
    const byValue = (obj: Thing) => {
      if (obj.metadata.name === failing) throw new Error('cannot');
      return [String(obj.spec?.value)];
    };
    await using driven = new DrivenInformer({ indexers: { byValue } });
    const indexer = driven.informer.getIndexer();
    await driven.start(a1, b1);
    expect(indexer.listIndexFuncValues('byValue')).toEqual(['1']);
    failing = 'b';
    await driven.update(a2);
    expect(indexer.byIndex('byValue', '2').map(short)).toEqual(['a2']);
    // It fails now for what it took before: the object must not stay where it was.
    await driven.update(thing('b', 2));
    expect(indexer.byIndex('byValue', '1')).toEqual([]);
    failing = '';
    await driven.update(thing('b', 2));
    expect(indexer.byIndex('byValue', '2').map(short).toSorted()).toEqual(['a2', 'b2']);
    expect(driven.informer.health.failing).toEqual([]);
  });

  test('an object without a name is left out of a list, and reported', async () => {
    const log = memoryLogger();
    await using driven = new DrivenInformer({}, { log });
    await driven.start(thing('', 1), a1);
    expect(driven.informer.getStore().list().map(short)).toEqual(['a1']);
    expect(log.messages('error')).toEqual(['cannot store object']);
  });
});

test('an observer of the base gets every change, before any handler', async () => {
  await using driven = new DrivenInformer();
  const seen: string[] = [];
  driven.informer[observeBase]({
    upserted: (key, obj, previous) => seen.push(`${key} ${previous ? short(previous) : '-'} ${short(obj)}`),
    deleted: (key, last) => seen.push(`${key} ${short(last)} -`),
    replaced: (version) => seen.push(`replaced ${version}`),
    bookmarked: (version) => seen.push(`bookmark ${version}`),
  });
  driven.informer.addEventHandler(noting(seen));
  await driven.start(a1);
  await driven.update(a2, b1);
  driven.queue.bookmark('9');
  await driven.delete(thing('b', 10));
  expect(seen).toEqual([
    ...['replaced 1', 'add a1!', 'shop/a a1 a2', 'update a1 a2', 'shop/b - b1', 'add b1', 'bookmark 9'],
    ...['shop/b b10 -', 'delete b10'],
  ]);
  expect(driven.informer.getStore().lastStoreSyncResourceVersion()).toBe('10');
});
