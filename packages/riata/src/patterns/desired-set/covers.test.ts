import { expect, test } from 'vitest';
import { covers } from './covers.js';

test('more is there than was said: that is fine in objects, not in lists', () => {
  expect(covers({ a: 1, b: { c: 2, d: 3 } }, { b: { c: 2 } })).toBe(true);
  expect(covers({ list: [{ name: 'a', more: 1 }] }, { list: [{ name: 'a' }] })).toBe(true);
  expect(covers({ list: [1, 2] }, { list: [1] })).toBe(false);
});

test('another value, another type, or nothing: not as intended', () => {
  expect(covers({ a: 1 }, { a: 2 })).toBe(false);
  expect(covers({ a: '1' }, { a: 1 })).toBe(false);
  expect(covers({ a: 1 }, { a: { b: 1 } })).toBe(false);
  expect(covers({ a: {} }, { a: [] })).toBe(false);
  expect(covers({}, { constructor: {} })).toBe(false);
});

test('an empty value differs from a missing one: another client may have removed it', () => {
  for (const empty of [false, 0, '', {}, []]) expect(covers({}, { a: empty })).toBe(false);
  expect(covers({}, { a: null, b: undefined })).toBe(true);
  expect(covers({ a: 1 }, { a: null })).toBe(false);
});
