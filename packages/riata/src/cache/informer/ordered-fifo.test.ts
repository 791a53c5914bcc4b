import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { gone, knowing, nameOf, popAll, popNow, type Thing, thing } from '../compat/fifo.fixture.js';
import { DeletedFinalStateUnknown } from './deleted-final-state-unknown.js';
import type { Delta } from './delta.js';
import { OrderedFIFO, type OrderedFIFOOptions } from './ordered-fifo.js';
import { QueueClosedError, RequeueError } from './queue.js';

const create = (options: OrderedFIFOOptions<Thing> = {}) => new OrderedFIFO<Thing>({ keyFunc: nameOf, ...options });
const added = (name: string, val: number) => ({ type: 'Added', object: thing(name, val) });
const updated = (name: string, val: number) => ({ type: 'Updated', object: thing(name, val) });
const deleted = (name: string, val: number) => ({ type: 'Deleted', object: thing(name, val) });
const replaced = (name: string, val: number) => ({ type: 'Replaced', object: thing(name, val) });
const sync = (name: string, val: number) => ({ type: 'Sync', object: thing(name, val) });
const vanished = (name: string, val?: number) => ({ type: 'Deleted', object: gone(name, val) });
const all = async (queue: OrderedFIFO<Thing>) => (await popAll(queue)).flat();

/** Batches as the names in them, with a star for those of the initial list. */
async function batches(queue: OrderedFIFO<Thing>): Promise<string[]> {
  const seen: string[] = [];
  while (queue.list().length > 0) {
    await queue.popBatch((deltas, isInInitialList) => {
      const names = deltas.map((delta) => ('object' in delta ? (delta.object as Thing).name : delta.type));
      seen.push(names.join(' ') + (isInInitialList ? '*' : ''));
    });
  }
  return seen;
}

describe('OrderedFIFO', () => {
  test('basic: every change, in the order in which they came', async () => {
    const queue = create();
    queue.add(thing('a', 1));
    queue.add(thing('b', 1));
    queue.update(thing('a', 2));
    queue.delete(thing('b', 2));
    queue.add(thing('b', 3));
    expect(queue.listKeys()).toEqual(['a', 'b']);
    expect(queue.get(thing('a', 0))).toEqual([added('a', 1), updated('a', 2)]);
    expect(queue.getByKey('c')).toBeUndefined();
    expect(await all(queue)).toEqual([added('a', 1), added('b', 1), updated('a', 2), deleted('b', 2), added('b', 3)]);
  });

  test('pop hands out one change in an array of one', async () => {
    const queue = create();
    queue.add(thing('a', 1));
    queue.add(thing('b', 1));
    expect(await popNow(queue)).toEqual([added('a', 1)]);
  });

  test('what is put back by a RequeueError comes next again', async () => {
    const queue = create();
    for (const name of ['a', 'b', 'c']) queue.add(thing(name, 1));
    await queue.popBatch(async () => {
      queue.add(thing('a', 2));
      throw new RequeueError();
    });
    expect(await all(queue)).toEqual([added('a', 1), added('b', 1), added('c', 1), added('a', 2)]);
  });

  test('a batch size has to be a number from 1 up', () => {
    expect(() => create({ batchSize: 0 })).toThrow('batchSize');
    expect(() => create({ batchSize: Number.NaN })).toThrow('batchSize');
  });
});

