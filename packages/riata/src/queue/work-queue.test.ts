import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { memoryLogger } from '../runtime/log/memory-logger.js';
import { VirtualClock } from '../runtime/time/virtual-clock.js';
import { WorkQueue } from './work-queue.js';

/** Whether a promise has settled once all that can happen without time moving has happened. */
async function settled(promise: Promise<unknown>): Promise<boolean> {
  let is = false;
  const mark = () => {
    is = true;
  };
  promise.then(mark, mark);
  await new VirtualClock().settle();
  return is;
}

const keysOf = async (queue: WorkQueue, count: number): Promise<unknown[]> => {
  const keys: unknown[] = [];
  for (let at = 0; at < count; at += 1) keys.push((await queue.get())?.key);
  return keys;
};

describe('the base queue', () => {
  test('hands out keys in the order of their first add, each once (TestBasic)', async () => {
    const queue = new WorkQueue();
    for (const key of ['a', 'b', 'a', 'c', 'b']) queue.add(key);
    expect(queue.len()).toBe(3);
    expect(await keysOf(queue, 3)).toEqual(['a', 'b', 'c']);
    expect(queue.len()).toBe(0);
  });

  test('many producers and workers: every key runs, none twice at once (TestBasic)', async () => {
    const queue = new WorkQueue();
    const clock = new VirtualClock();
    const running = new Set<string>();
    const runs = new Map<string, number>();
    const overlaps: string[] = [];
    const worker = async () => {
      for (let item = await queue.get(); item !== undefined; item = await queue.get()) {
        if (running.has(item.key)) overlaps.push(item.key);
        running.add(item.key);
        await clock.sleep(3);
        runs.set(item.key, (runs.get(item.key) ?? 0) + 1);
        running.delete(item.key);
        queue.done(item.key);
      }
    };
    const workers = Array.from({ length: 10 }, worker);
    const producer = async (offset: number) => {
      for (let at = 0; at < 50; at += 1) {
        queue.add(`key-${(at * 7 + offset) % 23}`);
        await clock.sleep(1);
      }
    };
    void Array.from({ length: 5 }, (_, n) => producer(n));
    await clock.runAll();
    queue.shutDown();
    await Promise.all(workers);
    expect(overlaps).toEqual([]);
    expect(runs.size).toBe(23);
  });

  test('collapses adds of a key that is being worked on into one more run (TestCollapseWhileProcessing)', async () => {
    const queue = new WorkQueue();
    queue.add('a');
    await queue.get();
    queue.add('a');
    queue.add('a');
    expect(queue.len()).toBe(0);
    const again = queue.get();
    expect(await settled(again)).toBe(false);
    queue.done('a');
    expect((await again)?.key).toBe('a');
    queue.done('a');
    expect(await settled(queue.get())).toBe(false);
  });

  test('an add after get and before done runs the key again (TestReinsert)', async () => {
    const queue = new WorkQueue();
    queue.add('foo');
    expect((await queue.get())?.key).toBe('foo');
    queue.add('foo');
    queue.done('foo');
    expect((await queue.get())?.key).toBe('foo');
    queue.done('foo');
    expect(queue.len()).toBe(0);
  });

  test('len counts what could be handed out now (TestLen)', async () => {
    const queue = new WorkQueue();
    queue.add('foo');
    expect(queue.len()).toBe(1);
    queue.add('bar');
    expect(queue.len()).toBe(2);
    queue.add('foo');
    expect(queue.len()).toBe(2);
    await queue.get();
    expect(queue.len()).toBe(1);
  });

  test('a key that went through leaves nothing behind (TestGarbageCollection)', async () => {
    const queue = new WorkQueue<{ id: string }>({ id: (key) => key.id });
    for (let at = 0; at < 40_000; at += 1) queue.add({ id: `key-${at}` });
    for (let item = queue.tryGet(); item !== undefined; item = queue.tryGet()) queue.done(item.key);
    // More than are kept at rest went through, in both directions, and all start afresh.
    for (const at of [0, 1, 16_000, 20_000, 39_999]) queue.add({ id: `key-${at}` });
    expect(queue.len()).toBe(5);
    expect(queue.tryGet()).toEqual({ key: { id: 'key-0' }, note: undefined, priority: 0 });
  });

  test('done of a key without a worker does nothing', async () => {
    const queue = new WorkQueue();
    queue.done('a');
    queue.add('a');
    queue.done('a');
    expect((await queue.get())?.key).toBe('a');
    queue.done('a');
    queue.done('a');
    queue.add('b');
    expect(await keysOf(queue, 1)).toEqual(['b']);
  });

  test('waiting calls of get are served in order', async () => {
    const queue = new WorkQueue();
    const first = queue.get();
    const second = queue.get();
    queue.add('a');
    queue.add('b');
    expect((await first)?.key).toBe('a');
    expect((await second)?.key).toBe('b');
  });

  test('keys that are not strings go by their id, the newest one is handed out', async () => {
    const queue = new WorkQueue({ id: (key: { name: string; seen: number }) => key.name });
    queue.add({ name: 'a', seen: 1 });
    queue.add({ name: 'a', seen: 2 });
    queue.add({ name: 'b', seen: 3 });
    expect((await queue.get())?.key).toEqual({ name: 'a', seen: 1 });
    queue.done({ name: 'a', seen: 9 });
    queue.add({ name: 'a', seen: 4 });
    expect(await queue.get()).toMatchObject({ key: { name: 'b' } });
    expect(await queue.get()).toMatchObject({ key: { seen: 4 } });
  });

  test('without an id, a key that is no string is refused with the remedy', () => {
    const queue = new WorkQueue({ name: 'carts' });
    expect(() => queue.add(null as unknown as string)).toThrow(
      'queue "carts": a key of type null has no id; give the queue an id function: new WorkQueue({ id: (key) => … })',
    );
  });
});

