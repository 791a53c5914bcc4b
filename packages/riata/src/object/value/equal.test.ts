import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { equal } from './equal.js';
import { jsonValue, nested, withProto } from './json.fixture.js';

describe('equal', () => {
  test.each<[boolean, unknown, unknown]>([
    [true, { a: 1, b: 2 }, { b: 2, a: 1 }],
    [true, { a: 1, b: undefined }, { a: 1 }],
    [true, { a: 1 }, { a: 1, b: undefined }],
    [true, { a: undefined }, { b: undefined }],
    [true, [], []],
    [true, 0, -0],
    [false, { a: null }, {}],
    [false, { a: null }, { a: undefined }],
    [false, [1, 2], [2, 1]],
    [false, [1], [1, 2]],
    [false, [1], [1, undefined]],
    [false, [], {}],
    [false, {}, []],
    [false, { 0: 'a' }, ['a']],
    [false, null, {}],
    [false, {}, null],
    [false, 'a', ['a']],
    [false, 1, '1'],
    [false, { a: 1 }, { a: 1, b: 1 }],
    [false, { a: 1, b: 1 }, { a: 1 }],
    [false, { a: 1, b: undefined, c: 2 }, { a: 1, b: 3, c: 2 }],
  ])('%s: %j and %j', (expected, a, b) => {
    expect(equal(a, b)).toBe(expected);
    expect(equal(b, a)).toBe(expected);
    expect(equal({ deep: [a] }, { deep: [b] })).toBe(expected);
  });

  test('finds inherited members of neither side', () => {
    for (const key of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      const hostile: unknown = JSON.parse(`{"${key}":{}}`);
      expect(equal(hostile, {})).toBe(false);
      expect(equal({}, hostile)).toBe(false);
      expect(equal(hostile, JSON.parse(`{"${key}":{}}`))).toBe(true);
    }
    expect(equal(withProto({ a: 1 }), withProto({ a: 2 }))).toBe(false);
  });

  test('agrees with a comparison by sorted text', () => {
    fc.assert(fc.property(jsonValue(), jsonValue(), (a, b) => equal(a, b) === (canonical(a) === canonical(b))));
    fc.assert(fc.property(jsonValue(), (a) => equal(a, JSON.parse(JSON.stringify(a)))));
  });

  test('agrees with itself when a prototype is polluted', () => {
    (Object.prototype as { lent?: unknown }).lent = 1;
    try {
      expect(equal({ a: [{ b: 1 }] }, { a: [{ b: 1 }] })).toBe(true);
      expect(equal({ lent: 1 }, {})).toBe(false);
      expect(equal({ a: 1, b: undefined }, { a: 1 })).toBe(true);
      expect(equal([1, undefined], [1, 2])).toBe(false);
      expect(equal({ a: 1 }, { a: 1, b: 2 })).toBe(false);
      expect(equal({ a: {} }, { a: [] })).toBe(false);
    } finally {
      delete (Object.prototype as { lent?: unknown }).lent;
    }
  });

  test('goes as deep as an API server does', () => {
    expect(equal(nested(10_000), nested(10_000))).toBe(true);
    expect(equal(nested(10_000), nested(9_998))).toBe(false);
    const loop = (): object => {
      const x: { self?: unknown } = {};
      x.self = x;
      return x;
    };
    expect(() => equal(loop(), loop())).toThrow(/refers to itself/);
  });
});

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, child]) => `${JSON.stringify(key)}:${canonical(child)}`);
  return `{${members.sort().join()}}`;
}
