import { describe, expect, test } from 'vitest';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { alwaysRateLimiter, neverRateLimiter, tokenBucketRateLimiter } from './rate-limiter.js';

describe('tokenBucketRateLimiter', () => {
  test('lets a burst through at once, then the rate', async () => {
    const clock = new VirtualClock();
    const limiter = tokenBucketRateLimiter(2, 3, clock);
    const times: number[] = [];
    for (let i = 0; i < 6; i++) void limiter.wait().then(() => times.push(clock.monotonic()));
    await clock.runAll();
    expect(times).toEqual([0, 0, 0, 500, 1_000, 1_500]);
    expect(limiter.qps()).toBe(2);
  });

  test('fills up to the burst and no further', async () => {
    const clock = new VirtualClock();
    const limiter = tokenBucketRateLimiter(1, 2, clock);
    await clock.advance(60_000);
    expect([limiter.tryAccept(), limiter.tryAccept(), limiter.tryAccept()]).toEqual([true, true, false]);
    await clock.advance(999);
    expect(limiter.tryAccept()).toBe(false);
    await clock.advance(1);
    expect(limiter.tryAccept()).toBe(true);
  });

  test('gives a token back when the wait is aborted', async () => {
    const clock = new VirtualClock();
    const limiter = tokenBucketRateLimiter(1, 1, clock);
    await limiter.accept();
    const controller = new AbortController();
    const reason = new Error('enough');
    const given = limiter.wait({ signal: controller.signal }).catch((error: unknown) => error);
    controller.abort(reason);
    expect(await given).toBe(reason);
    let at = -1;
    void limiter.accept().then(() => {
      at = clock.monotonic();
    });
    await clock.runAll();
    expect(at).toBe(1_000);
    await expect(limiter.wait({ signal: controller.signal })).rejects.toBe(reason);
    expect(limiter.stop()).toBeUndefined();
  });

  test.each([
    [0, 1, 'qps must be a number > 0, got 0'],
    [-1, 1, 'qps must be a number > 0, got -1'],
    [Number.NaN, 1, 'qps must be a number > 0, got NaN'],
    [1, 0, 'burst must be an integer ≥ 1, got 0'],
    [1, 1.5, 'burst must be an integer ≥ 1, got 1.5'],
  ])('refuses %d, %d', (qps, burst, message) => {
    expect(() => tokenBucketRateLimiter(qps, burst, new VirtualClock())).toThrow(message);
  });
});

describe('the fakes', () => {
  test('alwaysRateLimiter lets everything through', async () => {
    expect(alwaysRateLimiter.tryAccept()).toBe(true);
    expect(await alwaysRateLimiter.wait()).toBeUndefined();
    expect(await alwaysRateLimiter.accept()).toBeUndefined();
    expect(alwaysRateLimiter.qps()).toBe(1);
  });

  test('neverRateLimiter lets nothing through, until it is stopped', async () => {
    const limiter = neverRateLimiter();
    expect(limiter.tryAccept()).toBe(false);
    await expect(limiter.wait()).rejects.toThrow('refuses every request');
    let passed = false;
    const accepted = limiter.accept().then(() => {
      passed = true;
    });
    await Promise.resolve();
    expect(passed).toBe(false);
    limiter.stop();
    await accepted;
    expect(passed).toBe(true);
    expect(limiter.qps()).toBe(1);
  });
});
