import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeJson } from './encode-json.js';

test('writes what JSON.stringify writes', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      expect(encodeJson(value)).toBe(JSON.stringify(value));
    }),
  );
  expect(encodeJson({ a: undefined, b: [undefined] })).toBe('{"b":[null]}');
  expect(encodeJson(JSON.parse('{"__proto__":1}'))).toBe('{"__proto__":1}');
});

test('writes integers past 2^53 in full when they are bigint', () => {
  expect(encodeJson({ id: 9007199254740993n })).toBe('{"id":9007199254740993}');
});

test('refuses what would change silently, and says where', () => {
  expect(() => encodeJson({ spec: { n: [1, Number.NaN] } })).toThrow('spec.n.1: expected plain JSON, got NaN');
  expect(() => encodeJson({ at: new Date(0) })).toThrow('at: expected plain JSON, got an instance of Date');
  expect(() => encodeJson({ f: () => 1 })).toThrow('f: expected plain JSON, got a function');
  expect(() => encodeJson({ m: new Map() })).toThrow('an instance of Map');
  const loop: { self?: unknown } = {};
  loop.self = loop;
  expect(() => encodeJson(loop)).toThrow('refers to itself');
});
