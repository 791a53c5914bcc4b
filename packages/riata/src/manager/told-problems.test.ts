import { expect, test } from 'vitest';
import { VirtualClock } from '../runtime/time/virtual-clock.js';
import { ToldProblems } from './told-problems.js';

test('a problem is news once, until it changes, is over, or ten minutes have passed', async () => {
  const clock = new VirtualClock();
  const told = new ToldProblems(clock);
  expect([told.isNews('lease', 'refused'), told.isNews('lease', 'refused')]).toEqual([true, false]);
  expect([told.isNews('lease', 'forbidden'), told.isNews('metrics', 'forbidden')]).toEqual([true, true]);
  await clock.advance(599_999);
  expect(told.isNews('lease', 'forbidden')).toBe(false);
  await clock.advance(1);
  expect(told.isNews('lease', 'forbidden')).toBe(true);
  expect([told.isMended('lease'), told.isMended('lease')]).toEqual([true, false]);
  expect(told.isNews('lease', 'forbidden')).toBe(true);
});
