import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareResourceVersions } from './compare-resource-versions.js';

test('numbers are compared as such, however long', () => {
  expect(compareResourceVersions('9', '10')).toBeLessThan(0);
  expect(compareResourceVersions('10', '9')).toBeGreaterThan(0);
  expect(compareResourceVersions('10', '10')).toBe(0);
  expect(compareResourceVersions('123456789012345678901234567891', '123456789012345678901234567890')).toBeGreaterThan(
    0,
  );
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 1n << 130n }), fc.bigInt({ min: 0n, max: 1n << 130n }), (a, b) => {
      const sign = a < b ? -1 : a > b ? 1 : 0;
      expect(Math.sign(compareResourceVersions(String(a), String(b)) ?? Number.NaN)).toBe(sign);
    }),
  );
});

test('versions that are no numbers cannot be compared, unless they are the same', () => {
  expect(compareResourceVersions('abc', 'abc')).toBe(0);
  for (const odd of ['', 'abc', '01', '-1', '1.5', '1 ']) {
    expect(compareResourceVersions(odd, '7')).toBeUndefined();
    expect(compareResourceVersions('7', odd)).toBeUndefined();
  }
});
