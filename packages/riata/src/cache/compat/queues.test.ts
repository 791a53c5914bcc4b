import { describe, expect, test } from 'vitest';
import { OrderedFIFO } from '../informer/ordered-fifo.js';
import { isQueueClosed, isRequeueError, type Queue, QueueClosedError, RequeueError } from '../informer/queue.js';
import { KeyError } from '../store/key-func.js';
import { DeltaFIFO } from './delta-fifo.js';
import { knowing, nameOf, popNow, type Thing, thing } from './fifo.fixture.js';
import { FIFO } from './fifo.js';

const queues: [string, () => Queue<Thing, unknown>][] = [
  ['FIFO', () => new FIFO<Thing>(nameOf) as Queue<Thing, unknown>],
  ['DeltaFIFO', () => new DeltaFIFO<Thing>({ keyFunc: nameOf }) as Queue<Thing, unknown>],
  ['OrderedFIFO', () => new OrderedFIFO<Thing>({ keyFunc: nameOf }) as Queue<Thing, unknown>],
  [
    'OrderedFIFO with known objects',
    () => new OrderedFIFO<Thing>({ keyFunc: nameOf, knownObjects: knowing() }) as Queue<Thing, unknown>,
  ],
];

/** Lets everything run that is not waiting for something from outside. */
const turn = async () => {
  for (let i = 0; i < 10; i += 1) await Promise.resolve();
};

