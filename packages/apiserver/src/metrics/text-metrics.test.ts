import { expect, test } from 'vitest';
import { TextMetrics } from './text-metrics.js';

test('counters and gauges are sorted by name and labels', () => {
  const metrics = new TextMetrics();
  const total = metrics.counter({ name: 'b_total', help: 'All.', labels: ['verb', 'code'] });
  total.with({ verb: 'POST', code: '201' }).inc();
  total.with({ verb: 'GET', code: '200' }).inc(2);
  total.with({ code: '200', verb: 'GET' }).inc();
  metrics.gauge({ name: 'a', help: 'Now.' }).with({}).set(1_234_567);
  metrics.gauge({ name: 'unused', help: 'Nothing.' });
  expect(metrics.text()).toBe(
    '# HELP a Now.\n# TYPE a gauge\na 1.234567e+06\n' +
      '# HELP b_total All.\n# TYPE b_total counter\n' +
      'b_total{code="200",verb="GET"} 3\nb_total{code="201",verb="POST"} 1\n',
  );
});

test('a histogram counts up through its buckets, bounds included', () => {
  const metrics = new TextMetrics();
  const took = metrics
    .histogram({ name: 'took', help: 'Took.', labels: ['at'], buckets: [0.5, 1e6] })
    .with({ at: 'x' });
  for (const value of [0.5, 1, 2_000_000]) took.observe(value);
  expect(metrics.text()).toBe(
    '# HELP took Took.\n# TYPE took histogram\n' +
      'took_bucket{at="x",le="0.5"} 1\ntook_bucket{at="x",le="1e+06"} 2\ntook_bucket{at="x",le="+Inf"} 3\n' +
      'took_sum{at="x"} 2.0000015e+06\ntook_count{at="x"} 3\n',
  );
});

test('values of labels are escaped, and removed series are not written', () => {
  const metrics = new TextMetrics();
  const gauge = metrics.gauge({ name: 'g', help: 'a\\b\nc', labels: ['v'] });
  gauge.with({ v: 'a"\\\n' }).set(0.000_01);
  gauge.with({ v: 'gone' }).set(1);
  gauge.remove({ v: 'gone' });
  expect(metrics.text()).toBe('# HELP g a\\\\b\\nc\n# TYPE g gauge\ng{v="a\\"\\\\\\n"} 1e-05\n');
});

test('a reset removes counters and histograms, and keeps gauges', () => {
  const metrics = new TextMetrics();
  metrics.counter({ name: 'c', help: '' }).with({}).inc();
  metrics.gauge({ name: 'g', help: '' }).with({}).set(2);
  metrics.reset();
  expect(metrics.text()).toBe('# HELP g \n# TYPE g gauge\ng 2\n');
});
