import { expect, test } from 'vitest';
import { RetryAfter } from './retry-after.js';

test('doubles while at least three requests a second are dropped, up to 32 seconds', () => {
  const retryAfter = new RetryAfter();
  const seen: number[] = [];
  for (let now = 1000; now < 1100; now++) {
    for (let n = 0; n < 100; n++) retryAfter.drop(now);
    if (seen.at(-1) !== retryAfter.seconds) seen.push(retryAfter.seconds);
  }
  expect(seen).toEqual([1, 2, 4, 8, 16, 32]);
});

test('falls by one second at a time when few are dropped', () => {
  const retryAfter = new RetryAfter();
  for (let now = 1000; now < 1003; now++) for (let n = 0; n < 100; n++) retryAfter.drop(now);
  expect(retryAfter.seconds).toBe(2);
  retryAfter.drop(2000);
  expect(retryAfter.seconds).toBe(1);
  retryAfter.drop(3000);
  expect(retryAfter.seconds).toBe(1);
});

test('a single spike raises it once', () => {
  const retryAfter = new RetryAfter();
  for (let n = 0; n < 1000; n++) retryAfter.drop(1000);
  expect(retryAfter.seconds).toBe(1);
  retryAfter.drop(1001);
  expect(retryAfter.seconds).toBe(2);
  retryAfter.drop(1002);
  expect(retryAfter.seconds).toBe(2);
});
