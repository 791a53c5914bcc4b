import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeJson } from './encode-json.js';
import { unsafeNumbers } from './scan/unsafe-numbers.js';

test('writes what JSON.stringify writes', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      fc.pre(unsafeNumbers(JSON.stringify(value)).length === 0);
      expect(encodeJson(value)).toBe(JSON.stringify(value));
    }),
  );
  expect(encodeJson({ a: undefined, b: [{ c: undefined }, null] })).toBe('{"b":[{},null]}');
  expect(encodeJson(JSON.parse('{"__proto__":1}'))).toBe('{"__proto__":1}');
});

test('writes integers past 2^53 in full when they are bigint', () => {
  expect(encodeJson({ id: 9007199254740993n })).toBe('{"id":9007199254740993}');
});

test('refuses integers past 2^53 that may have been rounded on their way here', () => {
  const { spec } = JSON.parse('{"spec":{"ids":[1,9007199254740993]}}') as { spec: object };
  expect(() => encodeJson({ spec })).toThrow(
    /^spec\.ids\.1: expected an integer up to 2\^53, got 9007199254740992, which/,
  );
  expect(() => encodeJson(-(2 ** 53))).toThrow('the value: expected an integer up to 2^53, got -9007199254740992');
  expect(encodeJson([Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER])).toBe('[9007199254740991,-9007199254740991]');
  expect(encodeJson([1e21, 0.1, -0])).toBe('[1e+21,0.1,0]');
});

test('refuses what would change silently, and says where', () => {
  expect(() => encodeJson({ spec: { n: [1, Number.NaN] } })).toThrow('spec.n.1: expected plain JSON, got NaN');
  expect(() => encodeJson({ at: new Date(0) })).toThrow('at: expected plain JSON, got an instance of Date');
  expect(() => encodeJson({ f: () => 1 })).toThrow('f: expected plain JSON, got a function');
  expect(() => encodeJson({ m: new Map() })).toThrow('an instance of Map');
  const missing = { args: ['a', undefined] };
  expect(() => encodeJson(missing)).toThrow(
    /^args\.1: expected plain JSON, got an element that is undefined; leave it out$/,
  );
  expect(() => encodeJson([1n, undefined])).toThrow('1: expected plain JSON, got an element that is undefined');
  const loop: { self?: unknown } = {};
  loop.self = loop;
  expect(() => encodeJson(loop)).toThrow('refers to itself');
});
