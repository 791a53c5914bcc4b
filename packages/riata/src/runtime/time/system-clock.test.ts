import { getEventListeners } from 'node:events';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { systemClock } from './system-clock.js';

const refdTimers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

afterEach(() => {
  vi.useRealTimers();
});

describe('systemClock', () => {
  test('runs a call after its delay, once', () => {
    vi.useFakeTimers();
    const fn = vi.fn();
    systemClock.after(1000, fn);
    vi.advanceTimersByTime(999);
    expect(fn).not.toHaveBeenCalled();
    vi.advanceTimersByTime(100_000);
    expect(fn).toHaveBeenCalledTimes(1);
  });

  test('a negative delay means soon, never at once', () => {
    vi.useFakeTimers();
    const fn = vi.fn();
    systemClock.after(-5, fn);
    expect(fn).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(fn).toHaveBeenCalledTimes(1);
  });

  test('a delay past 31 bits waits its whole length', () => {
    vi.useFakeTimers();
    const fn = vi.fn();
    const delay = 3 * 2 ** 31;
    systemClock.after(delay, fn);
    vi.advanceTimersByTime(delay - 1);
    expect(fn).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(fn).toHaveBeenCalledTimes(1);
  });

  test('a long delay can be cancelled in any of its parts', () => {
    vi.useFakeTimers();
    const fn = vi.fn();
    const timer = systemClock.after(3 * 2 ** 31, fn);
    vi.advanceTimersByTime(2 ** 32);
    timer.cancel();
    vi.advanceTimersByTime(2 ** 33);
    expect(fn).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('an infinite delay never comes', () => {
    vi.useFakeTimers();
    const fn = vi.fn();
    const timer = systemClock.after(Number.POSITIVE_INFINITY, fn);
    vi.advanceTimersByTime(2 ** 34);
    expect(fn).not.toHaveBeenCalled();
    timer[Symbol.dispose]();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('what is not a number is refused', () => {
    expect(() => systemClock.after(Number.NaN, () => {})).toThrow(
      'timer: the delay must be a number of milliseconds, got NaN',
    );
  });

  test('only a foreground timer keeps the process alive', () => {
    const before = refdTimers();
    const background = systemClock.after(60_000, () => {}, { background: true });
    expect(refdTimers()).toBe(before);
    const foreground = systemClock.after(60_000, () => {});
    expect(refdTimers()).toBe(before + 1);
    background.cancel();
    foreground.cancel();
    expect(refdTimers()).toBe(before);
  });

  test('sleep resolves after its time and takes its listener along', async () => {
    vi.useFakeTimers();
    const { signal } = new AbortController();
    const slept = systemClock.sleep(50, { signal });
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    vi.advanceTimersByTime(50);
    await slept;
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  test('sleep rejects with the reason as soon as the signal aborts, and its timer is gone', async () => {
    vi.useFakeTimers();
    const controller = new AbortController();
    const slept = systemClock.sleep(50_000, { signal: controller.signal });
    const reason = new Error('enough');
    controller.abort(reason);
    await expect(slept).rejects.toBe(reason);
    expect(vi.getTimerCount()).toBe(0);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });

  test('sleep with an aborted signal rejects without a timer', async () => {
    vi.useFakeTimers();
    const reason = new Error('too late');
    const slept = systemClock.sleep(50_000, { signal: AbortSignal.abort(reason) });
    expect(vi.getTimerCount()).toBe(0);
    await expect(slept).rejects.toBe(reason);
  });

  test('yield lets other tasks of the event loop run first', async () => {
    const order: string[] = [];
    setImmediate(() => order.push('task'));
    await systemClock.yield();
    order.push('after yield');
    expect(order).toEqual(['task', 'after yield']);
  });

  test('reads the wall clock and a monotonic one', () => {
    vi.useFakeTimers({ now: 1_700_000_000_000 });
    expect(systemClock.now()).toBe(1_700_000_000_000);
    const start = systemClock.monotonic();
    vi.advanceTimersByTime(250);
    expect(systemClock.monotonic() - start).toBe(250);
  });
});