describe('notes', () => {
  test('of adds that end in one run are merged and come with the key', async () => {
    const queue = new WorkQueue<string, readonly string[]>({ merge: (a, b) => [...a, ...b] });
    queue.add('a', { note: ['created'] });
    queue.add('a');
    queue.add('a', { note: ['owner changed'] });
    expect(await queue.get()).toEqual({ key: 'a', note: ['created', 'owner changed'], priority: 0 });
  });

  test('of adds while the key runs belong to its next run', async () => {
    const queue = new WorkQueue<string, readonly string[]>({ merge: (a, b) => [...a, ...b] });
    queue.add('a', { note: ['1'] });
    const item = await queue.get();
    queue.add('a', { note: ['2'] });
    queue.add('a', { note: ['3'] });
    expect(item?.note).toEqual(['1']);
    queue.done('a');
    expect((await queue.get())?.note).toEqual(['2', '3']);
    queue.add('a');
    queue.done('a');
    expect((await queue.get())?.note).toBeUndefined();
  });

  test('without a merge function the later one stays', async () => {
    const queue = new WorkQueue<string, number>();
    queue.add('a', { note: 1 });
    queue.add('a', { note: 2 });
    queue.add('a');
    expect((await queue.get())?.note).toBe(2);
  });

  test('a merge that throws reaches the one who adds; the queue continues', async () => {
    const queue = new WorkQueue<string, number>({
      priority: true,
      clock: new VirtualClock(),
      merge: () => {
        throw new Error('no');
      },
    });
    queue.addAfter('a', 1000, { note: 1 });
    expect(() => queue.add('a', { note: 2 })).toThrow('no');
    queue.add('a');
    expect((await queue.get())?.note).toBe(1);
  });
});

test('when the first of the delayed is due can be asked', async () => {
  const clock = new VirtualClock();
  const queue = new WorkQueue({ clock });
  expect(queue.nextDelayedMs()).toBe(undefined);
  queue.addAfter('late', 1000);
  queue.addAfter('soon', 300);
  await clock.advance(100);
  expect(queue.nextDelayedMs()).toBe(200);
  await clock.advance(200);
  expect([queue.len(), queue.nextDelayedMs()]).toEqual([1, 700]);
});

