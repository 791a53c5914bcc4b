import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clone } from './clone.js';
import { equal } from './equal.js';
import { freeze } from './freeze.js';
import { jsonObject, jsonValue, nested, withProto } from './json.fixture.js';

describe('clone', () => {
  test('copies everything and shares nothing', () => {
    fc.assert(
      fc.property(jsonObject(), (x) => {
        const copy = clone(x);
        expect(JSON.stringify(copy)).toBe(JSON.stringify(x));
        const mine = nodes(x);
        for (const node of nodes(copy)) expect(mine.has(node)).toBe(false);
      }),
    );
  });

  test('passes primitives through', () => {
    for (const value of ['x', 1, true, null, undefined]) expect(clone(value)).toBe(value);
  });

  test('gives a changeable copy of a frozen object and keeps the key order', () => {
    const copy = clone(freeze({ b: { c: [1] }, a: 1 }) as { readonly b: { readonly c: readonly number[] } });
    copy.b.c.push(2);
    expect(JSON.stringify(copy)).toBe('{"b":{"c":[1,2]},"a":1}');
  });

  test('takes __proto__ as data', () => {
    const copy = clone(withProto({ polluted: true }));
    expect(Object.hasOwn(copy, '__proto__')).toBe(true);
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect((copy as { polluted?: unknown }).polluted).toBeUndefined();
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"polluted":true}}');
  });

  test('does not take over what a polluted prototype lends', () => {
    (Object.prototype as { lent?: unknown }).lent = { x: 1 };
    try {
      expect(Object.keys(clone({ a: { b: 1 } }).a)).toEqual(['b']);
    } finally {
      delete (Object.prototype as { lent?: unknown }).lent;
    }
  });

  test('goes as deep as an API server does', () => {
    const deep = nested(10_000);
    const copy = clone(deep);
    expect(equal(copy, deep)).toBe(true);
    expect(copy === deep).toBe(false);
  });

  test('says what is wrong with a value that refers to itself', () => {
    const loop: { self?: unknown } = {};
    loop.self = loop;
    expect(() => clone(loop)).toThrow(/refers to itself/);
  });

  test.each([
    ['Date', new Date(0)],
    ['Map', new Map()],
    ['Pod', new (class Pod {})()],
  ])('refuses a %s instead of mangling it', (name, value) => {
    expect(() => clone({ at: value })).toThrow(new RegExp(`instance of ${name}.*plain objects`));
    expect(() => clone(value)).toThrow(TypeError);
  });

  test('takes objects without a prototype', () => {
    const bare: object = Object.assign(Object.create(null) as object, { a: 1 });
    expect(clone(bare)).toEqual({ a: 1 });
  });

  test('is stable under any JSON value', () => {
    fc.assert(fc.property(jsonValue(), (x) => equal(clone(x), x)));
  });
});

function nodes(value: unknown, into = new Set<object>()): Set<object> {
  if (typeof value !== 'object' || value === null) return into;
  into.add(value);
  for (const child of Object.values(value)) nodes(child, into);
  return into;
}
