import { expect, test } from 'vitest';
import { goal, meanGoal, rowOf, rowsOf, Series, table } from './series.mjs';

test('a median is the middle one, or between the two in the middle', () => {
  expect(new Series([5, 1, 9]).median).toBe(5);
  expect(new Series([4, 1, 9, 2]).median).toBe(3);
  expect(new Series([]).median).toBeNaN();
});

test('what was not measured does not count', () => {
  const series = new Series([null, 3, undefined, Number.NaN, 1]);
  expect([series.samples, series.least, series.most, series.median]).toEqual([[3, 1], 1, 3, 2]);
  expect(Series.of({ ms: [1] }, 'cpuMs').isEmpty).toBe(true);
  expect(Series.of(undefined, 'ms').isEmpty).toBe(true);
});

test('a ratio is taken within each round, not of medians', () => {
  const [ours, theirs] = [{ ms: [1, 10, 3] }, { ms: [2, 40, 3] }];
  const ratio = Series.ratio(ours, theirs, 'ms');
  expect(ratio.samples).toEqual([0.5, 0.25, 1]);
  expect(ratio.median).toBe(0.5);
  expect(Series.ratio(ours, undefined, 'ms').isEmpty).toBe(true);
  expect(Series.ratio(ours, { ms: [2] }, 'ms').samples).toEqual([0.5]);
});

test('text has the spread where it can be read', () => {
  expect(new Series([1234.4, 999, 2000]).text()).toBe('1,234 (999–2,000)');
  expect(new Series([1.001, 1.004]).text(2)).toBe('1.00');
  expect(new Series([7]).text(1)).toBe('7.0');
  expect(new Series([]).text()).toBe('–');
});

test('the worst of several is that with the largest median, whatever its extremes', () => {
  const [calm, wild] = [new Series([5, 5, 5]), new Series([1, 2, 100])];
  expect(Series.worst([calm, wild])).toBe(calm);
});

test('reports become rows of samples, six digits of each, numbers alone', () => {
  const found = {
    riata: [
      { ms: 1.23456789, verbs: { get: 1 } },
      { ms: Number.NaN, peakMb: 7 },
    ],
    peer: [{ name: 'x' }],
  };
  expect(rowsOf(found)).toEqual({ riata: { ms: [1.23457, null], peakMb: [null, 7] }, peer: {} });
  expect(rowOf([])).toEqual({});
});

test('rows of null, as JSON has what was no number, stay unmeasured', () => {
  const row = JSON.parse(JSON.stringify(rowOf([{ ms: 4 }, { ms: Number.POSITIVE_INFINITY }])));
  expect(Series.of(row, 'ms').samples).toEqual([4]);
  expect(Series.ratio(row, row, 'ms').samples).toEqual([1]);
});

test('a table has a name on the left and figures on the right', () => {
  expect(table(['', 'ms'], [['riata', '1']])).toBe('|  | ms |\n|---|--:|\n| riata | 1 |');
});

test('a goal is met by the median, at its limit too', () => {
  const got = new Series([0.7, 0.75, 0.9]);
  expect(goal({ what: 'CPU', got, most: 0.75, unit: '×', digits: 2 })).toEqual({
    ...{ what: 'CPU', limit: 'at most 0.75×', got: '0.75 (0.70–0.90)×', met: true },
  });
  expect(goal({ what: 'requests', got: new Series([2061]), most: 2060 })).toMatchObject({
    ...{ limit: 'at most 2,060', got: '2,061', met: false },
  });
  expect(goal({ what: 'rate', got: new Series([1.9]), least: 2, unit: ' M/s', digits: 1 })).toMatchObject({
    ...{ limit: 'at least 2 M/s', met: false },
  });
  expect(goal({ what: 'nothing', got: new Series([]), most: 1 })).toMatchObject({ got: '–', met: false });
});

test('a goal for paired differences says how certain their mean is', () => {
  const got = new Series([1, 2, 3]);
  expect([got.mean, got.meanText(2)]).toEqual([2, '2.00 ± 2.48']);
  expect(meanGoal({ what: 'a', got, most: 5, unit: ' %', digits: 1 })).toMatchObject({ got: '2.0 ± 2.5 %', met: true });
  expect(meanGoal({ what: 'a', got, most: 3 })).toMatchObject({ got: '2 ± 2, interval holds the limit', met: true });
  expect(meanGoal({ what: 'a', got, most: 1 }).met).toBe(false);
  expect(new Series([1]).halfWidth).toBe(Number.POSITIVE_INFINITY);
});
