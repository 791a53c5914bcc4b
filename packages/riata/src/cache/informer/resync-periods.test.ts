import { describe, expect, test } from 'vitest';
import { memoryLogger } from '../../runtime/log/memory-logger.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { ResyncPeriods, resyncMs } from './resync-periods.js';

const clock = new VirtualClock();

function periods(periodMs: number) {
  const log = memoryLogger();
  const resync = new ResyncPeriods<{ isResyncing: boolean; name: string }>(periodMs, clock, log);
  const listener = (name: string, askedMs: number, isStarted = false) => {
    const added = { name, isResyncing: false };
    resync.add(added, askedMs, isStarted);
    return added;
  };
  return { log, resync, listener };
}

describe('resync periods', () => {
  test('0 is never', () => {
    expect([resyncMs(0, 'x'), resyncMs('3s', 'x')]).toEqual([0, 3000]);
  });

  test('the smallest asked for before start is how often is looked', () => {
    const { resync, listener } = periods(60_000);
    listener('a', 30_000);
    listener('b', 5000);
    listener('c', 40_000);
    expect(resync.checkMs).toBe(5000);
  });

  test('a second is the least', () => {
    const { resync, listener, log } = periods(60_000);
    listener('hasty', 10);
    expect(resync.checkMs).toBe(1000);
    expect(log.records).toMatchObject([{ level: 'warn', fields: { handler: 'hasty', resyncPeriodMs: 10 } }]);
  });

  test('without a period of the informer there are no resyncs', async () => {
    const { resync, listener, log } = periods(0);
    const a = listener('a', 5000);
    await clock.advance(60_000);
    expect([resync.check(), a.isResyncing, resync.checkMs]).toEqual([false, false, 0]);
    expect(log.messages('warn')).toEqual(['informer has no resyncPeriod, ignoring the one of its handler']);
  });

  test('after start a smaller one is raised', async () => {
    const { resync, listener, log } = periods(10_000);
    const a = listener('a', 2000, true);
    expect(resync.checkMs).toBe(10_000);
    expect(log.messages('warn')).toHaveLength(1);
    await clock.advance(9999);
    expect([resync.check(), a.isResyncing]).toEqual([false, false]);
    await clock.advance(1);
    expect([resync.check(), a.isResyncing]).toEqual([true, true]);
  });

  test('each has its own time, until it goes', async () => {
    const { resync, listener } = periods(1000);
    const [a, b] = [listener('a', 2000), listener('b', 3000)];
    const never = listener('never', 0);
    const due: string[] = [];
    for (let second = 1; second <= 6; second += 1) {
      await clock.advance(1000);
      resync.check();
      due.push([a, b, never].map(({ isResyncing }) => (isResyncing ? 'x' : '.')).join(''));
    }
    expect(due).toEqual(['...', 'x..', '.x.', 'x..', '...', 'xx.']);
    resync.delete(a);
    resync.delete(b);
    await clock.advance(60_000);
    expect(resync.check()).toBe(false);
  });
});
