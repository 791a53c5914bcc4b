import { getEventListeners } from 'node:events';
import { describe, expect, test, vi } from 'vitest';
import { VirtualClock } from './virtual-clock.js';

describe('time', () => {
  test('stands still until it is advanced', async () => {
    const clock = new VirtualClock({ start: 1_000_000 });
    await clock.settle();
    expect([clock.now(), clock.monotonic()]).toEqual([1_000_000, 0]);
    await clock.advance(1500);
    expect([clock.now(), clock.monotonic()]).toEqual([1_001_500, 1500]);
  });

  test('starts at the same wall time on every machine', () => {
    expect(new Date(new VirtualClock().now()).toISOString()).toBe('2026-01-01T00:00:00.000Z');
  });

  test('a jump of the wall clock leaves timers and the monotonic clock alone', async () => {
    const clock = new VirtualClock({ start: 5000 });
    await clock.advance(100);
    let ran = false;
    clock.after(50, () => {
      ran = true;
    });
    clock.setWall(1_000);
    expect([clock.now(), clock.monotonic()]).toEqual([1_000, 100]);
    await clock.advance(49);
    expect(ran).toBe(false);
    await clock.advance(1);
    expect([ran, clock.now()]).toEqual([true, 1_050]);
  });

  test.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('advance refuses %s', async (ms) => {
    await expect(new VirtualClock().advance(ms)).rejects.toThrow(`milliseconds ≥ 0, got ${ms}`);
  });
});

test('a clock that never looks whether all is quiet is refused', () => {
  expect(() => new VirtualClock({ quietTurns: 0 })).toThrow('quietTurns must be ≥ 1, got 0');
});

describe('timers', () => {
  test('a timer set by a promise chain within the window runs in its place', async () => {
    const clock = new VirtualClock();
    const seen: [string, number][] = [];
    clock.after(100, () => seen.push(['last', clock.monotonic()]));
    void (async () => {
      await clock.sleep(10);
      for (let hop = 0; hop < 50; hop += 1) await Promise.resolve();
      await clock.yield();
      seen.push(['awake', clock.monotonic()]);
      await clock.sleep(20);
      seen.push(['again', clock.monotonic()]);
    })();
    await clock.advance(100);
    expect(seen).toEqual([
      ['awake', 10],
      ['again', 30],
      ['last', 100],
    ]);
  });

  test('a zero timer never runs at once, but without time moving', async () => {
    const clock = new VirtualClock();
    const seen: string[] = [];
    clock.after(0, () => seen.push('timer'));
    seen.push('sync');
    await clock.settle();
    expect(seen).toEqual(['sync', 'timer']);
    expect(clock.monotonic()).toBe(0);
  });

  test('a cancelled timer does not run, and counts no more', async () => {
    const clock = new VirtualClock();
    const timer = clock.after(5, () => expect.unreachable());
    const other = clock.after(7, () => {});
    expect([clock.pending, clock.nextDeadline]).toEqual([2, 5]);
    timer.cancel();
    timer.cancel();
    expect([clock.pending, clock.nextDeadline]).toEqual([1, 7]);
    other[Symbol.dispose]();
    expect([clock.pending, clock.nextDeadline]).toEqual([0, undefined]);
    await clock.advance(10);
  });

  test('cancelling after the run changes nothing', async () => {
    const clock = new VirtualClock();
    const timer = clock.after(5, () => {});
    clock.after(50, () => {});
    await clock.advance(5);
    timer.cancel();
    expect(clock.pending).toBe(1);
  });

  test('what a timer throws comes out of advance, and the rest can go on', async () => {
    const clock = new VirtualClock();
    const seen: number[] = [];
    clock.after(10, () => {
      throw new Error('boom');
    });
    clock.after(20, () => seen.push(clock.monotonic()));
    await expect(clock.advance(100)).rejects.toThrow('boom');
    expect([clock.monotonic(), clock.pending, seen]).toEqual([10, 1, []]);
    await clock.advance(10);
    expect(seen).toEqual([20]);
  });

  test('an infinite delay never comes', async () => {
    const clock = new VirtualClock();
    clock.after(Number.POSITIVE_INFINITY, () => expect.unreachable());
    expect(await clock.advanceToNext()).toBe(false);
    await clock.runAll();
    expect([clock.monotonic(), clock.pending]).toEqual([0, 1]);
  });

  test('sleep rejects with the reason of its signal and leaves nothing behind', async () => {
    const clock = new VirtualClock();
    const controller = new AbortController();
    const slept = clock.sleep(1000, { signal: controller.signal });
    const reason = new Error('stop');
    clock.after(10, () => controller.abort(reason));
    await Promise.all([clock.advance(10), expect(slept).rejects.toBe(reason)]);
    expect(clock.pending).toBe(0);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    await expect(clock.sleep(1, { signal: controller.signal })).rejects.toBe(reason);
    expect(clock.pending).toBe(0);
  });
});

