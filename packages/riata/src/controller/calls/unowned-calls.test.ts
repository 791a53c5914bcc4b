import { expect, test } from 'vitest';
import { memoryLogger } from '../../runtime/log/memory-logger.js';
import { memoryMetrics } from '../../runtime/metrics.js';
import { Shutdown } from '../../runtime/stop-reasons.js';
import { UnownedCalls } from './unowned-calls.js';

const name = { verb: 'create', args: [{ kind: 'Secret', metadata: { namespace: 'shop', name: 'a' } }] };

function make() {
  const log = memoryLogger('debug');
  const metrics = memoryMetrics();
  const calls = new UnownedCalls({ log, metrics }, () => ['carts shop/b']);
  const failures = () => metrics.value('riata_unhandled_call_failures_total', { verb: 'create' });
  return { calls, log, failures };
}

test('a failure of a promise that nothing uses is logged and counted once', async () => {
  const { calls, log, failures } = make();
  const error = new Error('refused');
  void calls.track(() => Promise.reject(error), name);
  await expect.poll(failures).toBe(1);
  expect(log.records).toMatchObject([
    { level: 'error', fields: { call: 'create Secret shop/a', during: ['carts shop/b'], error } },
  ]);
  expect(calls.take(error)).toBe(true);
  expect(log.records).toHaveLength(1);
});

test('a failure that reached no handler is recognized, also as a cause', async () => {
  const { calls, log, failures } = make();
  const error = new Error('refused');
  await expect(calls.track(() => Promise.reject(error), name)).rejects.toBe(error);
  expect(log.records).toEqual([]);
  expect(calls.take(new Error('another'))).toBe(false);
  expect(calls.take(new Error('rollout failed', { cause: error }))).toBe(true);
  expect(failures()).toBe(1);
});

test('a call that a shutdown has ended is not reported', async () => {
  const { calls, log, failures } = make();
  const stopped = new Shutdown('the manager stops');
  await expect(calls.track(() => Promise.reject(stopped), name)).rejects.toBe(stopped);
  expect(calls.take(stopped)).toBe(true);
  expect(log.records).toEqual([]);
  expect(failures()).toBeUndefined();
});
