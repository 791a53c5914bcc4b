import { describe, expect, test } from 'vitest';
import { VirtualClock } from '../runtime/time/virtual-clock.js';
import { WorkQueue } from './work-queue.js';
import type { WorkQueueOptions } from './work-queue-options.js';

function start(options: WorkQueueOptions<string, string> = { priority: true }) {
  const clock = new VirtualClock();
  const queue = new WorkQueue<string, string>({ clock, merge: (a, b) => `${a}+${b}`, ...options });
  /** Takes so many keys, or all, and ends each at once. */
  const take = (count = Number.POSITIVE_INFINITY): string[] => {
    const keys: string[] = [];
    while (keys.length < count) {
      const item = queue.tryGet();
      if (item === undefined) break;
      keys.push(item.key);
      queue.done(item.key);
    }
    return keys;
  };
  return { clock, queue, take };
}

describe('priority', () => {
  test('highest first, then first in first out', () => {
    const { queue, take } = start();
    queue.add('a');
    queue.add('low', { priority: -100 });
    queue.add('high', { priority: 10 });
    queue.add('b');
    expect(take()).toEqual(['high', 'a', 'b', 'low']);
  });

  test('an add of a waiting key takes the maximum of the priorities; its place among equals is by its first add', async () => {
    const { queue } = start();
    queue.add('foo', { priority: 1 });
    queue.add('bar', { priority: 2 });
    queue.add('foo', { priority: 2 });
    queue.add('bar', { priority: 1 });
    expect(await queue.get()).toEqual({ key: 'foo', note: undefined, priority: 2 });
    expect(await queue.get()).toEqual({ key: 'bar', note: undefined, priority: 2 });
  });

  test('an add of a waiting key takes the minimum of the delays', async () => {
    const { clock, queue, take } = start();
    queue.addAfter('foo', 2000);
    queue.addAfter('foo', 1000);
    queue.addAfter('foo', 3000);
    await clock.advance(1000);
    expect(take()).toEqual(['foo']);
    await clock.advance(5000);
    expect(take()).toEqual([]);
  });

  test('a plain add answers the delay too', async () => {
    const { clock, queue, take } = start();
    queue.addAfter('foo', 1000, { note: 'later', priority: 5 });
    queue.add('foo', { note: 'now' });
    expect(queue.delayed()).toBe(0);
    expect(clock.pending).toBe(0);
    expect(queue.tryGet()).toEqual({ key: 'foo', note: 'later+now', priority: 5 });
    queue.done('foo');
    queue.add('bar');
    queue.addAfter('bar', 1000, { note: 'later', priority: 3 });
    expect(queue.tryGet()).toEqual({ key: 'bar', note: 'later', priority: 3 });
    await clock.advance(2000);
    expect(take()).toEqual([]);
  });

  test('keys whose time has come are ordered with the others', async () => {
    const { clock, queue, take } = start();
    queue.addAfter('high', 1000, { priority: 1 });
    queue.addAfter('low', 500, { priority: -1 });
    queue.add('plain');
    await clock.advance(1000);
    expect(take()).toEqual(['high', 'plain', 'low']);
  });

  test('a delayed key of high priority does not hold up others', () => {
    const { queue, take } = start();
    queue.addAfter('high', 1000, { priority: 100 });
    queue.add('low', { priority: -100 });
    expect(take()).toEqual(['low']);
  });

  test('a key that is being worked on is skipped, does not block others, and comes by its priority after done', () => {
    const { queue, take } = start();
    queue.add('foo', { priority: 10 });
    expect(queue.tryGet()?.key).toBe('foo');
    queue.add('foo', { priority: 10 });
    queue.add('bar');
    queue.add('foo', { priority: 20 });
    queue.add('baz');
    expect(queue.tryGet()?.key).toBe('bar');
    queue.done('foo');
    expect(queue.tryGet()).toEqual({ key: 'foo', note: undefined, priority: 20 });
    expect(take()).toEqual(['baz']);
  });

  test('requeues keep the priority of the run they come from; new events do not', async () => {
    const { clock, queue } = start();
    queue.add('foo', { priority: -100 });
    queue.tryGet();
    queue.addRateLimited('foo');
    queue.done('foo');
    await clock.advance(5);
    expect(queue.tryGet()?.priority).toBe(-100);
    queue.addAfter('foo', 10);
    queue.done('foo');
    await clock.advance(10);
    expect(queue.tryGet()?.priority).toBe(-100);
    queue.addAfter('foo', 10, { priority: 7 });
    queue.done('foo');
    await clock.advance(10);
    expect(queue.tryGet()?.priority).toBe(7);
    queue.add('foo');
    queue.done('foo');
    expect(queue.tryGet()?.priority).toBe(0);
  });

  test('len leaves out keys whose time has not come', async () => {
    const { clock, queue } = start();
    queue.add('a');
    queue.addAfter('b', 1000);
    expect(queue.len()).toBe(1);
    await clock.advance(1000);
    expect(queue.len()).toBe(2);
  });

  test('without the option, priorities are carried along and change nothing', () => {
    const { queue } = start({});
    queue.add('a', { priority: 1 });
    queue.add('b', { priority: 2 });
    queue.add('a', { priority: 3 });
    expect(queue.tryGet()).toEqual({ key: 'a', note: undefined, priority: 3 });
  });
});

