import { describe, expect, test } from 'vitest';
import type { Scheduler } from '../../runtime/time/clock.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { DrivenInformer, type Thing, thing } from './informer.fixture.js';

/** Every look at the clock takes a millisecond, so all work is long; `onYield` is called whenever others have a turn. */
function slow(onYield: () => void): Scheduler & { readonly virtual: VirtualClock } {
  const virtual = new VirtualClock();
  let now = 0;
  return {
    virtual,
    now: () => virtual.now(),
    monotonic: () => {
      now += 1;
      return now;
    },
    after: (ms, fn, options) => virtual.after(ms, fn, options),
    sleep: (ms, options) => virtual.sleep(ms, options),
    yield: () => {
      onYield();
      return virtual.yield();
    },
  };
}

const many = (version: number, count = 100): Thing[] =>
  Array.from({ length: count }, (_, i) => thing(`t${i}-`, version));

describe('work in slices', () => {
  test('a list is stored and delivered in many turns, and no reader sees half of it', async () => {
    const sizes: number[] = [];
    let reported = 0;
    let deleted = 0;
    const clock = slow(() => sizes.push(driven.informer.getStore().listKeys().length));
    await using driven = new DrivenInformer({}, { clock });
    driven.informer.addEventHandler({ onAdd: () => ++reported, onUpdate: () => ++reported, onDelete: () => ++deleted });
    driven.run();
    driven.queue.replace(many(1), '1');
    await clock.virtual.settle();
    expect(reported).toBe(100);
    expect(new Set(sizes)).toEqual(new Set([0, 100]));
    expect(sizes.length).toBeGreaterThan(20);
    sizes.length = 0;
    driven.queue.replace(many(2, 40), '2');
    await clock.virtual.settle();
    expect([reported, deleted]).toEqual([140, 60]);
    expect(new Set(sizes)).toEqual(new Set([100, 40]));
  });

  test('indexes that are added meanwhile are whole', async () => {
    let turns = 0;
    const clock = slow(() => {
      turns += 1;
      if (turns === 3) driven.informer.addIndexers({ byValue: (obj) => [String(obj.spec?.value)] });
    });
    await using driven = new DrivenInformer({}, { clock });
    driven.run();
    driven.queue.replace(many(7), '1');
    await clock.virtual.settle();
    expect(turns).toBeGreaterThan(3);
    expect(driven.informer.getIndexer().indexKeys('byValue', '7')).toHaveLength(100);
  });

  test('single changes, resyncs and late handlers wait for their turn, too', async () => {
    let turns = 0;
    const clock = slow(() => {
      turns += 1;
    });
    await using driven = new DrivenInformer({}, { clock });
    const seen: string[] = [];
    driven.informer.addEventHandler({ onUpdate: (_, obj) => seen.push(obj.metadata.name) });
    driven.run();
    driven.queue.replace(many(1), '1');
    await clock.virtual.settle();
    const measured = async (run: () => void) => {
      const before = turns;
      run();
      await clock.virtual.settle();
      return turns - before;
    };
    const updates = await measured(() => {
      for (const obj of many(2)) driven.queue.update(obj);
    });
    expect(updates).toBeGreaterThan(15);
    expect(seen).toEqual(many(2).map(({ metadata }) => metadata.name));
    expect(await measured(() => driven.queue.resync())).toBeGreaterThan(15);
    let late = 0;
    const telling = await measured(() => {
      driven.informer.addEventHandler({ onAdd: () => ++late });
    });
    expect(telling).toBeGreaterThan(15);
    expect(late).toBe(100);
    // One that is asynchronous, and waits for nothing that takes a turn.
    const asynchronous = await measured(() => {
      driven.informer.addEventHandler({ onAdd: async () => ++late });
    });
    expect(asynchronous).toBeGreaterThan(15);
    expect(late).toBe(200);
  });

  test('a handler that is added in the middle receives everything once', async () => {
    const late: string[][] = [];
    const clock = slow(() => {
      if (late.length >= 20) return;
      const seen: string[] = [];
      late.push(seen);
      driven.informer.addEventHandler({
        onAdd: ({ metadata }) => seen.push(metadata.name),
        onUpdate: () => seen.push('updated'),
      });
    });
    await using driven = new DrivenInformer({}, { clock });
    driven.run();
    driven.queue.replace(many(1), '1');
    await clock.virtual.settle();
    expect(late).toHaveLength(20);
    const names = many(1).map(({ metadata }) => metadata.name);
    for (const seen of late) expect(seen).toEqual(names);
  });

  test('it ends when the informer is stopped', async () => {
    let reported = 0;
    const clock = slow(() => {});
    const driven = new DrivenInformer({}, { clock });
    driven.informer.addEventHandler({
      onAdd: () => {
        reported += 1;
        if (reported === 10) void driven.stop();
      },
    });
    driven.run();
    driven.queue.replace(many(1), '1');
    await clock.virtual.settle();
    expect(reported).toBeLessThan(20);
    expect(driven.informer.isStopped).toBe(true);
  });
});
