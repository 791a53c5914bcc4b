import { expect, test } from 'vitest';
import { isDns1123Label } from '../object/index.js';
import { hexOf, limitName, safeConcatName } from './safe-concat-name.js';

test('short names are joined, long ones cut to 63 characters with a hash', () => {
  expect(safeConcatName('a', 'b', 'c')).toBe('a-b-c');
  expect(safeConcatName('x'.repeat(63))).toBe('x'.repeat(63));
  const long = safeConcatName('x'.repeat(40), 'y'.repeat(40));
  // printf '%s-%s' x…(40) y…(40) | sha256sum
  expect(long).toBe(`${'x'.repeat(40)}-${'y'.repeat(16)}-e8976`);
  expect(isDns1123Label(long)).toBe(true);
  expect(safeConcatName('x'.repeat(40), 'z'.repeat(40))).not.toBe(long);
});

test('a cut right before a dash leaves it out', () => {
  const name = safeConcatName('x'.repeat(56), 'y'.repeat(40));
  expect(name).toMatch(/^x{56}-[0-9a-f]{6}$/);
  expect(isDns1123Label(name)).toBe(true);
});

test('limits to a length, and says which lengths make no sense', () => {
  expect(limitName('short', 10)).toBe('short');
  // printf 'a-very-long-name' | md5sum
  expect(limitName('a-very-long-name', 12)).toBe('a-very-32ccd');
  expect(() => limitName('x', 6)).toThrow('≥ 7, got 6');
  expect(() => hexOf('x', 33)).toThrow('from 1 to 32');
});