describe('OrderedFIFO, atomic', () => {
  const replacedAll = (resourceVersion: string, ...objects: Thing[]) => ({
    type: 'ReplacedAll',
    objects,
    resourceVersion,
  });

  test('ReplaceAtomic: one change for the whole list, even an empty one', async () => {
    const queue = create();
    queue.replace([thing('foo', 2), thing('bar', 3)], '0');
    queue.replace([], '1');
    expect(await all(queue)).toEqual([replacedAll('0', thing('foo', 2), thing('bar', 3)), replacedAll('1')]);
  });

  test('ReplaceAtomic: in order with the other changes', async () => {
    const queue = create();
    queue.add(thing('foo', 1));
    queue.replace([thing('foo', 2)], '5');
    queue.bookmark('6');
    queue.delete(thing('foo', 3));
    expect(await all(queue)).toEqual([
      added('foo', 1),
      replacedAll('5', thing('foo', 2)),
      { type: 'Bookmark', resourceVersion: '6' },
      deleted('foo', 3),
    ]);
  });

  test('ReplaceAtomicPop: synced after the list was processed', async () => {
    const queue = create();
    queue.replace([thing('foo', 2), thing('bar', 2)], '0');
    queue.add(thing('baz', 1));
    const initial: boolean[] = [];
    await popNow(queue, (_, isInInitialList) => {
      initial.push(isInInitialList, queue.hasSynced());
    });
    expect(queue.hasSynced()).toBe(true);
    await popNow(queue, (_, isInInitialList) => void initial.push(isInInitialList));
    expect(initial).toEqual([true, false, false]);
  });

  test('an empty first list has to be processed, too', async () => {
    const queue = create();
    queue.replace([], '0');
    expect(queue.hasSynced()).toBe(false);
    await popNow(queue);
    expect(queue.hasSynced()).toBe(true);
  });

  test('ResyncAtomic: one change for all', async () => {
    const queue = create();
    queue.resync();
    queue.add(thing('foo', 1));
    queue.resync();
    expect(await all(queue)).toEqual([{ type: 'SyncAll' }, added('foo', 1), { type: 'SyncAll' }]);
  });

  test('what is about all comes alone in a batch', async () => {
    const queue = create();
    queue.replace([thing('a', 1)], '1');
    for (const name of ['a', 'b']) queue.add(thing(name, 1));
    queue.resync();
    queue.bookmark('2');
    for (const name of ['c', 'd']) queue.add(thing(name, 1));
    expect(await batches(queue)).toEqual(['ReplacedAll*', 'a b', 'SyncAll', 'Bookmark', 'c d']);
  });

  test('transformer: once per object before it is in line, never on tombstones', async () => {
    const queue = create({ transform: (obj) => ({ ...obj, val: obj.val + 100 }) });
    queue.add(thing('a', 1));
    queue.update(thing('a', 2));
    queue.delete(thing('a', 3));
    queue.delete(new DeletedFinalStateUnknown('a', thing('a', 4)));
    queue.replace([thing('b', 5)], '1');
    expect(await all(queue)).toMatchObject([
      added('a', 101),
      updated('a', 102),
      deleted('a', 103),
      vanished('a', 4),
      replacedAll('1', thing('b', 105)),
    ]);
  });

  test('a transformer that throws leaves all as it was', () => {
    const queue = create({
      transform: () => {
        throw new Error('no');
      },
    });
    expect(() => queue.add(thing('a', 1))).toThrow('no');
    expect(() => queue.replace([thing('a', 1)], '1')).toThrow('no');
    expect(queue.list()).toEqual([]);
    expect(queue.hasSynced()).toBe(false);
  });
});