describe('what a queue is given may fail', () => {
  /** Works until `broken` is set. */
  function fragile() {
    const clock = new VirtualClock();
    const log = memoryLogger();
    const state = { broken: true };
    const check = () => {
      if (state.broken) throw new Error('broken');
    };
    const fail =
      <A extends unknown[], R>(fn: (...args: A) => R) =>
      (...args: A): R => {
        check();
        return fn(...args);
      };
    return { clock, log, state, fail };
  }

  test.each([{}, { priority: true }])(
    'a fairness that throws refuses the add, nothing is stuck (%j)',
    async (options) => {
      const { clock, log, state, fail } = fragile();
      const fairness = fail((key: string) => key);
      const queue = new WorkQueue({ clock, log, fairness, ...options });
      expect(() => queue.add('a')).toThrow('broken');
      expect(() => queue.addAfter('a', 5)).toThrow('broken');
      expect([queue.len(), queue.delayed(), clock.pending]).toEqual([0, 0, 0]);
      state.broken = false;
      queue.add('a');
      expect((await queue.get())?.key).toBe('a');
      state.broken = true;
      expect(() => queue.add('a')).toThrow('broken');
      queue.done('a');
      expect(queue.len()).toBe(0);
      state.broken = false;
      queue.add('a');
      expect(queue.len()).toBe(1);
    },
  );

  test('a fairness or merge that throws when a key is due loses no key, and is reported', async () => {
    const { clock, log, state, fail } = fragile();
    const fairness = fail((key: string) => key);
    const merge = fail((a: string, b: string) => a + b);
    const queue = new WorkQueue<string, string>({ name: 'q', clock, log, fairness, merge });
    state.broken = false;
    queue.add('both', { note: 'now' });
    for (const key of ['a', 'both', 'c']) queue.addAfter(key, 5, { note: 'later' });
    state.broken = true;
    await clock.advance(5);
    const taken = [await queue.get(), await queue.get(), await queue.get()];
    expect(taken.map((item) => [item?.key, item?.note])).toEqual([
      ['both', 'now'],
      ['a', undefined],
      ['c', undefined],
    ]);
    expect(log.records.map(({ level, fields }) => [level, fields.queue, fields.key])).toEqual([
      ['error', 'q', 'a'],
      ['error', 'q', 'both'],
      ['error', 'q', 'c'],
    ]);
    expect(queue.delayed()).toBe(0);
  });

  test('a merge that throws leaves the waiting delay as it was', async () => {
    const { clock, state, fail } = fragile();
    const queue = new WorkQueue<string, string>({ clock, merge: fail((a, b) => `${a}+${b}`) });
    queue.addAfter('a', 5, { note: '1' });
    expect(() => queue.addAfter('a', 1, { note: '2' })).toThrow('broken');
    state.broken = false;
    await clock.advance(4);
    expect(queue.len()).toBe(0);
    await clock.advance(1);
    expect((await queue.get())?.note).toBe('1');
  });

  test('an id that throws, or gives no string, refuses every call and changes nothing', async () => {
    const { clock, state, fail } = fragile();
    const queue = new WorkQueue({ clock, id: fail((key: { id: string }) => key.id) });
    const a = { id: 'a' };
    for (const call of [
      () => queue.add(a),
      () => queue.addAfter(a, 5),
      () => queue.addRateLimited(a),
      () => queue.forget(a),
      () => queue.numRequeues(a),
      () => queue.done(a),
    ]) {
      expect(call).toThrow('broken');
    }
    expect([queue.len(), queue.delayed()]).toEqual([0, 0]);
    state.broken = false;
    queue.add(a);
    for await (const { key } of queue) {
      // What was handed out is done with, whatever becomes of id.
      queue.add(key);
      state.broken = true;
      break;
    }
    expect(queue.len()).toBe(1);
    const wrong = new WorkQueue({ name: 'q', id: (key: { id?: string }) => key.id as string });
    expect(() => wrong.add({})).toThrow('queue "q": id has to give a string for each key, gave undefined');
    const ungrouped = new WorkQueue({ name: 'q', fairness: () => undefined as unknown as string });
    expect(() => ungrouped.add('a')).toThrow(
      'queue "q": fairness must return a string for each key, got undefined; give \'\' for keys without a group',
    );
  });

  test('a rate limiter that throws, or gives no number, reaches the one who adds', () => {
    const { clock, state, fail } = fragile();
    const when = fail(() => Number.NaN);
    const queue = new WorkQueue({
      name: 'q',
      clock,
      rateLimiter: () => ({ when, forget: fail(() => {}), numRequeues: () => 0 }),
    });
    expect(() => queue.addRateLimited('a')).toThrow('broken');
    expect(() => queue.forget('a')).toThrow('broken');
    state.broken = false;
    expect(() => queue.addRateLimited('a')).toThrow(
      'queue "q": the rate limiter returned NaN for "a"; expected milliseconds',
    );
    expect([queue.len(), queue.delayed()]).toEqual([0, 0]);
  });

  test('a rate limiter in place of the function that makes one is refused with the remedy', () => {
    const limiter = { when: () => 1, forget: () => {}, numRequeues: () => 0 };
    expect(() => new WorkQueue({ name: 'q', rateLimiter: limiter as never })).toThrow(
      'queue "q": rateLimiter must be a function that creates the limiter: () => ',
    );
  });

  test('a delay that is no number is refused, and other delays go on', async () => {
    const clock = new VirtualClock();
    const queue = new WorkQueue({ name: 'q', clock });
    for (const delay of ['5s', undefined, Number.NaN]) {
      expect(() => queue.addAfter('a', delay as number)).toThrow(
        `queue "q": addAfter requires a number of milliseconds, got ${delay}`,
      );
    }
    queue.addAfter('b', 5);
    await clock.advance(5);
    expect([queue.tryGet()?.key, queue.delayed()]).toEqual(['b', 0]);
  });

  test('a priority that is no number is refused', () => {
    const queue = new WorkQueue({ name: 'q', clock: new VirtualClock(), priority: true });
    const nan = { priority: Number.NaN };
    for (const call of [
      () => queue.add('a', nan),
      () => queue.addAfter('a', 5, nan),
      () => queue.addAfter('a', 0, nan),
    ]) {
      expect(call).toThrow('queue "q": the priority of "a" must be a number, got NaN');
    }
    expect([queue.len(), queue.delayed()]).toEqual([0, 0]);
  });
});

