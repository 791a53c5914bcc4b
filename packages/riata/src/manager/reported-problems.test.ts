import { expect, test } from 'vitest';
import { VirtualClock } from '../runtime/time/virtual-clock.js';
import { ReportedProblems } from './reported-problems.js';

test('a problem is news once, until it changes, is resolved, or ten minutes have passed', async () => {
  const clock = new VirtualClock();
  const problems = new ReportedProblems(clock);
  expect([problems.isNews('lease', 'refused'), problems.isNews('lease', 'refused')]).toEqual([true, false]);
  expect([problems.isNews('lease', 'forbidden'), problems.isNews('metrics', 'forbidden')]).toEqual([true, true]);
  await clock.advance(599_999);
  expect(problems.isNews('lease', 'forbidden')).toBe(false);
  await clock.advance(1);
  expect(problems.isNews('lease', 'forbidden')).toBe(true);
  expect([problems.isResolved('lease'), problems.isResolved('lease')]).toEqual([true, false]);
  expect(problems.isNews('lease', 'forbidden')).toBe(true);
});
