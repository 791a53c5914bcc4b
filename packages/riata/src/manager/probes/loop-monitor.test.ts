import { expect, test } from 'vitest';
import { memoryLogger } from '../../runtime/log/memory-logger.js';
import { memoryMetrics } from '../../runtime/metrics.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { ProcessClock } from '../election/election.fixture.js';
import { LoopMonitor, type LoopMonitorParts } from './loop-monitor.js';

function setUp(lasting: LoopMonitorParts['lasting']) {
  const base = new VirtualClock();
  const clock = new ProcessClock(base);
  const log = memoryLogger();
  const metrics = memoryMetrics();
  const monitor = new LoopMonitor({ clock, log, metrics, lasting }).start();
  const block = async (ms: number) => {
    clock.stop();
    await base.advance(ms);
    clock.resume();
    await base.settle();
  };
  return { base, clock, log, metrics, monitor, block };
}

test('a stall is logged, with the reconcile and its duration; the lag is a metric', async () => {
  const asked: (readonly number[])[] = [];
  const { base, log, metrics, monitor, block } = setUp((...times) => {
    asked.push(times);
    return ['carts shop/a (3000 ms)'];
  });
  await base.advance(1_000);
  await block(3_100);
  await base.advance(1_000);
  const reported = log.records.filter(({ level }) => level === 'warn');
  expect(reported).toHaveLength(1);
  expect(reported[0]?.fields).toMatchObject({ blockedMs: 3_000, reconciling: 'carts shop/a (3000 ms)' });
  // As long as it was blocked, and ended since the last look.
  expect(asked).toEqual([[3_000, 3_100]]);
  expect(Math.max(...metrics.observed('riata_event_loop_lag_seconds'))).toBe(3);
  monitor[Symbol.dispose]();
});

test('a healthy loop is not logged', async () => {
  const { base, log, monitor } = setUp(() => []);
  await base.advance(60_000);
  expect(log.records).toEqual([]);
  monitor[Symbol.dispose]();
});

test('a process that did not get to run is not blamed on what it reconciles', async () => {
  const { base, clock, log, monitor, block } = setUp(() => ['carts shop/a (3000 ms)']);
  clock.cpuMs = () => 0;
  await base.advance(1_000);
  await block(3_100);
  await base.advance(1_000);
  const [reported] = log.records.filter(({ level }) => level === 'warn');
  expect(reported?.message).toBe('the process did not run for a while: leases, probes and watches had to wait');
  expect(reported?.fields).toEqual({ blockedMs: 3_000, cpuMs: 0, hint: expect.stringContaining('CPU limit') });
  monitor[Symbol.dispose]();
});
