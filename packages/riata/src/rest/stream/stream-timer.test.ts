import { expect, test } from 'vitest';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { StreamTimer } from './stream-timer.js';

function make() {
  const clock = new VirtualClock();
  const reported: string[] = [];
  const timer = new StreamTimer(clock, (reason) => reported.push(`${reason} at ${clock.monotonic()}`));
  return { clock, timer, reported };
}

test('each phase has its limit, and all of them share one timer', async () => {
  const { clock, timer, reported } = make();
  timer.limitSilence(30_000);
  await clock.advance(29_000);
  // The answer has begun.
  timer.limitSilence(10_000);
  expect(clock.pending).toBe(1);
  await clock.advance(9_000);
  timer.touch();
  timer.suspect(5_000);
  timer.part(2_000, () => reported.push(`incomplete at ${clock.monotonic()}`));
  expect(clock.pending).toBe(1);
  await clock.advance(2_000);
  expect(reported).toEqual(['incomplete at 40000']);
  expect(clock.pending).toBe(1);
  await clock.advance(60_000);
  expect(reported).toEqual(['incomplete at 40000', 'slept at 43000']);
  expect(clock.pending).toBe(0);
});

test('elements keep it alive, parts of one do not', async () => {
  const { clock, timer, reported } = make();
  timer.limitSilence(10_000);
  for (let second = 0; second < 30; second += 1) {
    timer.touch();
    await clock.advance(1_000);
  }
  for (let second = 0; second < 12; second += 1) {
    timer.part(60_000, () => {});
    await clock.advance(1_000);
  }
  expect(reported).toEqual(['silent at 39000']);
});

test('the time of an element counts from its first part, and ends when it is whole', async () => {
  const { clock, timer } = make();
  const late: number[] = [];
  const part = () => timer.part(3_000, () => late.push(clock.monotonic()));
  part();
  await clock.advance(2_000);
  part();
  timer.whole();
  part();
  await clock.advance(2_999);
  expect(late).toEqual([]);
  await clock.advance(1);
  expect(late).toEqual([5_000]);
  expect(clock.pending).toBe(0);
});

test('an element may be given more time when its limit is reached', async () => {
  const { clock, timer } = make();
  let calls = 0;
  const onDue = () => {
    calls += 1;
    if (calls < 3) timer.part(1_000, onDue);
  };
  timer.part(1_000, onDue);
  await clock.advance(10_000);
  expect(calls).toBe(3);
});

test('a sign of life lifts the suspicion; nothing is timed after it was disposed', async () => {
  const { clock, timer, reported } = make();
  timer.limitSilence(60_000);
  timer.suspect(1_000);
  timer.touch();
  await clock.advance(2_000);
  expect(reported).toEqual([]);
  timer[Symbol.dispose]();
  timer.part(1_000, () => reported.push('incomplete'));
  expect(clock.pending).toBe(0);
  await clock.advance(120_000);
  expect(reported).toEqual([]);
});