describe('OrderedFIFO with known objects', () => {
  const known = knowing(thing('foo', 5), thing('bar', 6), thing('baz', 7));

  describe('replace makes deletions for objects only in the queue', () => {
    const [foo, fooV2] = [thing('foo', 2), thing('foo', 3)];
    test.each<[string, (queue: OrderedFIFO<Thing>) => void, object[]]>([
      [
        'added object should be deleted',
        (queue) => {
          queue.add(foo);
          queue.replace([], '0');
        },
        [added('foo', 2), vanished('foo', 2)],
      ],
      [
        'deleted object should have only a single delete',
        (queue) => {
          queue.add(foo);
          queue.delete(foo);
          queue.replace([], '0');
        },
        [added('foo', 2), deleted('foo', 2)],
      ],
      [
        'replaced objects should have a single delete',
        (queue) => {
          queue.replace([foo], '0');
          queue.replace([foo], '0');
          queue.replace([], '0');
        },
        [replaced('foo', 2), replaced('foo', 2), vanished('foo', 2)],
      ],
      [
        'added objects should have a single delete on multiple replaces',
        (queue) => {
          queue.add(foo);
          queue.replace([], '0');
          queue.replace([], '1');
        },
        [added('foo', 2), vanished('foo', 2)],
      ],
      [
        'added and deleted and added object should be deleted',
        (queue) => {
          queue.add(foo);
          queue.delete(foo);
          queue.add(fooV2);
          queue.replace([], '0');
        },
        [added('foo', 2), deleted('foo', 2), added('foo', 3), vanished('foo', 3)],
      ],
      ['a bookmark should not be told', (queue) => queue.bookmark('1'), []],
    ])('%s', async (_, act, expected) => {
      const queue = create({ knownObjects: knowing() });
      act(queue);
      const deltas = await all(queue);
      expect(deltas).toMatchObject(expected);
      expect(deltas).toHaveLength(expected.length);
    });
  });

  test('replace makes deletions, before what the list holds', async () => {
    const queue = create({ knownObjects: known });
    queue.delete(thing('baz', 10));
    queue.replace([thing('foo', 5)], '0');
    expect(await all(queue)).toMatchObject([deleted('baz', 10), vanished('bar', 6), replaced('foo', 5)]);
  });

  test('HasSynced is right on deletion', async () => {
    const queue = create({ knownObjects: known });
    queue.replace([thing('foo', 5)], '0');
    for (const expected of [vanished('bar', 6), vanished('baz', 7), replaced('foo', 5)]) {
      expect(queue.hasSynced()).toBe(false);
      expect(await popNow(queue)).toMatchObject([expected]);
    }
    expect(queue.hasSynced()).toBe(true);
  });

  test('update and resync race: an older state does not come after a newer one', async () => {
    const queue = create({ knownObjects: knowing(thing('foo', 5), thing('bar', 6)) });
    queue.update(thing('foo', 6));
    queue.resync();
    expect(await all(queue)).toEqual([updated('foo', 6), sync('bar', 6)]);
    queue.update(thing('bar', 7));
    await queue.pop(async () => queue.resync());
    expect(await all(queue)).toEqual([sync('foo', 5)]);
  });

  test('what is being processed is not known yet, and vanishes all the same', async () => {
    const queue = create({ knownObjects: knowing() });
    queue.add(thing('foo', 1));
    await queue.pop(async () => queue.replace([], '2'));
    expect(await all(queue)).toMatchObject([vanished('foo', 1)]);
  });

  test('replace and resync of what is listed and not there', async () => {
    const queue = create({ knownObjects: { listKeys: () => ['foo'], getByKey: () => undefined } });
    queue.resync();
    expect(queue.list()).toEqual([]);
    queue.replace([], '0');
    expect(await all(queue)).toMatchObject([vanished('foo')]);
  });
});

