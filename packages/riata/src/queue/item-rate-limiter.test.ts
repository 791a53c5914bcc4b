import { describe, expect, test } from 'vitest';
import { seededRandom } from '../runtime/random.js';
import { VirtualClock } from '../runtime/time/virtual-clock.js';
import {
  bucketRateLimiter,
  defaultControllerRateLimiter,
  type ItemRateLimiter,
  itemExponentialFailureRateLimiter,
  itemFastSlowRateLimiter,
  maxOfRateLimiter,
  withMaxWaitRateLimiter,
} from './item-rate-limiter.js';

const ask = (limiter: ItemRateLimiter, id: string, times: number): number[] =>
  Array.from({ length: times }, () => limiter.when(id));

describe('itemExponentialFailureRateLimiter', () => {
  test('doubles per key up to the maximum (TestItemExponentialFailureRateLimiter)', () => {
    const limiter = itemExponentialFailureRateLimiter({ baseMs: 1, maxMs: 1000 });
    expect(ask(limiter, 'one', 5)).toEqual([1, 2, 4, 8, 16]);
    expect(limiter.numRequeues('one')).toBe(5);
    expect(ask(limiter, 'two', 2)).toEqual([1, 2]);
    limiter.forget('one');
    expect(limiter.numRequeues('one')).toBe(0);
    expect(limiter.when('one')).toBe(1);
    expect(ask(limiter, 'one', 12).at(-1)).toBe(1000);
  });

  test('never overflows (TestItemExponentialFailureRateLimiterOverFlow)', () => {
    const limiter = itemExponentialFailureRateLimiter();
    expect(ask(limiter, 'a', 5000).slice(-3)).toEqual([1_000_000, 1_000_000, 1_000_000]);
    const endless = itemExponentialFailureRateLimiter({ maxMs: Number.MAX_VALUE });
    expect(ask(endless, 'a', 5000).every((ms) => ms > 0 && Number.isFinite(ms))).toBe(true);
    expect(ask(itemExponentialFailureRateLimiter({ baseMs: 0 }), 'a', 5000).every((ms) => ms === 0)).toBe(true);
  });

  test('starts with 5 ms and ends with 1000 s', () => {
    const waits = ask(itemExponentialFailureRateLimiter(), 'a', 20);
    expect(waits.slice(0, 3)).toEqual([5, 10, 20]);
    expect(waits.at(-1)).toBe(1_000_000);
  });

  test('jitter adds up to its share, at the maximum too', () => {
    const limiter = itemExponentialFailureRateLimiter({
      baseMs: 100,
      maxMs: 400,
      jitter: 0.5,
      random: seededRandom(1),
    });
    const waits = ask(limiter, 'a', 50);
    const plain = [100, 200, ...Array.from({ length: 48 }, () => 400)];
    for (const [at, ms] of waits.entries()) {
      expect(ms).toBeGreaterThanOrEqual(plain[at] ?? 0);
      expect(ms).toBeLessThan((plain[at] ?? 0) * 1.5);
    }
    expect(new Set(waits.slice(2)).size).toBeGreaterThan(40);
  });

  test.each([
    [{ baseMs: -1 }, 'itemExponentialFailureRateLimiter: baseMs must be milliseconds ≥ 0, got -1'],
    [{ maxMs: Number.NaN }, 'itemExponentialFailureRateLimiter: maxMs must be milliseconds ≥ 0, got NaN'],
    [{ jitter: -0.1 }, 'itemExponentialFailureRateLimiter: jitter must be ≥ 0, got -0.1'],
  ])('refuses %j', (options, message) => {
    expect(() => itemExponentialFailureRateLimiter(options)).toThrow(message);
  });
});

test('itemFastSlowRateLimiter is fast a few times, then slow (TestItemFastSlowRateLimiter)', () => {
  const limiter = itemFastSlowRateLimiter({ fastMs: 5, slowMs: 10_000, maxFastAttempts: 3 });
  expect(ask(limiter, 'one', 5)).toEqual([5, 5, 5, 10_000, 10_000]);
  expect(limiter.numRequeues('one')).toBe(5);
  expect(ask(limiter, 'two', 2)).toEqual([5, 5]);
  limiter.forget('one');
  expect(limiter.numRequeues('one')).toBe(0);
  expect(limiter.when('one')).toBe(5);
});

