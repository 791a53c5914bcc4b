import { expect, test } from 'vitest';
import { clusterKey } from '../../object/key.js';
import { silentLogger } from '../../runtime/log/logger.js';
import { memoryMetrics } from '../../runtime/metrics.js';
import { seededRandom } from '../../runtime/random.js';
import { isLostLease, LostLease } from '../../runtime/stop-reasons.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { Controller } from './controller.js';
import type { ReconcileRun } from './reconciler.js';
import type { Result } from './result.js';

const a = clusterKey({ namespace: 'shop', name: 'a' });
const b = clusterKey({ namespace: 'shop', name: 'b' });
const isA = ({ name }: { readonly name: string }) => name === 'a';

/** A controller behind a gate that can be shut for some names. */
function setUp(reconcile: (run: ReconcileRun) => Result | Promise<Result>) {
  const clock = new VirtualClock();
  const metrics = memoryMetrics();
  const shut = new Set<string>();
  const runs: string[] = [];
  const controller = new Controller('carts', {
    concurrency: 4,
    gate: { admits: ({ name }) => !shut.has(name) },
    runtime: { clock, metrics, log: silentLogger, random: seededRandom(1) },
    reconcile: (run) => {
      runs.push(`${run.key.name} ${run.attempt}`);
      return reconcile(run);
    },
  });
  const stop = new AbortController();
  const ran = controller.run({ signal: stop.signal });
  return { clock, metrics, shut, runs, controller, stop, ran };
}

test('a key that is not admitted is dropped before it runs, retries included, and starts over when it comes back', async () => {
  const { clock, metrics, shut, runs, controller, stop, ran } = setUp(() => {
    throw new Error('not yet');
  });
  controller.queue.add(a);
  await clock.advance(20);
  expect(runs).toEqual(['a 1', 'a 2', 'a 3']);
  shut.add('a');
  await clock.advance(3_600_000);
  controller.queue.add(a);
  await clock.settle();
  expect(runs).toHaveLength(3);
  expect(metrics.value('riata_not_in_shard_total', { controller: 'carts' })).toBe(2);
  expect(controller.health).toMatchObject({ queued: 0, delayed: 0, active: [] });
  shut.clear();
  controller.queue.add(a);
  await clock.settle();
  expect(runs.at(-1)).toBe('a 1');
  stop.abort();
  await ran;
});

test('reconciles of some keys are waited for, then aborted; the others go on', async () => {
  const { clock, shut, runs, controller, stop, ran } = setUp(async ({ key, signal }) => {
    if (isA(key)) await clock.sleep(60_000, { signal });
    else await clock.sleep(20_000, { signal });
  });
  controller.queue.add(a);
  controller.queue.add(b);
  await clock.settle();
  shut.add('a');
  let isEnded = false;
  const ended = controller.endReconciles(isA, new LostLease('it moves')).then(() => {
    isEnded = true;
  });
  await clock.advance(14_999);
  expect(isEnded).toBe(false);
  await clock.advance(1);
  await ended;
  expect(controller.explain).toMatchObject([{ key: a, outcome: 'stopped' }]);
  await clock.advance(5_000);
  expect(controller.explain).toMatchObject([{ key: a }, { key: b, outcome: 'success' }]);
  await controller.endReconciles(() => true, new LostLease('nothing runs'));
  expect(runs).toEqual(['a 1', 'b 1']);
  stop.abort();
  await ran;
});

test('a lost lease gives no time, and a reconcile that ends in time is not aborted', async () => {
  const reasons: unknown[] = [];
  const { clock, controller, stop, ran } = setUp(async ({ key, signal }) => {
    signal.addEventListener('abort', () => void reasons.push(signal.reason));
    await clock.sleep(isA(key) ? 10_000 : 1_000, { signal });
  });
  controller.queue.add(a);
  controller.queue.add(b);
  await clock.settle();
  const endsByItself = controller.endReconciles((key) => !isA(key), new LostLease('it moves'));
  await clock.advance(1_000);
  await endsByItself;
  expect(reasons.filter(isLostLease)).toEqual([]);
  await controller.endReconciles(isA, new LostLease('lost'), { atOnce: true });
  expect(reasons.filter(isLostLease)).toHaveLength(1);
  expect(controller.health.active).toEqual([]);
  stop.abort();
  await ran;
});