describe('driving', () => {
  test('calls wait in line, even those made from within', async () => {
    const clock = new VirtualClock();
    const seen: number[] = [];
    let inner: Promise<void> | undefined;
    clock.after(10, () => {
      seen.push(clock.monotonic());
      inner = clock.advance(100);
    });
    clock.after(20, () => seen.push(clock.monotonic()));
    const first = clock.advance(30);
    const second = clock.advance(5);
    await first;
    expect(clock.monotonic()).toBe(30);
    await second;
    expect(clock.monotonic()).toBe(35);
    await inner;
    expect([clock.monotonic(), seen]).toEqual([135, [10, 20]]);
  });

  test('a driver that fails does not block those behind it', async () => {
    const clock = new VirtualClock();
    clock.after(1, () => {
      throw new Error('boom');
    });
    const first = clock.advance(5);
    const second = clock.advance(5);
    await expect(first).rejects.toThrow('boom');
    await second;
    expect(clock.monotonic()).toBe(6);
  });

  test('advanceToNext stops at each deadline', async () => {
    const clock = new VirtualClock();
    const seen: number[] = [];
    for (const ms of [30, 10, 10]) clock.after(ms, () => seen.push(clock.monotonic()));
    expect(await clock.advanceToNext()).toBe(true);
    expect(seen).toEqual([10, 10]);
    expect(await clock.advanceToNext()).toBe(true);
    expect(seen).toEqual([10, 10, 30]);
    expect(await clock.advanceToNext()).toBe(false);
  });

  test('runAll continues until only background timers wait', async () => {
    const clock = new VirtualClock();
    let beats = 0;
    const beat = () => {
      beats += 1;
      clock.after(10, beat, { background: true });
    };
    beat();
    let woke = 0;
    void (async () => {
      await clock.sleep(15);
      await clock.sleep(20);
      woke = clock.monotonic();
    })();
    await clock.runAll();
    expect([woke, beats, clock.pending]).toEqual([35, 4, 1]);
  });

  test('runAll refuses a foreground timer that always comes back', async () => {
    const clock = new VirtualClock({ limit: 20 });
    const again = () => void clock.after(1, again);
    again();
    await expect(clock.runAll()).rejects.toThrow('20 deadlines passed and 1 timers are waiting still');
  });

  test.each(['settle', 'advance'] as const)('%s refuses an endless loop of zero timers', async (drive) => {
    const clock = new VirtualClock({ limit: 50 });
    const again = () => void clock.after(0, again);
    again();
    await expect(clock[drive](10)).rejects.toThrow('50 timers without delay or yields ran at 0 ms');
  });

  test('an endless loop of yields is refused as well', async () => {
    const clock = new VirtualClock({ limit: 50 });
    let stop = false;
    const loop = (async () => {
      while (!stop) await clock.yield();
    })();
    await expect(clock.settle()).rejects.toThrow('look for a loop that waits with a delay of 0 or with yield()');
    stop = true;
    await loop;
  });

  test('many timers at one deadline are no loop', async () => {
    const clock = new VirtualClock({ limit: 50 });
    let ran = 0;
    for (let timer = 0; timer < 200; timer += 1) {
      clock.after(10, () => {
        ran += 1;
      });
    }
    await clock.advance(10);
    expect(ran).toBe(200);
  });
});

describe('settle', () => {
  test('waits for chains of promises, yields and turns of the event loop', async () => {
    const clock = new VirtualClock();
    const seen: string[] = [];
    void (async () => {
      for (let round = 0; round < 20; round += 1) {
        await Promise.resolve();
        await clock.yield();
      }
      seen.push('yields');
      await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setImmediate(resolve));
      seen.push('turns');
      await clock.sleep(0);
      seen.push('zero sleep');
    })();
    await clock.settle();
    expect(seen).toEqual(['yields', 'turns', 'zero sleep']);
  });

  test('waits for tracked work, however many turns it takes', async () => {
    const clock = new VirtualClock();
    let arrived = false;
    const send = async () => {
      const bytes = clock.track('bytes');
      for (let hop = 0; hop < 100; hop += 1) await new Promise((resolve) => setImmediate(resolve));
      arrived = true;
      bytes[Symbol.dispose]();
      bytes[Symbol.dispose]();
    };
    void send();
    await clock.settle();
    expect(arrived).toBe(true);
  });

  test('names the tracked work that never ends', async () => {
    const clock = new VirtualClock({ busyLimitMs: 0 });
    using _request = clock.track('GET /api/v1/pods');
    using _other = clock.track('GET /api/v1/pods');
    await expect(clock.settle()).rejects.toThrow('still in flight after 0 ms of real time: GET /api/v1/pods (2)');
  });

  test('no timer runs while tracked work could still set an earlier one', async () => {
    const clock = new VirtualClock();
    const seen: string[] = [];
    clock.after(20, () => seen.push('late'));
    clock.after(10, () => {
      const bytes = clock.track();
      void (async () => {
        for (let hop = 0; hop < 30; hop += 1) await new Promise((resolve) => setImmediate(resolve));
        clock.after(5, () => seen.push('early'));
        bytes[Symbol.dispose]();
      })();
    });
    await clock.advance(30);
    expect(seen).toEqual(['early', 'late']);
  });
});

test('a framework that fakes timers does not stop it', async () => {
  vi.useFakeTimers();
  try {
    const clock = new VirtualClock();
    const done = clock.sleep(30_000);
    await clock.advance(30_000);
    await done;
    expect(clock.monotonic()).toBe(30_000);
  } finally {
    vi.useRealTimers();
  }
});
