import { describe, expect, expectTypeOf, test } from 'vitest';
import { type Counter, memoryMetrics, noMetrics } from './metrics.js';

describe('noMetrics', () => {
  test('gives everyone the same empty series', () => {
    const adds = noMetrics.counter({ name: 'adds_total', help: 'Adds.', labels: ['name'] });
    const depth = noMetrics.gauge({ name: 'depth', help: 'Depth.' });
    expect(adds.with({ name: 'a' })).toBe(depth.with({}));
    expect(noMetrics.histogram({ name: 'h', help: 'H.' }).with({}).observe(1)).toBeUndefined();
    expect(noMetrics.enabled).toBe(false);
  });
});

describe('memoryMetrics', () => {
  test('keeps one number per name and labels, in whatever order the labels come', () => {
    const metrics = memoryMetrics();
    const spec = { name: 'adds_total', help: 'Adds.', labels: ['queue', 'shard'] as const };
    metrics.counter(spec).with({ queue: 'a', shard: '1' }).inc();
    metrics.counter(spec).with({ shard: '1', queue: 'a' }).inc(2);
    expect(metrics.value('adds_total', { queue: 'a', shard: '1' })).toBe(3);
    expect(metrics.value('adds_total', { queue: 'a', shard: '2' })).toBeUndefined();
    expect(metrics.enabled).toBe(true);
  });

  test('keeps gauges and observations', () => {
    const metrics = memoryMetrics();
    const depth = metrics.gauge({ name: 'depth', help: 'Depth.' }).with({});
    depth.set(5);
    depth.inc(-2);
    const took = metrics.histogram({ name: 'took', help: 'Took.', buckets: [1, 2] }).with({});
    took.observe(0.5);
    took.observe(3);
    expect([metrics.value('depth'), metrics.observed('took'), metrics.observed('other')]).toEqual([3, [0.5, 3], []]);
  });
});

test('labels are checked by the types', () => {
  const adds = noMetrics.counter({ name: 'adds_total', help: 'Adds.', labels: ['name'] });
  expectTypeOf(adds).toEqualTypeOf<Counter<'name'>>();
  // @ts-expect-error a label without a value
  adds.with({});
  expectTypeOf(adds.with).parameter(0).toEqualTypeOf<Readonly<Record<'name', string>>>();
});
