import { expect, test } from 'vitest';
import { seededRandom } from '../runtime/random.js';
import { VirtualClock } from '../runtime/time/virtual-clock.js';
import { ownLimiter, sharedControllerRateLimiter } from './shared-controller-rate-limiter.js';

const context = { clock: new VirtualClock(), random: seededRandom(1) };

test('waits double from 5 ms to 30 s, and are 2 minutes after 30 failures', () => {
  const limiter = sharedControllerRateLimiter(context);
  const waits = Array.from({ length: 32 }, () => limiter.when('a'));
  expect(waits.slice(0, 5)).toEqual([5, 10, 20, 40, 80]);
  expect(waits[29]).toBe(30_000);
  expect(waits.slice(30)).toEqual([120_000, 120_000]);
  limiter.forget('a');
  expect(limiter.when('a')).toBe(5);
});

test('a limiter that is handed to two controllers is refused', () => {
  const one = sharedControllerRateLimiter();
  expect(ownLimiter(() => one, 'first')(context)).toBe(one);
  expect(() => ownLimiter(() => one, 'second')(context)).toThrow('limiter of "first"; return a new one on each call');
});