describe('OrderedFIFO pops several changes in one batch', () => {
  const initially = (queue: OrderedFIFO<Thing>, ...names: string[]) =>
    queue.replace(
      names.map((name) => thing(name, 1)),
      '0',
    );
  const change = (queue: OrderedFIFO<Thing>, ...names: string[]) => {
    for (const name of names) queue.update(thing(name, 2));
  };

  test.each<[string, number, (queue: OrderedFIFO<Thing>) => void, string[]]>([
    ['unique items in one', 1000, (q) => change(q, 'a', 'b', 'c'), ['a b c']],
    [
      'split due to the initial list',
      1000,
      (q) => {
        initially(q, 'a', 'b');
        change(q, 'c', 'd');
      },
      ['a b*', 'c d'],
    ],
    ['split due to a key that comes again at once', 1000, (q) => change(q, 'a', 'a', 'a'), ['a', 'a', 'a']],
    ['split due to a key that comes again at the end', 1000, (q) => change(q, 'a', 'b', 'a'), ['a b', 'a']],
    ['split due to a key that comes again in between', 1000, (q) => change(q, 'a', 'b', 'a', 'c'), ['a b', 'a c']],
    ['split due to batch size, initial list', 2, (q) => initially(q, 'a', 'b', 'c'), ['a b*', 'c*']],
    ['split due to batch size, later changes', 2, (q) => change(q, 'a', 'b', 'c', 'd', 'e'), ['a b', 'c d', 'e']],
    [
      'split due to batch size, both',
      2,
      (q) => {
        initially(q, 'a', 'b', 'c');
        change(q, 'd');
      },
      ['a b*', 'c*', 'd'],
    ],
  ])('%s', async (_, batchSize, act, expected) => {
    const queue = create({ batchSize, knownObjects: knowing() });
    act(queue);
    expect(await batches(queue)).toEqual(expected);
    expect(queue.hasSynced()).toBe(true);
  });

  test('at most 1000 by default', async () => {
    const queue = create();
    change(queue, ...Array.from({ length: 2500 }, (_, i) => `n${i}`));
    const sizes: number[] = [];
    while (queue.list().length > 0) sizes.push((await queue.popBatch(() => {})).length);
    expect(sizes).toEqual([1000, 1000, 500]);
  });

  test('waits, and ends when closed', async () => {
    const queue = create();
    const waiting = queue.popBatch(() => {});
    queue.add(thing('a', 1));
    expect(await waiting).toEqual([added('a', 1)]);
    const refused = queue.popBatch(() => {});
    queue.close();
    await expect(refused).rejects.toBeInstanceOf(QueueClosedError);
  });

  test('any mix of calls: all changes come, in order; batches keep their rules', async () => {
    const call = fc.constantFrom('add', 'delete', 'replace', 'resync', 'bookmark', 'pop', 'popBatch', 'requeue');
    const calls = fc.array(fc.tuple(call, fc.constantFrom('a', 'b', 'c', 'd')), { maxLength: 80 });
    await fc.assert(
      fc.asyncProperty(calls, fc.integer({ min: 1, max: 5 }), async (calls, batchSize) => {
        const queue = create({ batchSize });
        const expected: unknown[] = [];
        const popped: unknown[] = [];
        let first: number | undefined;
        const take = (deltas: readonly Delta<Thing>[], isInInitialList: boolean) => {
          const keys = deltas.map((delta) => ('object' in delta ? (delta.object as Thing).name : delta));
          expect(new Set(keys).size).toBe(deltas.length);
          if (deltas.some((delta) => !('object' in delta))) expect(deltas).toHaveLength(1);
          expect(deltas.length).toBeLessThanOrEqual(batchSize);
          popped.push(...deltas);
          expect(isInInitialList).toBe(first !== undefined && popped.length <= first);
        };
        for (const [at, [call, name]] of calls.entries()) {
          const object = thing(name, at);
          const isEmpty = queue.list().length === 0;
          if (call === 'add' || call === 'delete') {
            queue[call](object);
            expected.push({ type: call === 'add' ? 'Added' : 'Deleted', object });
            first ??= 0;
          } else if (call === 'replace') {
            queue.replace([object], String(at));
            expected.push({ type: 'ReplacedAll', objects: [object], resourceVersion: String(at) });
            // Popped before the first change: bookmarks and resyncs only.
            first ??= expected.length;
          } else if (call === 'resync') {
            queue.resync();
            expected.push({ type: 'SyncAll' });
          } else if (call === 'bookmark') {
            queue.bookmark(String(at));
            expected.push({ type: 'Bookmark', resourceVersion: String(at) });
          } else if (!isEmpty && first !== undefined) {
            if (call === 'requeue') await queue.popBatch(() => Promise.reject(new RequeueError()));
            else await queue[call](take);
          }
        }
        while (queue.list().length > 0)
          await queue.popBatch(first === undefined ? (deltas) => void popped.push(...deltas) : take);
        expect(popped).toEqual(expected);
        expect(queue.hasSynced()).toBe(first !== undefined);
      }),
      { numRuns: 200 },
    );
  });
});