describe('aging', () => {
  /** High priority work comes faster than it is taken; returns how many were taken before the low one. */
  async function takenBeforeLow(options: WorkQueueOptions<string, string>, limit: number): Promise<number> {
    const { clock, queue, take } = start(options);
    queue.add('low', { priority: -100 });
    for (let second = 0; second < limit; second += 1) {
      queue.add(`first-${second}`);
      queue.add(`second-${second}`);
      if (take(1)[0] === 'low') return second;
      await clock.advance(1000);
    }
    return limit;
  }

  test('a key that has waited a minute starves no longer', async () => {
    expect(await takenBeforeLow({ priority: true }, 200)).toBe(60);
  });

  test('the time can be chosen, or switched off', async () => {
    expect(await takenBeforeLow({ priority: { agingMs: 5000 } }, 200)).toBe(5);
    expect(await takenBeforeLow({ priority: { agingMs: Number.POSITIVE_INFINITY } }, 200)).toBe(200);
  });

  test('every second one is by age, so high priorities keep half of the workers', async () => {
    const { clock, queue, take } = start({ priority: { agingMs: 1000 } });
    for (let at = 0; at < 4; at += 1) queue.add(`old-${at}`, { priority: -100 });
    await clock.advance(1000);
    for (let at = 0; at < 4; at += 1) queue.add(`new-${at}`);
    expect(take()).toEqual(['old-0', 'new-0', 'old-1', 'new-1', 'old-2', 'new-2', 'old-3', 'new-3']);
  });

  test('an age that makes no sense is refused', () => {
    expect(() => start({ name: 'q', priority: { agingMs: -1 } })).toThrow(
      'queue "q": priority.agingMs must be milliseconds ≥ 0, got -1',
    );
  });
});

describe('fairness', () => {
  const fairness = (key: string) => key.slice(0, key.indexOf('/'));
  const addAll = (queue: WorkQueue<string, string>, group: string, count: number, priority?: number) => {
    for (let at = 1; at <= count; at += 1) queue.add(`${group}/${at}`, { priority });
  };

  test('groups take turns, each in its own order', () => {
    const { queue, take } = start({ fairness });
    addAll(queue, 'a', 4);
    addAll(queue, 'b', 2);
    addAll(queue, 'c', 1);
    expect(take()).toEqual(['a/1', 'b/1', 'c/1', 'a/2', 'b/2', 'a/3', 'a/4']);
    expect(queue.len()).toBe(0);
  });

  test('a group that comes later joins with the next turn, however much the others have', () => {
    const { queue, take } = start({ fairness });
    addAll(queue, 'a', 1000);
    addAll(queue, 'b', 1000);
    expect(take(11)).toHaveLength(11);
    queue.add('late/1');
    queue.add('late/2');
    expect(take(7)).toEqual(['b/6', 'a/7', 'late/1', 'b/7', 'a/8', 'late/2', 'b/8']);
  });

  test('a group that adds a key each time one was taken gets no more than its turns', () => {
    const { queue, take } = start({ fairness });
    addAll(queue, 'busy', 1);
    addAll(queue, 'a', 5);
    const taken: string[] = [];
    for (let at = 2; at < 11; at += 1) {
      taken.push(...take(1));
      if (taken.at(-1)?.startsWith('busy')) queue.add(`busy/${at}`);
    }
    expect(taken.map(fairness)).toEqual(['busy', 'a', 'busy', 'a', 'busy', 'a', 'busy', 'a', 'busy']);
  });

  test('priorities do not count unless asked for', () => {
    const { queue, take } = start({ fairness });
    addAll(queue, 'a', 2);
    addAll(queue, 'b', 2, 10);
    queue.add('a/2', { priority: 20 });
    expect(take()).toEqual(['a/1', 'b/1', 'a/2', 'b/2']);
  });

  test('with priority, groups take turns among equals', () => {
    const { queue, take } = start({ fairness, priority: true });
    addAll(queue, 'a', 3, -100);
    addAll(queue, 'b', 1, -100);
    addAll(queue, 'b', 3);
    queue.add('c/1');
    queue.add('a/3');
    // b/1 and a/3 were raised.
    expect(take()).toEqual(['b/1', 'c/1', 'a/3', 'b/2', 'b/3', 'a/1', 'a/2']);
  });

  test('more groups and priorities than are kept at rest come and go', () => {
    const { queue, take } = start({ fairness, priority: true });
    for (let round = 0; round < 2; round += 1) {
      for (let at = 0; at < 600; at += 1) queue.add(`group-${at}/x`, { priority: at % 50 });
      const ranks = take().map((key) => Number(key.slice('group-'.length, -2)) % 50);
      expect(ranks).toEqual(Array.from({ length: 600 }, (_, at) => 49 - Math.floor(at / 12)));
      expect(queue.len()).toBe(0);
    }
  });
});
