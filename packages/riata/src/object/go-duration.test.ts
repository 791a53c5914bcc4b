import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatGoDuration, parseGoDuration } from './go-duration.js';

const second = 1_000_000_000n;

test.each([
  ['0', 0n, '0s'],
  ['-0', 0n, '0s'],
  ['1ns', 1n, '1ns'],
  ['1.1us', 1100n, '1.1µs'],
  ['2.2ms', 2_200_000n, '2.2ms'],
  ['1500ms', (3n * second) / 2n, '1.5s'],
  ['60s', 60n * second, '1m0s'],
  ['1h2m3.5s', 3_723_500_000_000n, '1h2m3.5s'],
  ['90m', 5400n * second, '1h30m0s'],
  ['4m5.001s', 245_001_000_000n, '4m5.001s'],
  ['48h', 172_800n * second, '48h0m0s'],
  ['.5s', second / 2n, '500ms'],
  ['1.s', second, '1s'],
  ['+5s', 5n * second, '5s'],
  ['-1m30s', -90n * second, '-1m30s'],
  ['1μs', 1000n, '1µs'],
  ['0.100000000000000000000h', 360n * second, '6m0s'],
  ['0.3333333333333333333h', 1200n * second, '20m0s'],
  ['9223372036854775807ns', 2n ** 63n - 1n, '2562047h47m16.854775807s'],
  ['-9223372036854775808ns', -(2n ** 63n), '-2562047h47m16.854775808s'],
  ['3s5s', 8n * second, '8s'],
])('%s is %s ns, printed %s', (text, ns, printed) => {
  expect(parseGoDuration(text)).toBe(ns);
  expect(formatGoDuration(ns)).toBe(printed);
});

test.each([
  ['', 'is empty'],
  ['-', 'is empty'],
  ['3', 'lacks a unit'],
  ['s', 'lacks a number'],
  ['.s', 'lacks a number'],
  ['+.s', 'lacks a number'],
  ['1d', 'has the unknown unit "d"'],
  ['1 s', 'has the unknown unit " s"'],
  ['--1s', 'lacks a number'],
  ['1h-2m', 'has the unknown unit "h-"'],
  ['9223372036854775808ns', 'is too long'],
  ['-9223372036854775809ns', 'is too long'],
  ['3000000h', 'is too long'],
  [`${'9'.repeat(400)}h`, 'is too long'],
])('%j %s', (text, why) => {
  expect(() => parseGoDuration(text)).toThrow(SyntaxError);
  expect(() => parseGoDuration(text)).toThrow(why);
});

test('what is printed is read back', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 50n), max: 2n ** 50n }), (ns) => {
      expect(parseGoDuration(formatGoDuration(ns))).toBe(ns);
    }),
  );
});
