import { expect, test } from 'vitest';
import { formatBytes, formatKey, formatMs, formatValue } from './format.js';

test('durations and sizes have one figure that says enough', () => {
  expect([undefined, 0.2, 12.4, 1_240, 42_000, 300_000, 7_200_000, 5 * 86_400_000].map(formatMs)).toEqual([
    ...['–', '< 1 ms', '12 ms', '1.2 s', '42 s', '5 min', '2 h', '5 d'],
  ]);
  expect([undefined, 12, 20_480, 5_242_880].map(formatBytes)).toEqual(['–', '12 B', '20 KB', '5.0 MB']);
});

test('keys and values', () => {
  expect(formatKey({ name: 'a' })).toBe('a');
  expect(formatKey({ cluster: 'north', namespace: 'n', name: 'a' })).toBe('north: n/a');
  expect([formatValue('x'), formatValue(3), formatValue(null)]).toEqual(['x', '3', 'null']);
});