describe.each(queues)('%s', (name, create) => {
  const itemsOf = (count: number) => (name === 'OrderedFIFO' ? 1 : count);

  test('HasSynced: false at first, true at once when the first call is no replace', () => {
    const synced = (act: (queue: Queue<Thing, unknown>) => void) => {
      const queue = create();
      act(queue);
      return queue.hasSynced();
    };
    expect(synced(() => {})).toBe(false);
    expect(synced((queue) => queue.add(thing('a', 1)))).toBe(true);
    expect(synced((queue) => queue.update(thing('a', 1)))).toBe(true);
    expect(synced((queue) => queue.delete(thing('a', 1)))).toBe(true);
    expect(synced((queue) => queue.resync())).toBe(false);
    expect(synced((queue) => queue.bookmark('1'))).toBe(false);
    expect(synced((queue) => queue.replace([thing('a', 1)], '1'))).toBe(false);
  });

  test('HasSynced: true once the first batch is processed, not when it is handed out', async () => {
    const queue = create();
    queue.replace([thing('a', 1), thing('b', 2)], '0');
    queue.add(thing('c', 3));
    const seen: boolean[] = [];
    for (let i = 0; i < itemsOf(2); i += 1) {
      expect(queue.hasSynced()).toBe(false);
      await popNow(queue, async (_, isInInitialList) => {
        await turn();
        expect(queue.hasSynced()).toBe(false);
        seen.push(isInInitialList);
      });
    }
    expect(queue.hasSynced()).toBe(true);
    await popNow(queue, (_, isInInitialList) => void seen.push(isInInitialList));
    expect(seen).toEqual([...new Array(itemsOf(2)).fill(true), false]);
  });

  test('synced waits for it, and ends with its signal', async () => {
    const queue = create();
    const stop = new AbortController();
    const waits = [queue.synced(), queue.synced({ signal: stop.signal })];
    const reported: string[] = [];
    waits[0]?.then(() => reported.push('synced'));
    waits[1]?.catch((reason) => reported.push(reason));
    stop.abort('enough');
    await turn();
    expect(reported).toEqual(['enough']);
    queue.add(thing('a', 1));
    await waits[0];
    await queue.synced();
    expect(reported).toEqual(['enough', 'synced']);
    await expect(create().synced({ signal: stop.signal })).rejects.toBe('enough');
  });

  test('pop waits for an item', async () => {
    const queue = create();
    const popped = queue.pop(() => {});
    await turn();
    queue.add(thing('a', 1));
    await popped;
    expect(queue.list()).toEqual([]);
  });

  test('pop should unblock when closed', async () => {
    const queue = create();
    const waits = [1, 2, 3].map(() => queue.pop(() => {}).catch((error: unknown) => error));
    await turn();
    expect(queue.isClosed()).toBe(false);
    queue.close();
    queue.close();
    for (const error of await Promise.all(waits)) expect(isQueueClosed(error)).toBe(true);
    expect(queue.isClosed()).toBe(true);
    await expect(queue.pop(() => {})).rejects.toBeInstanceOf(QueueClosedError);
  });

  test('what is in line when it is closed can still be popped', async () => {
    const queue = create();
    queue.add(thing('a', 1));
    queue.close();
    await popNow(queue);
    await expect(queue.pop(() => {})).rejects.toBeInstanceOf(QueueClosedError);
  });

  test('pop ends with its signal, takes nothing then, and leaves the turn to others', async () => {
    const queue = create();
    const stop = new AbortController();
    const given = queue.pop(() => {}, { signal: stop.signal });
    const other = queue.pop(() => {});
    await turn();
    stop.abort('enough');
    await expect(given).rejects.toBe('enough');
    await expect(queue.pop(() => {}, { signal: stop.signal })).rejects.toBe('enough');
    queue.add(thing('a', 1));
    await other;
    expect(queue.list()).toEqual([]);
  });

  test('one item is processed at a time, in order', async () => {
    const queue = create();
    const log: string[] = [];
    const pops = ['x', 'y', 'z'].map((label) =>
      queue.pop(async () => {
        log.push(`${label}{`);
        await turn();
        log.push(`}${label}`);
      }),
    );
    for (const name of ['a', 'b', 'c']) queue.add(thing(name, 1));
    await Promise.all(pops);
    expect(log.join('')).toBe('x{}xy{}yz{}z');
  });

  test('what processing throws is what pop rejects with; the item is out of the line', async () => {
    const queue = create();
    queue.replace([thing('a', 1)], '1');
    const failure = new Error('no');
    await expect(
      queue.pop(() => {
        throw failure;
      }),
    ).rejects.toBe(failure);
    expect(queue.list()).toEqual([]);
    expect(queue.hasSynced()).toBe(true);
    queue.add(thing('b', 1));
    await expect(queue.pop(() => Promise.reject(failure))).rejects.toBe(failure);
    expect(queue.list()).toEqual([]);
  });

  test('a RequeueError puts the item back; pop rejects with the error inside', async () => {
    const queue = create();
    queue.replace([thing('a', 1)], '1');
    const before = queue.list();
    const inner = new Error('later');
    await expect(queue.pop(() => Promise.reject(new RequeueError(inner)))).rejects.toBe(inner);
    expect(queue.list()).toEqual(before);
    expect(queue.hasSynced()).toBe(false);
    // Without an error inside there is nothing to reject with.
    await queue.pop(() => Promise.reject(new RequeueError()));
    expect(queue.list()).toEqual(before);
    let initial = false;
    await popNow(queue, (_, isInInitialList) => {
      initial = isInInitialList;
    });
    expect(initial).toBe(true);
    expect(queue.hasSynced()).toBe(true);
    expect(isRequeueError(inner)).toBe(false);
  });

  test('addIfNotPresent puts back what was popped', async () => {
    const queue = create();
    queue.add(thing('a', 1));
    const before = queue.list();
    const item = await popNow(queue);
    queue.addIfNotPresent(item);
    queue.addIfNotPresent(item);
    expect(queue.list()).toEqual(before);
  });

  test('what has no key is refused, and nothing has changed', () => {
    const keyed = (keyFunc: (thing: Thing) => string): Queue<Thing, unknown> =>
      name === 'FIFO'
        ? (new FIFO(keyFunc) as Queue<Thing, unknown>)
        : name === 'DeltaFIFO'
          ? (new DeltaFIFO({ keyFunc }) as Queue<Thing, unknown>)
          : (new OrderedFIFO({ keyFunc, knownObjects: knowing() }) as Queue<Thing, unknown>);
    const queue = keyed((thing) => {
      if (thing.val < 0) throw new Error('below zero');
      return thing.name;
    });
    expect(() => queue.add(thing('a', -1))).toThrow(KeyError);
    expect(() => queue.update(thing('a', -1))).toThrow('below zero');
    expect(() => queue.delete(thing('a', -1))).toThrow(KeyError);
    expect(() => queue.replace([thing('a', 1), thing('b', -1)], '1')).toThrow(KeyError);
    expect(queue.list()).toEqual([]);
    expect(queue.hasSynced()).toBe(false);
  });

  test('detect line jumpers: what changes while it waits keeps its place, what was popped has lost it', async () => {
    const queue = create();
    const key = (item: unknown) => JSON.stringify(item).match(/"name":"(\w+)"/)?.[1];
    queue.add(thing('foo', 10));
    queue.add(thing('bar', 1));
    queue.add(thing('baz', 1));
    expect(key(await popNow(queue))).toBe('foo');
    queue.add(thing('foo', 12));
    expect(key(await popNow(queue))).toBe('bar');
    expect(key(await popNow(queue))).toBe('baz');
    expect(key(await popNow(queue))).toBe('foo');
    expect(queue.list()).toEqual([]);
  });

  test('knows the resourceVersion of what came last', () => {
    const queue = create();
    expect(queue.lastStoreSyncResourceVersion()).toBe('');
    queue.replace([], '3');
    expect(queue.lastStoreSyncResourceVersion()).toBe('3');
    queue.bookmark('4');
    queue.add(thing('a', 1));
    expect(queue.lastStoreSyncResourceVersion()).toBe('4');
    queue.add({ ...thing('a', 1), metadata: { resourceVersion: '7' } } as Thing);
    expect(queue.lastStoreSyncResourceVersion()).toBe('7');
  });
});
