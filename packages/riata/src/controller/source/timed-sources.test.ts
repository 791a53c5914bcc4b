import { describe, expect, test } from 'vitest';
import { ConfigMap } from '../../kinds/index.js';
import type { Request } from '../loop/request.js';
import { cronSource } from './cron-source.js';
import { intervalSource } from './interval-source.js';
import { sourceBench } from './source.fixture.js';
import { inCluster } from './source.js';
import { allOf } from './timed-keys.js';

const minute = 60_000;
const hour = 60 * minute;
const keys: readonly Request[] = [{ namespace: 'shop', name: 'a' }, { name: 'b' }];

describe('intervalSource', () => {
  test('brings its keys after each interval, with low priority', async () => {
    const { clock, run, take, names, end } = sourceBench();
    await run(intervalSource('10m', keys, { jitter: 0 }));
    await clock.advance(10 * minute - 1);
    expect(names()).toEqual([]);
    await clock.advance(1);
    const taken = take();
    expect(taken.map(({ name, priority }) => [name, priority])).toEqual([
      ['shop/a', -100],
      ['b', -100],
    ]);
    expect(taken[0]?.causes).toMatchObject([{ source: 'every 10m', count: 1 }]);
    await clock.advance(10 * minute);
    expect(names()).toEqual(['shop/a', 'b']);
    await end();
    expect(clock.pending).toBe(0);
  });

  test('pending keys are queued once', async () => {
    const { clock, run, take, end } = sourceBench();
    await run(intervalSource('1m', keys, { jitter: 0, atStart: true }));
    await clock.advance(5 * minute);
    const taken = take();
    expect(taken).toHaveLength(2);
    expect(taken[0]?.causes).toMatchObject([{ count: 6 }]);
    await end();
  });

  test('jitter makes waits longer, never shorter', async () => {
    const { clock, run, names, end } = sourceBench();
    await run(intervalSource('1m', keys, { jitter: 0.5 }));
    const at: number[] = [];
    while (at.length < 20 && (await clock.advanceToNext())) if (names().length > 0) at.push(clock.monotonic());
    const waits = at.map((ms, n) => ms - (at[n - 1] ?? 0));
    expect(waits.every((ms) => ms >= minute && ms < 1.5 * minute)).toBe(true);
    expect(new Set(waits).size).toBeGreaterThan(10);
    await end();
  });

  test('a failed search for keys is retried, until the next time is due', async () => {
    const { clock, log, run, names, end } = sourceBench();
    let failures = 2;
    let asked = 0;
    const failing = async () => {
      asked += 1;
      if (failures-- > 0) throw new Error('no list');
      return keys;
    };
    await run(intervalSource('1m', failing, { jitter: 0 }));
    await clock.advance(minute + 2_999);
    expect(names()).toEqual([]);
    await clock.advance(1);
    expect(names()).toEqual(['shop/a', 'b']);
    expect(log.messages('error')).toEqual(
      Array.from({ length: 2 }, () => 'source failed to list its keys, will be retried'),
    );
    failures = Number.POSITIVE_INFINITY;
    await clock.advance(10 * minute);
    expect(asked).toBeLessThan(60);
    await end();
    expect(clock.pending).toBe(0);
  });

  test('allOf: the objects of a kind', async () => {
    const { clock, run, names, end } = sourceBench();
    const asked: unknown[] = [];
    const list = async (kind: unknown, { namespace }: { namespace?: string } = {}) => {
      asked.push([kind, namespace]);
      return { items: ['a', 'b'].map((name) => ({ metadata: { namespace: 'shop', name } })) };
    };
    const all = allOf({ list: list as never }, ConfigMap, { namespace: 'shop' });
    await run(intervalSource('1m', all, { atStart: true }));
    expect(names()).toEqual(['shop/a', 'shop/b']);
    expect(asked).toEqual([[ConfigMap, 'shop']]);
    await end();
    expect(clock.pending).toBe(0);
  });

  test('makes no sense without a time', () => {
    expect(() => intervalSource('0s', keys)).toThrow('every must be at least 1ms, got 0s');
    expect(() => intervalSource('1m', keys, { jitter: -1 })).toThrow('jitter must be ≥ 0, got -1');
  });
});

describe('cronSource', () => {
  test('brings its keys when they are due', async () => {
    const { clock, run, take, names, end } = sourceBench('2026-01-01T02:00:00Z');
    await run(cronSource('30 3 * * *', keys));
    await clock.advance(hour + 30 * minute - 1);
    expect(names()).toEqual([]);
    await clock.advance(1);
    const taken = take();
    expect(taken.map(({ name, priority }) => [name, priority])).toEqual([
      ['shop/a', 0],
      ['b', 0],
    ]);
    expect(taken[0]?.causes).toMatchObject([{ source: 'cron 30 3 * * *' }]);
    await clock.advance(24 * hour - 1);
    expect(names()).toEqual([]);
    await clock.advance(1);
    expect(names()).toEqual(['shop/a', 'b']);
    await end();
    expect(clock.pending).toBe(0);
  });

  test('in a time zone', async () => {
    const { clock, run, names, end } = sourceBench('2026-07-01T00:00:00Z');
    await run(cronSource('0 6 * * *', keys, { timeZone: 'Europe/Berlin' }));
    await clock.advance(4 * hour - 1);
    expect(names()).toEqual([]);
    await clock.advance(1);
    expect(names()).toHaveLength(2);
    await end();
  });

  test('what was missed while the machine slept comes once; a clock set back brings nothing early', async () => {
    const { clock, run, names, end } = sourceBench('2026-01-01T00:00:00Z');
    await run(cronSource('0 * * * *', keys));
    await clock.advance(30 * minute);
    clock.setWall(clock.now() + 5 * hour);
    await clock.advance(minute);
    expect(names()).toHaveLength(2);
    await clock.advance(20 * minute);
    expect(names()).toEqual([]);
    clock.setWall(clock.now() - 3 * hour);
    await clock.advance(8 * minute);
    expect(names()).toEqual([]);
    await clock.advance(minute);
    expect(names()).toHaveLength(2);
    await end();
  });

  test('is checked when it is made', () => {
    expect(() => cronSource('every day', keys)).toThrow('cron expression "every day": expected five fields');
  });
});

test('both: keys of one of several clusters', async () => {
  const { clock, run, queue, end } = sourceBench();
  await run(inCluster(intervalSource('1m', [{ name: 'a' }], { atStart: true }), 'east'));
  expect(queue.tryGet()?.key).toEqual({ cluster: 'east', name: 'a' });
  await run(inCluster(cronSource('* * * * *', [{ name: 'b' }]), 'west'));
  await clock.advance(minute);
  expect(queue.tryGet()?.key).toEqual({ cluster: 'west', name: 'b' });
  await end();
});
