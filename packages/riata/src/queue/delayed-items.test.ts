import { describe, expect, test } from 'vitest';
import { VirtualClock } from '../runtime/time/virtual-clock.js';
import { WorkingClock } from '../runtime/time/working-clock.fixture.js';
import { WorkQueue } from './work-queue.js';

function start() {
  const clock = new VirtualClock();
  const queue = new WorkQueue<string, string>({ clock, merge: (a, b) => `${a}+${b}` });
  const takeAll = (): string[] => {
    const keys: string[] = [];
    for (let item = queue.tryGet(); item !== undefined; item = queue.tryGet()) {
      keys.push(item.key);
      queue.done(item.key);
    }
    return keys;
  };
  return { clock, queue, takeAll };
}

/** Queues on a clock on which releasing a delayed key takes `eachMs`. */
function startWithWork(eachMs: number) {
  const clock = new WorkingClock();
  let isDue = false;
  const fairness = () => {
    if (isDue) clock.work(eachMs);
    return '';
  };
  const advance = (ms: number) => {
    isDue = true;
    return clock.base.advance(ms);
  };
  return { clock, newQueue: () => new WorkQueue<string>({ clock, fairness }), advance };
}

describe('addAfter', () => {
  test('adds when the time has come and not before (TestSimpleQueue)', async () => {
    const { clock, queue } = start();
    queue.addAfter('foo', 50);
    await clock.advance(49);
    expect(queue.len()).toBe(0);
    await clock.advance(1);
    expect(queue.len()).toBe(1);
    expect(queue.delayed()).toBe(0);
    expect(clock.pending).toBe(0);
  });

  test('wakes a worker that waits', async () => {
    const { clock, queue } = start();
    const waiting = queue.get();
    queue.addAfter('foo', 50);
    await clock.advance(50);
    expect((await waiting)?.key).toBe('foo');
  });

  test('a key waits once, for the earliest of its times (TestDeduping)', async () => {
    const { clock, queue, takeAll } = start();
    queue.addAfter('foo', 50);
    queue.addAfter('foo', 70);
    expect(queue.delayed()).toBe(1);
    await clock.advance(60);
    expect(takeAll()).toEqual(['foo']);
    await clock.advance(20);
    expect(takeAll()).toEqual([]);

    queue.addAfter('foo', 50);
    queue.addAfter('foo', 30);
    await clock.advance(40);
    expect(takeAll()).toEqual(['foo']);
    await clock.advance(20);
    expect(takeAll()).toEqual([]);
  });

  test('several keys come by their times, equal ones in order (TestAddTwoFireEarly)', async () => {
    const { clock, queue, takeAll } = start();
    queue.addAfter('foo', 1000);
    queue.addAfter('bar', 50);
    queue.addAfter('baz', 1000);
    await clock.advance(60);
    expect(takeAll()).toEqual(['bar']);
    queue.addAfter('bar', 2000);
    await clock.advance(1000);
    expect(takeAll()).toEqual(['foo', 'baz']);
    await clock.advance(1000);
    expect(takeAll()).toEqual(['bar']);
  });

  test('keys added again and again from their own runs keep their pace (TestCopyShifting)', async () => {
    const { clock, queue, takeAll } = start();
    queue.addAfter('first', 1000);
    queue.addAfter('second', 500);
    queue.addAfter('third', 250);
    await clock.advance(2000);
    expect(takeAll()).toEqual(['third', 'second', 'first']);
  });

  test('0 and less mean now', () => {
    const { queue, takeAll } = start();
    queue.addAfter('a', 0);
    queue.addAfter('b', -5);
    expect(takeAll()).toEqual(['a', 'b']);
  });

  test('the delay and a plain add both run, as in client-go', async () => {
    const { clock, queue, takeAll } = start();
    queue.addAfter('a', 50, { note: 'later' });
    queue.add('a', { note: 'now' });
    expect(queue.tryGet()?.note).toBe('now');
    queue.done('a');
    await clock.advance(50);
    expect(takeAll()).toEqual(['a']);
  });

  test('notes merge while the key waits, and with those of the key that is ready when the time comes', async () => {
    const { clock, queue } = start();
    queue.addAfter('a', 50, { note: '1' });
    queue.addAfter('a', 90);
    queue.addAfter('a', 20, { note: '2' });
    queue.add('a', { note: 'now' });
    await clock.advance(20);
    expect(queue.tryGet()?.note).toBe('now+1+2');
  });

  test('a key whose time comes while it runs, runs again', async () => {
    const { clock, queue, takeAll } = start();
    queue.add('a');
    queue.tryGet();
    queue.addAfter('a', 10);
    await clock.advance(10);
    expect(queue.len()).toBe(0);
    queue.done('a');
    expect(takeAll()).toEqual(['a']);
  });

  test('a shutdown drops what waits, and its timer', async () => {
    const { clock, queue, takeAll } = start();
    queue.addAfter('a', 50);
    queue.shutDown();
    expect(queue.delayed()).toBe(0);
    expect(clock.pending).toBe(0);
    queue.addAfter('b', 0);
    queue.addAfter('c', 50);
    await clock.advance(100);
    expect(takeAll()).toEqual([]);
  });

  test('endless delays set no timer; what is not a number is refused', async () => {
    const { clock, queue, takeAll } = start();
    queue.addAfter('never', Number.POSITIVE_INFINITY);
    expect(clock.pending).toBe(0);
    queue.addAfter('a', 5);
    await clock.advance(5);
    expect(takeAll()).toEqual(['a']);
    expect(clock.pending).toBe(0);
    expect(() => queue.addAfter('a', Number.NaN)).toThrow(
      'queue "": addAfter requires a number of milliseconds, got NaN',
    );
  });

  test('one timer, whatever waits', async () => {
    const { clock, queue, takeAll } = start();
    for (let at = 1000; at > 0; at -= 1) queue.addAfter(`key-${at}`, at);
    expect(clock.pending).toBe(1);
    await clock.advance(500);
    expect(takeAll()).toHaveLength(500);
    expect(clock.pending).toBe(1);
  });

  test('a crowd that is due at once is released in slices, in order, with turns for others between', async () => {
    const { clock, newQueue, advance } = startWithWork(0.002);
    const queue = newQueue();
    const count = 50_000;
    for (let at = 0; at < count; at += 1) queue.addAfter(`key-${at}`, 1000);
    // The first key wakes the watcher, which then looks in every turn of the event loop.
    const lengths: number[] = [0];
    const watched = queue.get().then(async (first) => {
      for (lengths.push(queue.len()); queue.len() < count - 1; lengths.push(queue.len())) await clock.yield();
      return first?.key;
    });
    await advance(1000);
    expect(await watched).toBe('key-0');
    const steps = lengths.slice(1).map((length, at) => length - (lengths[at] ?? 0));
    expect(steps.filter((step) => step > 0).length).toBeGreaterThan(10);
    expect(Math.max(...steps)).toBeLessThanOrEqual(5000);
    for (let at = 1; at < count; at += 1) expect(queue.tryGet()?.key).toBe(`key-${at}`);
  });

  test('a key that is added again after a flood of delays waits as before', async () => {
    const { clock, queue, takeAll } = start();
    for (let at = 0; at < 10_000; at += 1) queue.addAfter(`key-${at}`, 10, { note: 'x', priority: 1 });
    await clock.advance(10);
    expect(takeAll()).toHaveLength(10_000);
    queue.addAfter('key-5', 20);
    queue.addAfter('key-4', 10);
    await clock.advance(10);
    expect(queue.tryGet()).toEqual({ key: 'key-4', note: undefined, priority: 0 });
    await clock.advance(10);
    expect(takeAll()).toEqual(['key-5']);
  });

  test('a shutdown between two slices drops the rest', async () => {
    const { clock, newQueue, advance } = startWithWork(0.002);
    const queue = newQueue();
    for (let at = 0; at < 50_000; at += 1) queue.addAfter(`key-${at}`, 1000);
    void queue.get().then(() => queue.shutDown());
    await advance(1000);
    expect(queue.len()).toBeGreaterThan(0);
    expect(queue.len()).toBeLessThan(50_000);
    expect(queue.delayed()).toBe(0);
    expect(clock.base.pending).toBe(0);
  });

  test('delays made while slices follow are kept', async () => {
    const { clock, queue } = start();
    for (let at = 0; at < 20_000; at += 1) queue.addAfter(`key-${at}`, 1000);
    void queue.get().then(() => queue.addAfter('late', 5));
    await clock.advance(1000);
    expect(queue.len()).toBe(19_999);
    await clock.advance(5);
    expect(queue.len()).toBe(20_000);
  });
});

describe('addRateLimited', () => {
  test('waits as long as the limiter says; forget starts over (TestRateLimitingQueue)', async () => {
    const { clock, queue, takeAll } = start();
    queue.addRateLimited('a');
    expect(queue.numRequeues('a')).toBe(1);
    await clock.advance(5);
    expect(takeAll()).toEqual(['a']);
    queue.addRateLimited('a');
    await clock.advance(9);
    expect(takeAll()).toEqual([]);
    await clock.advance(1);
    expect(takeAll()).toEqual(['a']);
    expect(queue.numRequeues('a')).toBe(2);
    queue.forget('a');
    expect(queue.numRequeues('a')).toBe(0);
    queue.addRateLimited('a');
    await clock.advance(5);
    expect(takeAll()).toEqual(['a']);
  });

  test('queues made with the same options do not share a limiter', () => {
    const options = { clock: new VirtualClock() };
    const one = new WorkQueue(options);
    const other = new WorkQueue(options);
    one.addRateLimited('a');
    expect(one.numRequeues('a')).toBe(1);
    expect(other.numRequeues('a')).toBe(0);
  });
});
