import { describe, expect, test } from 'vitest';
import { nameOf, popAll, popNow, type Thing, thing } from './fifo.fixture.js';
import { FIFO } from './fifo.js';

const create = () => new FIFO<Thing>(nameOf);

describe('FIFO', () => {
  test('basic: in order of names first seen, while others are added', async () => {
    const queue = create();
    const amount = 500;
    for (let i = 0; i < amount; i += 1) queue.add(thing(`a${i}`, i + 1));
    const popped = [await popNow(queue), await popNow(queue)];
    for (let i = 0; i < amount; i += 1) queue.add(thing(`b${i}`, i + 1));
    popped.push(...(await popAll(queue)));
    expect(popped.map(({ name }) => name)).toEqual(
      ['a', 'b'].flatMap((letter) => Array.from({ length: amount }, (_, i) => `${letter}${i}`)),
    );
  });

  test('addUpdate: once, in its newest version', async () => {
    const queue = create();
    queue.add(thing('foo', 10));
    queue.update(thing('foo', 15));
    expect(queue.list()).toEqual([thing('foo', 15)]);
    expect(queue.listKeys()).toEqual(['foo']);
    expect(await popAll(queue)).toEqual([thing('foo', 15)]);
    expect(queue.get(thing('foo', 0))).toBeUndefined();
  });

  test('addReplace', async () => {
    const queue = create();
    queue.add(thing('foo', 10));
    queue.add(thing('old', 1));
    queue.replace([thing('foo', 15), thing('bar', 2)], '15');
    expect(queue.getByKey('old')).toBeUndefined();
    expect(await popAll(queue)).toEqual([thing('foo', 15), thing('bar', 2)]);
  });

  test('deleted objects are not processed', async () => {
    const queue = create();
    queue.add(thing('a', 1));
    queue.add(thing('b', 1));
    queue.delete(thing('a', 2));
    expect(await popAll(queue)).toEqual([thing('b', 1)]);
  });

  test('what is taken away from the first batch is not waited for', async () => {
    const queue = create();
    queue.replace([thing('a', 1), thing('b', 1)], '1');
    queue.delete(thing('b', 1));
    await popNow(queue);
    expect(queue.hasSynced()).toBe(true);
  });

  test('a second replace before the first was processed is the first batch then', async () => {
    const queue = create();
    queue.replace([thing('a', 1)], '1');
    queue.replace([thing('b', 1), thing('c', 1)], '2');
    await popNow(queue);
    expect(queue.hasSynced()).toBe(false);
    await popNow(queue);
    expect(queue.hasSynced()).toBe(true);
    queue.replace([thing('d', 1)], '3');
    expect(queue.hasSynced()).toBe(true);
  });

  test('an object that is deleted as a waiting pop wakes up is not handed out', async () => {
    const queue = create();
    const popped = queue.pop(() => {});
    queue.add(thing('a', 1));
    queue.delete(thing('a', 1));
    await Promise.resolve();
    queue.add(thing('b', 1));
    expect(await popped).toEqual(thing('b', 1));
  });

  test('something newer wins over what is put back', async () => {
    const queue = create();
    queue.add(thing('a', 1));
    const old = await popNow(queue);
    queue.add(thing('a', 2));
    queue.addIfNotPresent(old);
    expect(await popAll(queue)).toEqual([thing('a', 2)]);
  });

  test('resync does nothing', () => {
    const queue = create();
    queue.add(thing('a', 1));
    queue.resync();
    expect(queue.list()).toEqual([thing('a', 1)]);
  });
});
