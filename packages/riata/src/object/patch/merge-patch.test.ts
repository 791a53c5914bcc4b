import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { equal } from '../value/equal.js';
import { freeze } from '../value/freeze.js';
import { jsonObject, jsonValue } from '../value/json.fixture.js';
import { lossOf, markLossy } from '../value/lossy.js';
import { applyMergePatch, createMergePatch, createThreeWayJsonMergePatch } from './merge-patch.js';

const parse = (text: string): unknown => JSON.parse(text);

describe('applyMergePatch', () => {
  // The cases of RFC 7386, appendix A, and a few between.
  test.each<[unknown, unknown, unknown]>([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    [{ a: 1 }, { a: undefined }, { a: 1 }],
    [{ a: { b: 1 } }, { a: {} }, { a: { b: 1 } }],
    [{ a: [1] }, { a: {} }, { a: {} }],
    [{}, { a: [null, { b: null }] }, { a: [null, { b: null }] }],
  ])('%j with %j is %j', (target, patch, expected) => {
    const before = JSON.stringify(target);
    expect(applyMergePatch(freeze(target), freeze(patch))).toEqual(expected);
    expect(JSON.stringify(target)).toBe(before);
  });

  test('keeps what it does not touch, and the order of keys', () => {
    const target = { b: { x: [1] }, a: { y: 1 }, c: 1 };
    const result = applyMergePatch(target, { a: { y: 2 }, d: 1, c: null });
    expect(result.b).toBe(target.b);
    expect(JSON.stringify(result)).toBe('{"b":{"x":[1]},"a":{"y":2},"d":1}');
  });

  test('returns the target when nothing changes', () => {
    const target = { a: { b: [1, { c: 1 }] } };
    for (const patch of [{}, { a: {} }, { a: { b: [1, { c: 1 }] } }, { z: null }]) {
      expect(applyMergePatch(target, patch)).toBe(target);
    }
  });

  test('takes hostile keys as data', () => {
    const result = applyMergePatch(
      {},
      parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'),
    );
    expect(JSON.stringify(result)).toBe('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
    expect(JSON.stringify(applyMergePatch(result, parse('{"__proto__":null,"constructor":null}')))).toBe('{}');
  });

  test('keeps the record of losses', () => {
    const lossy = markLossy({ spec: { a: 1 } }, 'metadata-only');
    expect(lossOf(applyMergePatch(lossy, { spec: { a: 2 } }))).toEqual(lossOf(lossy));
  });
});

describe('createMergePatch', () => {
  test.each<[unknown, unknown, unknown]>([
    [{ a: 1 }, { a: 1 }, {}],
    [{ a: 1, b: 2 }, { b: 2 }, { a: null }],
    [{ a: { b: 1, c: 1 } }, { a: { b: 1, c: 2 } }, { a: { c: 2 } }],
    [{ a: [1] }, { a: [1, 2] }, { a: [1, 2] }],
    [{ a: { b: 1 } }, { a: [] }, { a: [] }],
    [{ a: 1 }, { a: null }, { a: null }],
    [{ a: 1 }, { a: undefined }, { a: null }],
    [{ a: undefined }, {}, {}],
    [{}, { a: null }, {}],
    [{ a: 1 }, 'x', 'x'],
    ['x', { a: 1 }, { a: 1 }],
  ])('from %j to %j: %j', (from, to, expected) => {
    expect(createMergePatch(from, to)).toEqual(expected);
  });

  test('leads from one object to the other', () => {
    fc.assert(
      fc.property(jsonObject({ nulls: false }), jsonObject({ nulls: false }), (from, to) => {
        freeze(from);
        freeze(to);
        expect(equal(applyMergePatch(from, createMergePatch(from, to)), to)).toBe(true);
      }),
    );
  });

  test('is empty exactly for equal objects', () => {
    fc.assert(
      fc.property(jsonObject({ nulls: false }), jsonObject({ nulls: false }), (from, to) => {
        expect(Object.keys(createMergePatch(from, to) as object).length === 0).toBe(equal(from, to));
      }),
    );
  });

  test('never throws on any values', () => {
    fc.assert(fc.property(jsonValue(), jsonValue(), (a, b) => createMergePatch(a, b) !== undefined));
  });
});

describe('createThreeWayJsonMergePatch', () => {
  test('removes what was applied before, keeps what others added, sets what is wanted', () => {
    const original = { spec: { a: 1, gone: 1, nested: { x: 1, y: 1 } }, old: { z: 1 } };
    const modified = { spec: { a: 2, nested: { x: 1 } }, fresh: [1] };
    const current = { spec: { a: 1, gone: 1, theirs: 1, nested: { x: 5, y: 1, theirs: 1 } }, old: { z: 1 } };
    const patch = createThreeWayJsonMergePatch(original, modified, current);
    expect(patch).toEqual({ spec: { a: 2, gone: null, nested: { x: 1, y: null } }, fresh: [1], old: null });
    expect(applyMergePatch(current, patch)).toEqual({
      spec: { a: 2, theirs: 1, nested: { x: 1, theirs: 1 } },
      fresh: [1],
    });
  });

  test('is empty when the server has what is wanted, and does not remove twice', () => {
    expect(createThreeWayJsonMergePatch({ a: 1, b: 1 }, { a: 1 }, { a: 1, c: 1 })).toEqual({});
    expect(createThreeWayJsonMergePatch(undefined, { a: 1 }, { a: 1, c: 1 })).toEqual({});
    expect(createThreeWayJsonMergePatch({}, { a: 1 }, 'x')).toEqual({ a: 1 });
  });

  test('everything that is wanted is there afterwards', () => {
    const any = jsonObject({ nulls: false });
    fc.assert(
      fc.property(any, any, any, (original, modified, current) => {
        const result = applyMergePatch(current, createThreeWayJsonMergePatch(original, modified, current));
        expect(equal(applyMergePatch(result, modified), result)).toBe(true);
      }),
    );
  });
});
