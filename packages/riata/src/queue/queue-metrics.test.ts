import { expect, test } from 'vitest';
import { memoryMetrics, noMetrics } from '../runtime/metrics.js';
import { VirtualClock } from '../runtime/time/virtual-clock.js';
import { WorkQueue } from './work-queue.js';

const of = { name: 'carts' };
const depth = { name: 'carts', priority: '' };

test('the metrics of the original, under their names (TestMetrics)', async () => {
  const clock = new VirtualClock();
  const metrics = memoryMetrics();
  const queue = new WorkQueue({ name: 'carts', clock, metrics });
  queue.add('foo');
  expect(metrics.value('workqueue_adds_total', of)).toBe(1);
  expect(metrics.value('workqueue_depth', depth)).toBe(1);
  await clock.advance(50);
  queue.add('foo');
  expect(metrics.value('workqueue_adds_total', of)).toBe(1);

  queue.tryGet();
  expect(metrics.observed('workqueue_queue_duration_seconds', of)).toEqual([0.05]);
  expect(metrics.value('workqueue_depth', depth)).toBe(0);

  // Added while it runs: counted at once, and its wait starts now.
  queue.add('foo');
  expect(metrics.value('workqueue_adds_total', of)).toBe(2);
  expect(metrics.value('workqueue_depth', depth)).toBe(1);
  await clock.advance(25);
  queue.done('foo');
  expect(metrics.observed('workqueue_work_duration_seconds', of)).toEqual([0.025]);
  queue.tryGet();
  expect(metrics.observed('workqueue_queue_duration_seconds', of)).toEqual([0.05, 0.025]);
  expect(metrics.value('workqueue_depth', depth)).toBe(0);
});

test('unfinished work and the longest runner, looked at every 500 ms (TestUnfinishedWork)', async () => {
  const clock = new VirtualClock();
  const metrics = memoryMetrics();
  const queue = new WorkQueue({ name: 'carts', clock, metrics });
  const unfinished = () => metrics.value('workqueue_unfinished_work_seconds', of);
  const longest = () => metrics.value('workqueue_longest_running_processor_seconds', of);
  queue.add('a');
  queue.tryGet();
  await clock.advance(500);
  expect(unfinished()).toBe(0.5);
  queue.add('b');
  queue.tryGet();
  await clock.advance(500);
  expect(unfinished()).toBe(1.5);
  expect(longest()).toBe(1);
  queue.done('a');
  await clock.advance(500);
  expect(unfinished()).toBe(1);
  expect(longest()).toBe(1);
  queue.done('b');
  await clock.advance(500);
  expect(unfinished()).toBe(0);
  expect(longest()).toBe(0);
  expect(clock.pending).toBe(0);
});

test('retries count delays and rate limits (TestRetriesMetric)', () => {
  const metrics = memoryMetrics();
  const queue = new WorkQueue({ name: 'carts', clock: new VirtualClock(), metrics });
  queue.addAfter('a', 50);
  queue.addAfter('a', 0);
  queue.addRateLimited('b');
  queue.add('c');
  expect(metrics.value('workqueue_retries_total', of)).toBe(3);
  expect(metrics.value('workqueue_adds_total', of)).toBe(2);
});

test('with priorities, the depth is per priority and follows a raise', async () => {
  const clock = new VirtualClock();
  const metrics = memoryMetrics();
  const queue = new WorkQueue({ name: 'carts', clock, metrics, priority: true });
  const depthAt = (priority: number) => metrics.value('workqueue_depth', { ...of, priority: String(priority) });
  queue.add('a', { priority: -100 });
  queue.add('b', { priority: -100 });
  expect(depthAt(-100)).toBe(2);
  queue.add('a');
  expect(depthAt(-100)).toBe(1);
  expect(depthAt(0)).toBe(1);
  queue.addAfter('c', 1000, { priority: 5 });
  expect(depthAt(5)).toBeUndefined();
  await clock.advance(1000);
  expect(depthAt(5)).toBe(1);
  queue.tryGet();
  queue.tryGet();
  expect([depthAt(-100), depthAt(0), depthAt(5)]).toEqual([1, 0, 0]);
});

test('a queue without a name, or with disabled metrics, sets no timer', () => {
  const clock = new VirtualClock();
  const metrics = memoryMetrics();
  for (const queue of [new WorkQueue({ clock, metrics }), new WorkQueue({ name: 'a', clock, metrics: noMetrics })]) {
    queue.add('a');
    queue.tryGet();
  }
  expect(clock.pending).toBe(0);
});
