import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { equal } from '../value/equal.js';
import { freeze } from '../value/freeze.js';
import { jsonValue } from '../value/json.fixture.js';
import { applyJsonPatch } from './apply-json-patch.js';
import { createJsonPatch } from './json-patch.js';

describe('createJsonPatch', () => {
  test.each<[unknown, unknown, unknown[]]>([
    [{ a: 1 }, { a: 1 }, []],
    [{ a: 1 }, { a: 2 }, [{ op: 'replace', path: '/a', value: 2 }]],
    [{ a: 1 }, {}, [{ op: 'remove', path: '/a' }]],
    [{ a: 1 }, { a: undefined }, [{ op: 'remove', path: '/a' }]],
    [{ a: undefined }, { a: 1 }, [{ op: 'add', path: '/a', value: 1 }]],
    [{}, { 'a/b~': null }, [{ op: 'add', path: '/a~1b~0', value: null }]],
    [{ a: [] }, { a: {} }, [{ op: 'replace', path: '/a', value: {} }]],
    [[1, 2, 3], [1, 3], [{ op: 'remove', path: '/1' }]],
    [[1, 3], [1, 2, 3], [{ op: 'add', path: '/1', value: 2 }]],
    [[{ a: 1 }, { b: 1 }], [{ x: 1 }, { a: 1 }, { b: 1 }], [{ op: 'add', path: '/0', value: { x: 1 } }]],
    [[{ a: 1, b: 1 }, 1], [{ a: 2, b: 1 }, 1], [{ op: 'replace', path: '/0/a', value: 2 }]],
    [
      [1, 2, 3, 4],
      [4],
      [
        { op: 'remove', path: '/2' },
        { op: 'remove', path: '/1' },
        { op: 'remove', path: '/0' },
      ],
    ],
    [1, 'x', [{ op: 'replace', path: '', value: 'x' }]],
  ])('from %j to %j: %j', (from, to, expected) => {
    expect(createJsonPatch(from, to)).toEqual(expected);
  });

  test('leads from one value to the other', () => {
    fc.assert(
      fc.property(jsonValue(), jsonValue(), (from, to) => {
        freeze(from);
        freeze(to);
        expect(equal(applyJsonPatch(from, createJsonPatch(from, to)), to)).toBe(true);
      }),
    );
  });

  test('leads between lists that share elements', () => {
    const list = fc.array(fc.constantFrom({ a: 1 }, { b: 1 }, { a: 1, b: 1 }, 1, 2), { maxLength: 7 });
    fc.assert(
      fc.property(list, list, (from, to) => {
        expect(applyJsonPatch(from, createJsonPatch(from, to))).toEqual(to);
      }),
    );
  });
});
