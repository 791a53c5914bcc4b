import { expect, test } from 'vitest';
import { SlicedWork } from './sliced-work.js';
import { TimeSlice } from './time-slice.js';
import { VirtualClock } from './virtual-clock.js';
import { WorkingClock } from './working-clock.fixture.js';

test('a clock has one slice, and another clock another', () => {
  const clock = new VirtualClock();
  expect(TimeSlice.of(clock)).toBe(TimeSlice.of(clock));
  expect(TimeSlice.of(clock)).not.toBe(TimeSlice.of(new VirtualClock()));
});

test('loops and workers on one clock share the slice', async () => {
  const clock = new WorkingClock();
  const steps: string[] = [];
  const loop = async (name: string) => {
    const sliced = new SlicedWork(clock);
    sliced.begin();
    for (let step = 0; step < 20; step += 1) {
      if (sliced.isOver) await sliced.rest();
      clock.work(0.5);
      steps.push(name);
    }
    void sliced.end();
  };
  const worker = async (name: string) => {
    const participant = {};
    for (let step = 0; step < 20; step += 1) {
      await TimeSlice.of(clock).pass(participant);
      clock.work(0.25);
      await Promise.resolve();
      clock.work(0.25);
      steps.push(name);
    }
  };
  const all = Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? loop(`loop ${at}`) : worker(`worker ${at}`)));
  await clock.base.settle();
  await Promise.all(all);
  expect(steps).toHaveLength(400);
  expect(clock.longestTurnMs).toBeLessThanOrEqual(5.5);
  // None starves: halfway through, each has done something.
  expect(new Set(steps.slice(0, 200)).size).toBe(20);
});

test('those that wait resume one at a time, in order, each when the one before has nothing left to do without I/O', async () => {
  const clock = new WorkingClock();
  const slice = TimeSlice.of(clock);
  const seen: string[] = [];
  const worker = async (name: string) => {
    await slice.pass({});
    seen.push(`${name} begins`);
    for (let hop = 0; hop < 10; hop += 1) await undefined;
    seen.push(`${name} ends`);
  };
  void Promise.all(['a', 'b', 'c'].map(worker));
  await clock.base.settle();
  expect(seen).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
});

test('a participant that waits for I/O does not hold up the others', async () => {
  const clock = new WorkingClock();
  const slice = TimeSlice.of(clock);
  const seen: string[] = [];
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const asking = async () => {
    await slice.pass({});
    await answered;
    seen.push('answered');
  };
  const other = async () => {
    await slice.pass({});
    seen.push('other');
  };
  void asking();
  void other();
  await clock.base.settle();
  expect(seen).toEqual(['other']);
  answer();
  await clock.base.settle();
  expect(seen).toEqual(['other', 'answered']);
});

test('work that is short and rare asks for no turns', async () => {
  const clock = new WorkingClock();
  const slice = TimeSlice.of(clock);
  for (let step = 0; step < 3; step += 1) {
    const entered = slice.enter();
    clock.work(0.3);
    expect(slice.isOver(entered)).toBe(false);
    slice.leave(entered);
    expect(slice.pass({})).toBe(undefined);
    await clock.base.settle();
  }
  expect(clock.turns).toEqual([]);
});

test('what an awaited function does counts, too, if it never lets the loop turn', async () => {
  const clock = new WorkingClock();
  const sliced = new SlicedWork(clock);
  const handler = async () => {
    await undefined;
    clock.work(1);
  };
  const run = async () => {
    sliced.begin();
    for (let step = 0; step < 50; step += 1) await sliced.waitFor(handler());
    void sliced.end();
  };
  const ran = run();
  await clock.base.settle();
  await ran;
  expect(clock.turns.length).toBeGreaterThanOrEqual(9);
  expect(clock.longestTurnMs).toBeLessThanOrEqual(6);
});
