import { describe, expect, test } from 'vitest';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { noBackoff, urlBackoff } from './backoff-manager.js';

const a = 'https://a:6443/api/v1/pods?x=1';
const b = 'https://b:6443/api/v1/pods';

describe('urlBackoff', () => {
  test('doubles the wait of a host with each 429 or 5xx, up to its limit', () => {
    const backoff = urlBackoff({ baseMs: 1_000, maxMs: 5_000, clock: new VirtualClock() });
    const waits = [500, 503, 429, 500, 500].map((code) => {
      backoff.updateBackoff(a, undefined, code);
      return backoff.calculateBackoff('https://a:6443/other');
    });
    expect(waits).toEqual([1_000, 2_000, 4_000, 5_000, 5_000]);
    expect(backoff.calculateBackoff(b)).toBe(0);
  });

  test.each([
    [200, undefined],
    [404, undefined],
    [0, new Error('reset')],
  ])('forgets it after %i', (code, error) => {
    const backoff = urlBackoff({ clock: new VirtualClock() });
    backoff.updateBackoff(a, undefined, 500);
    expect(backoff.calculateBackoff(a)).toBe(1_000);
    backoff.updateBackoff(a, error, code);
    expect(backoff.calculateBackoff(a)).toBe(0);
  });

  test('starts over after twice its limit without an error', async () => {
    const clock = new VirtualClock();
    const backoff = urlBackoff({ baseMs: 10, maxMs: 100, clock });
    backoff.updateBackoff(a, undefined, 500);
    await clock.advance(200);
    backoff.updateBackoff(a, undefined, 500);
    expect(backoff.calculateBackoff(a)).toBe(20);
    await clock.advance(201);
    backoff.updateBackoff(a, undefined, 500);
    expect(backoff.calculateBackoff(a)).toBe(10);
  });
});

test('noBackoff waits only as long as requested, and until the signal aborts', async () => {
  const clock = new VirtualClock();
  const backoff = noBackoff(clock);
  backoff.updateBackoff(a, undefined, 500);
  expect(backoff.calculateBackoff(a)).toBe(0);
  await backoff.sleep(0);
  expect(clock.pending).toBe(0);
  const controller = new AbortController();
  const slept = backoff.sleep(1_000, { signal: controller.signal });
  expect(clock.pending).toBe(1);
  controller.abort(new Error('enough'));
  await expect(slept).rejects.toThrow('enough');
});