test('itemFastSlowRateLimiter refuses an invalid number of attempts', () => {
  expect(() => itemFastSlowRateLimiter({ fastMs: 5, slowMs: 10, maxFastAttempts: Number.NaN })).toThrow(
    'itemFastSlowRateLimiter: maxFastAttempts must be ≥ 0, got NaN',
  );
});

describe('bucketRateLimiter', () => {
  test('lets a burst through, then so many per second, whichever the keys', async () => {
    const clock = new VirtualClock();
    const limiter = bucketRateLimiter({ qps: 10, burst: 3, clock });
    expect(['a', 'b', 'c', 'd', 'a'].map((id) => limiter.when(id))).toEqual([0, 0, 0, 100, 200]);
    expect(limiter.numRequeues('a')).toBe(0);
    limiter.forget('a');
    await clock.advance(250);
    expect(ask(limiter, 'e', 2)).toEqual([50, 150]);
    await clock.advance(3_600_000);
    expect(ask(limiter, 'f', 4)).toEqual([0, 0, 0, 100]);
  });

  test('is 10 per second with a burst of 100', () => {
    expect(ask(bucketRateLimiter({ clock: new VirtualClock() }), 'a', 101).slice(-2)).toEqual([0, 100]);
  });

  test('an infinite rate delays no key', async () => {
    const clock = new VirtualClock();
    const limiter = bucketRateLimiter({ qps: Number.POSITIVE_INFINITY, burst: 1, clock });
    expect(ask(limiter, 'a', 3)).toEqual([0, 0, 0]);
    await clock.advance(1);
    expect(ask(limiter, 'a', 2)).toEqual([0, 0]);
  });

  test('refuses sizes that let nothing through', () => {
    expect(() => bucketRateLimiter({ qps: 0 })).toThrow('bucketRateLimiter: qps must be > 0, got 0');
    expect(() => bucketRateLimiter({ burst: 0 })).toThrow('bucketRateLimiter: burst must be ≥ 1, got 0');
  });
});

test('maxOfRateLimiter takes the longest wait and the highest count (TestMaxOfRateLimiter)', () => {
  const limiter = maxOfRateLimiter(
    itemFastSlowRateLimiter({ fastMs: 5, slowMs: 3000, maxFastAttempts: 3 }),
    itemExponentialFailureRateLimiter({ baseMs: 1, maxMs: 1000 }),
  );
  expect(ask(limiter, 'one', 5)).toEqual([5, 5, 5, 3000, 3000]);
  expect(limiter.numRequeues('one')).toBe(5);
  limiter.forget('one');
  expect(limiter.numRequeues('one')).toBe(0);
  expect(limiter.when('one')).toBe(5);
  expect(maxOfRateLimiter().when('one')).toBe(0);
});

test('withMaxWaitRateLimiter cuts the wait and nothing else (TestWithMaxWaitRateLimiter)', () => {
  const limiter = withMaxWaitRateLimiter(itemExponentialFailureRateLimiter({ baseMs: 5 }), 15);
  expect(ask(limiter, 'one', 4)).toEqual([5, 10, 15, 15]);
  expect(limiter.numRequeues('one')).toBe(4);
  limiter.forget('one');
  expect(limiter.when('one')).toBe(5);
  expect(() => withMaxWaitRateLimiter(limiter, -1)).toThrow('maxMs must be milliseconds ≥ 0, got -1');
});

test('defaultControllerRateLimiter: per key exponential, over all keys a bucket', () => {
  const limiter = defaultControllerRateLimiter({ clock: new VirtualClock() });
  expect(ask(limiter, 'a', 3)).toEqual([5, 10, 20]);
  const others = Array.from({ length: 100 }, (_, at) => limiter.when(`key-${at}`));
  expect(others.slice(0, 97).every((ms) => ms === 5)).toBe(true);
  expect(others.slice(97)).toEqual([100, 200, 300]);
  expect(defaultControllerRateLimiter().when('a')).toBe(5);
});