describe('get', () => {
  test('rejects with the reason when its signal aborts, and takes no key', async () => {
    const queue = new WorkQueue();
    const controller = new AbortController();
    const reason = new Error('enough');
    const waiting = queue.get({ signal: controller.signal });
    const other = queue.get();
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    queue.add('a');
    expect((await other)?.key).toBe('a');
    queue.add('b');
    await expect(queue.get({ signal: controller.signal })).rejects.toBe(reason);
    expect(queue.len()).toBe(1);
  });

  test('an abort after the key was given changes nothing', async () => {
    const queue = new WorkQueue();
    const controller = new AbortController();
    const waiting = queue.get({ signal: controller.signal });
    queue.add('a');
    controller.abort();
    expect((await waiting)?.key).toBe('a');
  });

  test('tryGet takes what is there and does not wait', () => {
    const queue = new WorkQueue();
    expect(queue.tryGet()).toBeUndefined();
    queue.add('a');
    expect(queue.tryGet()?.key).toBe('a');
    queue.add('a');
    expect(queue.tryGet()).toBeUndefined();
    queue.done('a');
    expect(queue.tryGet()?.key).toBe('a');
  });
});

describe('the iterator', () => {
  test('gives keys until the shutdown and calls done for each', async () => {
    const queue = new WorkQueue();
    queue.add('a');
    queue.add('b');
    const seen: string[] = [];
    for await (const { key } of queue) {
      seen.push(key);
      if (seen.length === 1) queue.add('a');
      if (seen.length === 3) queue.shutDown();
    }
    expect(seen).toEqual(['a', 'b', 'a']);
    await queue.shutDownWithDrain();
  });

  test('calls done when the loop is left or throws', async () => {
    const queue = new WorkQueue();
    queue.add('a');
    for await (const { key } of queue) {
      queue.add(key);
      break;
    }
    expect(queue.len()).toBe(1);
    const failing = async () => {
      for await (const { key } of queue) {
        queue.add(key);
        throw new Error(key);
      }
    };
    await expect(failing()).rejects.toThrow('a');
    expect(queue.len()).toBe(1);
  });

  test("does not end another worker's run of a key that the body is done with", async () => {
    const queue = new WorkQueue();
    queue.add('a');
    for await (const { key } of queue) {
      queue.done(key);
      queue.add(key);
      await queue.get();
      break;
    }
    queue.add('a');
    expect(queue.len()).toBe(0);
    queue.done('a');
    expect(queue.len()).toBe(1);
  });

  test('left while it waits for a key: at once, and the key stays for others', async () => {
    const queue = new WorkQueue<string, string>();
    const [leaving, staying] = [queue.items(), queue.items()];
    const [first, left] = [leaving.next(), leaving.return()];
    expect([await first, await left, await leaving.next()]).toEqual(
      Array.from({ length: 3 }, () => ({ done: true, value: undefined })),
    );
    queue.add('a');
    expect(await staying.next()).toMatchObject({ value: { key: 'a' } });
    // A key that was on its way is put back, with what came with it; so in a queue that is shut down.
    const waiting = staying.next();
    await Promise.resolve();
    await Promise.resolve();
    queue.add('b', { note: 'n', priority: 3 });
    queue.shutDown();
    const gone = staying.return();
    const result = await waiting;
    await gone;
    expect([result.done, queue.tryGet()]).toEqual([true, { key: 'b', note: 'n', priority: 3 }]);
    await expect(staying.throw(new Error('thrown in'))).rejects.toThrow('thrown in');
  });

  test('leaves nothing on its signal', async () => {
    const queue = new WorkQueue();
    const { signal } = new AbortController();
    queue.add('a');
    for await (const _ of queue.items({ signal })) break;
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('throws the reason of its signal', async () => {
    const queue = new WorkQueue();
    const controller = new AbortController();
    const loop = (async () => {
      for await (const item of queue.items({ signal: controller.signal })) expect(item).toBeUndefined();
    })();
    controller.abort(new Error('stop'));
    await expect(loop).rejects.toThrow('stop');
  });
});

describe('shutDown', () => {
  test('ignores adds, lets workers take the rest, then ends them', async () => {
    const queue = new WorkQueue();
    queue.add('a');
    queue.add('b');
    expect(queue.shuttingDown()).toBe(false);
    queue.shutDown();
    queue.shutDown();
    expect(queue.shuttingDown()).toBe(true);
    queue.add('c');
    queue.addRateLimited('c');
    expect(queue.numRequeues('c')).toBe(0);
    expect(await keysOf(queue, 4)).toEqual(['a', 'b', undefined, undefined]);
  });

  test('wakes waiting workers', async () => {
    const queue = new WorkQueue();
    const waiting = [queue.get(), queue.get()];
    queue.shutDown();
    expect(await Promise.all(waiting)).toEqual([undefined, undefined]);
  });

  test('a key added while it ran still runs again', async () => {
    const queue = new WorkQueue();
    queue.add('a');
    await queue.get();
    queue.add('a');
    queue.shutDown();
    queue.done('a');
    expect(await keysOf(queue, 1)).toEqual(['a']);
    queue.done('a');
    expect(await queue.get()).toBeUndefined();
  });

  test('a disposed queue is shut down', () => {
    const queue = new WorkQueue();
    {
      using _ = queue;
    }
    expect(queue.shuttingDown()).toBe(true);
  });
});

describe('shutDownWithDrain', () => {
  const twoTaken = async () => {
    const queue = new WorkQueue({ clock: new VirtualClock() });
    queue.add('foo');
    queue.add('bar');
    await keysOf(queue, 2);
    return queue;
  };

  test('waits for done of all keys (TestQueueDrainageUsingShutDownWithDrain)', async () => {
    const queue = await twoTaken();
    const drained = queue.shutDownWithDrain();
    expect(queue.shuttingDown()).toBe(true);
    queue.done('foo');
    expect(await settled(drained)).toBe(false);
    queue.done('bar');
    await drained;
  });

  test('waits for a key that was added while it ran (TestQueueDrainageUsingShutDownWithDrainWithDirtyItem)', async () => {
    const queue = new WorkQueue();
    queue.add('foo');
    await queue.get();
    queue.add('foo');
    const drained = queue.shutDownWithDrain();
    queue.done('foo');
    expect(await settled(drained)).toBe(false);
    expect(await keysOf(queue, 1)).toEqual(['foo']);
    expect(await settled(drained)).toBe(false);
    queue.done('foo');
    await drained;
    expect(await queue.get()).toBeUndefined();
  });

  test('shutDown does not wait (TestNoQueueDrainageUsingShutDown)', async () => {
    const queue = await twoTaken();
    expect(queue.shutDown()).toBeUndefined();
    expect(await queue.get()).toBeUndefined();
  });

  test('shutDown ends the wait (TestForceQueueShutdownUsingShutDown)', async () => {
    const queue = await twoTaken();
    const drained = queue.shutDownWithDrain();
    expect(await settled(drained)).toBe(false);
    queue.shutDown();
    await drained;
  });

  test('may be called several times (TestQueueDrainageUsingShutDownWithDrain…ManyTimes)', async () => {
    const queue = await twoTaken();
    queue.shutDown();
    const all = Promise.all([queue.shutDownWithDrain(), queue.shutDownWithDrain()]);
    queue.done('foo');
    expect(await settled(all)).toBe(false);
    queue.done('bar');
    await all;
    await queue.shutDownWithDrain();
  });

  test('waits for what workers take after it was called', async () => {
    const queue = new WorkQueue();
    for (const key of ['a', 'b', 'c']) queue.add(key);
    const worked: string[] = [];
    const worker = (async () => {
      for await (const { key } of queue) worked.push(key);
    })();
    await queue.shutDownWithDrain();
    expect(worked).toEqual(['a', 'b', 'c']);
    await worker;
  });

  test('does not wait for workers that are not there', async () => {
    const queue = new WorkQueue();
    queue.add('a');
    await queue.shutDownWithDrain();
    expect(queue.len()).toBe(1);
  });

  test('rejects when its signal aborts; the queue stays shut down', async () => {
    const queue = await twoTaken();
    const controller = new AbortController();
    const drained = queue.shutDownWithDrain({ signal: controller.signal });
    controller.abort(new Error('too long'));
    await expect(drained).rejects.toThrow('too long');
    expect(queue.shuttingDown()).toBe(true);
    await expect(queue.shutDownWithDrain({ signal: controller.signal })).rejects.toThrow('too long');
  });
});
