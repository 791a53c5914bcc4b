import { expect, test } from 'vitest';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { LazyDeadline } from './lazy-deadline.js';

test('comes when it is due, however often it was moved, and once', async () => {
  const clock = new VirtualClock();
  const due: number[] = [];
  const deadline = new LazyDeadline(clock, () => due.push(clock.monotonic()));
  const from = clock.monotonic();
  deadline.set(100);
  await clock.advance(60);
  deadline.set(100);
  await clock.advance(99);
  expect(due).toEqual([]);
  await clock.advance(1);
  expect(due).toEqual([from + 160]);
  await clock.advance(1000);
  expect(due).toHaveLength(1);
  expect(clock.pending).toBe(0);
});

test('can be brought forward, removed and set again', async () => {
  const clock = new VirtualClock();
  let due = 0;
  const deadline = new LazyDeadline(clock, () => {
    due += 1;
  });
  deadline.set(1000);
  deadline.set(10);
  await clock.advance(10);
  expect(due).toBe(1);
  deadline.set(10);
  deadline.set(0);
  deadline.set(Number.POSITIVE_INFINITY);
  await clock.advance(5000);
  expect([due, clock.pending]).toEqual([1, 0]);
  deadline.set(10);
  deadline.cancel();
  expect(clock.pending).toBe(0);
  await clock.advance(5000);
  expect(due).toBe(1);
});
