import { expect, test } from 'vitest';
import { keptIn } from './kept-in.js';

const key = Symbol('key');

test('makes the value once for each object', () => {
  const object = {};
  const value = keptIn(object, key, () => ({}));
  expect(keptIn(object, key, () => ({}))).toBe(value);
  expect(keptIn({}, key, () => ({}))).not.toBe(value);
});

test('does not show in the object, and copies do not have it', () => {
  const object = { a: 1 };
  const value = keptIn(object, key, () => ({}));
  expect({ ...object }).toStrictEqual({ a: 1 });
  expect(object).toStrictEqual({ a: 1 });
  expect(keptIn(Object.create(object), key, () => ({}))).not.toBe(value);
});

test('makes a new value each time for a frozen object', () => {
  const object = Object.freeze({});
  expect(keptIn(object, key, () => ({}))).not.toBe(keptIn(object, key, () => ({})));
});
