import { describe, expect, test } from 'vitest';
import { DeletedFinalStateUnknown, isDeletedFinalStateUnknown } from '../informer/deleted-final-state-unknown.js';
import { RequeueError } from '../informer/queue.js';
import { DeltaFIFO } from './delta-fifo.js';
import { gone, knowing, nameOf, popAll, popNow, type Thing, thing } from './fifo.fixture.js';

const create = (knownObjects?: ReturnType<typeof knowing>) => new DeltaFIFO<Thing>({ keyFunc: nameOf, knownObjects });
const added = (name: string, val: number) => ({ type: 'Added', object: thing(name, val) });
const updated = (name: string, val: number) => ({ type: 'Updated', object: thing(name, val) });
const deleted = (name: string, val: number) => ({ type: 'Deleted', object: thing(name, val) });
const replaced = (name: string, val: number) => ({ type: 'Replaced', object: thing(name, val) });
const sync = (name: string, val: number) => ({ type: 'Sync', object: thing(name, val) });
const vanished = (name: string, val?: number) => ({ type: 'Deleted', object: gone(name, val) });

describe('DeltaFIFO', () => {
  test('basic: all changes of a key at once, keys in the order in which they came', async () => {
    const queue = create();
    queue.add(thing('a', 1));
    queue.add(thing('b', 1));
    queue.update(thing('a', 2));
    queue.delete(thing('b', 2));
    queue.add(thing('b', 3));
    expect(await popAll(queue)).toMatchObject([
      [added('a', 1), updated('a', 2)],
      [added('b', 1), deleted('b', 2), added('b', 3)],
    ]);
  });

  test('replaceWithDeleteDeltaIn: a deletion in line comes before the object of the list', async () => {
    const queue = create(knowing(thing('foo', 1)));
    queue.delete(thing('foo', 1));
    queue.replace([thing('foo', 2)], '0');
    expect(await popAll(queue)).toMatchObject([[deleted('foo', 1), replaced('foo', 2)]]);
  });

  describe('replace makes deletions for objects only in the queue', () => {
    const [foo, fooV2] = [thing('foo', 2), thing('foo', 3)];
    test.each<[string, (queue: DeltaFIFO<Thing>) => void, object[]]>([
      [
        'added object should be deleted',
        (queue) => {
          queue.add(foo);
          queue.replace([], '0');
        },
        [added('foo', 2), vanished('foo', 2)],
      ],
      [
        'replaced object should have only a single delete',
        (queue) => {
          queue.add(foo);
          queue.replace([foo], '0');
          queue.replace([], '0');
        },
        [added('foo', 2), replaced('foo', 2), vanished('foo', 2)],
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
        'added object should have a single delete on multiple replaces',
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
    ])('%s', async (_, act, expected) => {
      for (const queue of [create(), create(knowing())]) {
        act(queue);
        const [deltas, ...rest] = await popAll(queue);
        expect(deltas).toMatchObject(expected);
        expect(deltas).toHaveLength(expected.length);
        expect(rest).toEqual([]);
      }
    });
  });

  test('addUpdate', async () => {
    const queue = create();
    queue.add(thing('foo', 10));
    queue.update(thing('foo', 12));
    queue.delete(thing('foo', 15));
    expect(queue.list()).toHaveLength(1);
    expect(queue.get(thing('foo', 0))).toHaveLength(3);
    const [deltas] = await popAll(queue);
    expect(deltas?.at(0)).toEqual(added('foo', 10));
    expect(deltas?.at(-1)).toEqual(deleted('foo', 15));
    expect(queue.getByKey('foo')).toBeUndefined();
  });

  test('transformer: once per object before it is in line, never on tombstones and sync', async () => {
    const calls: Thing[] = [];
    const transform = (obj: Thing) => {
      calls.push(obj);
      return { ...obj, val: obj.val + 100 };
    };
    const queue = new DeltaFIFO<Thing>({ keyFunc: nameOf, transform, knownObjects: knowing(thing('known', 7)) });
    queue.resync();
    queue.add(thing('a', 1));
    queue.update(thing('a', 2));
    queue.delete(thing('a', 3));
    queue.delete(new DeletedFinalStateUnknown('a', thing('a', 4)));
    queue.replace([thing('b', 5)], '1');
    expect(calls).toEqual([thing('a', 1), thing('a', 2), thing('a', 3), thing('b', 5)]);
    expect(await popAll(queue)).toMatchObject([
      [sync('known', 7), vanished('known', 7)],
      [added('a', 101), updated('a', 102), deleted('a', 103)],
      [replaced('b', 105)],
    ]);
  });

  test('a transformer that throws leaves all as it was', () => {
    const transform = (obj: Thing) => {
      if (obj.val < 0) throw new Error('below zero');
      return obj;
    };
    const queue = new DeltaFIFO<Thing>({ keyFunc: nameOf, transform });
    queue.add(thing('a', 1));
    expect(() => queue.update(thing('a', -1))).toThrow('below zero');
    expect(() => queue.replace([thing('b', 1), thing('c', -1)], '1')).toThrow('below zero');
    expect(queue.list()).toEqual([[added('a', 1)]]);
  });

  test('enqueueing without a lister: only a deletion of what is in line counts', () => {
    const queue = create();
    queue.add(thing('foo', 10));
    queue.update(thing('bar', 15));
    queue.delete(thing('baz', 20));
    queue.delete(thing('foo', 15));
    expect(queue.listKeys()).toEqual(['foo', 'bar']);
  });

  test('enqueueing with a lister: a deletion of what is known counts, too', () => {
    const queue = create(knowing(thing('foo', 5), thing('bar', 6), thing('baz', 7)));
    queue.add(thing('foo', 10));
    queue.update(thing('bar', 15));
    queue.delete(thing('baz', 20));
    queue.delete(thing('nope', 1));
    expect(queue.listKeys()).toEqual(['foo', 'bar', 'baz']);
  });

  test('resync: every known object that has nothing in line', async () => {
    const queue = create(knowing(thing('foo', 5), thing('bar', 6)));
    queue.update(thing('foo', 9));
    queue.resync();
    queue.resync();
    expect(await popAll(queue)).toEqual([[updated('foo', 9)], [sync('bar', 6)]]);
    const unknowing = create();
    unknowing.resync();
    expect(unknowing.list()).toEqual([]);
  });

  test('resync of what is listed and not there', () => {
    const queue = create({ listKeys: () => ['foo'], getByKey: () => undefined });
    queue.resync();
    expect(queue.list()).toEqual([]);
  });

  test('resync wakes a pop that waits', async () => {
    const queue = create(knowing(thing('foo', 5)));
    const popped = queue.pop(() => {});
    queue.resync();
    expect(await popped).toEqual([sync('foo', 5)]);
  });

  test('deleting what does not exist is not passed on', async () => {
    const queue = create(knowing());
    queue.delete(thing('foo', 5));
    expect(queue.list()).toEqual([]);
  });

  test('replace makes deletions', async () => {
    const known = knowing(thing('foo', 5), thing('bar', 6), thing('baz', 7));
    const after = (act: (queue: DeltaFIFO<Thing>) => void) => {
      const queue = create(known);
      act(queue);
      return popAll(queue);
    };
    expect(
      await after((queue) => {
        queue.delete(thing('baz', 10));
        queue.replace([thing('foo', 5)], '0');
      }),
    ).toMatchObject([[deleted('baz', 10)], [replaced('foo', 5)], [vanished('bar', 6)]]);
    expect(
      await after((queue) => {
        queue.add(thing('baz', 10));
        queue.replace([thing('foo', 5)], '0');
      }),
    ).toMatchObject([[added('baz', 10), vanished('baz', 10)], [replaced('foo', 5)], [vanished('bar', 6)]]);
    expect(
      await after((queue) => {
        queue.delete(thing('bar', 6));
        queue.add(thing('bar', 100));
        queue.replace([thing('foo', 5)], '0');
      }),
    ).toMatchObject([
      [deleted('bar', 6), added('bar', 100), vanished('bar', 100)],
      [replaced('foo', 5)],
      [vanished('baz', 7)],
    ]);
    expect(
      await after((queue) => {
        queue.replace([thing('bar', 100), thing('foo', 5)], '0');
        queue.replace([thing('foo', 5)], '0');
      }),
    ).toMatchObject([
      [replaced('bar', 100), vanished('bar', 100)],
      [replaced('foo', 5), replaced('foo', 5)],
      [vanished('baz', 7)],
    ]);
  });

  test('replace makes a tombstone without an object where the known one is not found', async () => {
    const queue = create({ listKeys: () => ['foo'], getByKey: () => undefined });
    queue.replace([], '0');
    const [deltas] = await popAll(queue);
    expect(deltas).toMatchObject([vanished('foo')]);
    expect(isDeletedFinalStateUnknown(deltas?.[0]?.object)).toBe(true);
  });

  test('of two deletions, the one that knows the final state stays', async () => {
    const tombstone = new DeletedFinalStateUnknown('a', thing('a', 1));
    const queue = create(knowing(thing('a', 1), thing('b', 1)));
    queue.delete(tombstone);
    queue.delete(thing('a', 2));
    queue.delete(tombstone);
    queue.delete(thing('b', 3));
    queue.delete(thing('b', 4));
    expect(await popAll(queue)).toEqual([[deleted('a', 2)], [deleted('b', 3)]]);
  });

  test('update and resync race: an older state does not come after a newer one', async () => {
    const queue = create(knowing(thing('foo', 5)));
    queue.update(thing('foo', 6));
    queue.resync();
    expect(await popAll(queue)).toEqual([[updated('foo', 6)]]);
  });

  test('HasSynced is right on deletion: what vanished belongs to the first batch', async () => {
    const queue = create(knowing(thing('foo', 5), thing('bar', 6), thing('baz', 7)));
    queue.replace([thing('foo', 5)], '0');
    for (const expected of [replaced('foo', 5), vanished('bar', 6), vanished('baz', 7)]) {
      expect(queue.hasSynced()).toBe(false);
      expect(await popNow(queue)).toMatchObject([expected]);
    }
    expect(queue.hasSynced()).toBe(true);
  });

  test('HasSynced: a key twice in the first list is one item', async () => {
    const queue = create();
    queue.replace([thing('a', 1), thing('a', 2)], '0');
    expect(await popNow(queue)).toEqual([replaced('a', 1), replaced('a', 2)]);
    expect(queue.hasSynced()).toBe(true);
    const empty = create();
    empty.replace([], '0');
    expect(empty.hasSynced()).toBe(true);
  });

  test('what came while it was processed is behind what is put back: nothing is lost', async () => {
    const queue = create();
    queue.add(thing('a', 1));
    queue.delete(thing('a', 2));
    await queue.pop(async () => {
      queue.add(thing('a', 3));
      throw new RequeueError();
    });
    expect(await popAll(queue)).toEqual([[added('a', 1), deleted('a', 2), added('a', 3)]]);
  });

  test('what is handed out does not change any more', async () => {
    const queue = create();
    queue.add(thing('a', 1));
    const [got, [listed]] = [queue.getByKey('a'), queue.list()];
    queue.update(thing('a', 2));
    expect(got).toEqual([added('a', 1)]);
    expect(listed).toEqual([added('a', 1)]);
    const popped = await queue.pop(() => Promise.reject(new RequeueError()));
    queue.update(thing('a', 3));
    expect(popped).toHaveLength(2);
    expect(() => queue.addIfNotPresent([])).toThrow('got none');
  });
});
