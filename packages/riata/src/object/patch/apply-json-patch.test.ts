import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { freeze } from '../value/freeze.js';
import { jsonValue } from '../value/json.fixture.js';
import { lossOf, markLossy } from '../value/lossy.js';
import { applyJsonPatch } from './apply-json-patch.js';
import type { JsonPatch, JsonPatchOperation } from './json-patch.js';
import { isPatchError, type PatchErrorReason } from './patch-error.js';

const apply = (doc: unknown, ...ops: JsonPatchOperation[]): unknown => {
  const before = JSON.stringify(doc);
  try {
    return applyJsonPatch(freeze(doc), freeze(ops));
  } finally {
    expect(JSON.stringify(doc)).toBe(before);
  }
};

describe('applyJsonPatch', () => {
  test.each<[unknown, JsonPatchOperation[], unknown]>([
    [{ a: 1 }, [], { a: 1 }],
    [{}, [{ op: 'add', path: '/a', value: 1 }], { a: 1 }],
    [{ a: 1 }, [{ op: 'add', path: '/a', value: null }], { a: null }],
    [{ a: 1 }, [{ op: 'add', path: '', value: [1] }], [1]],
    [[1, 3], [{ op: 'add', path: '/1', value: 2 }], [1, 2, 3]],
    [[1], [{ op: 'add', path: '/1', value: 2 }], [1, 2]],
    [[1], [{ op: 'add', path: '/-', value: [2] }], [1, [2]]],
    [{ l: [[]] }, [{ op: 'add', path: '/l/0/-', value: 1 }], { l: [[1]] }],
    [{ '': 1 }, [{ op: 'replace', path: '/', value: 2 }], { '': 2 }],
    [{ 'a/b': { 'm~n': 1, '~1': 2 } }, [{ op: 'remove', path: '/a~1b/m~0n' }], { 'a/b': { '~1': 2 } }],
    [{ 'a/b': { '~1': 2 } }, [{ op: 'replace', path: '/a~1b/~01', value: 3 }], { 'a/b': { '~1': 3 } }],
    [
      { 0: 'x', '-': 'y', '01': 'z' },
      [
        { op: 'remove', path: '/-' },
        { op: 'remove', path: '/01' },
      ],
      { 0: 'x' },
    ],
    [{ a: 1, b: 2 }, [{ op: 'remove', path: '/a' }], { b: 2 }],
    [[1, 2, 3], [{ op: 'remove', path: '/1' }], [1, 3]],
    [{ a: 1 }, [{ op: 'remove', path: '' }], null],
    [{ a: { b: 1 } }, [{ op: 'replace', path: '/a/b', value: { c: 1 } }], { a: { b: { c: 1 } } }],
    [[1, 2], [{ op: 'replace', path: '/1', value: 5 }], [1, 5]],
    [{ a: null }, [{ op: 'replace', path: '/a', value: 1 }], { a: 1 }],
    [{ a: 1 }, [{ op: 'replace', path: '', value: 'x' }], 'x'],
    [{ a: { b: 1 }, c: {} }, [{ op: 'move', from: '/a/b', path: '/c/d' }], { a: {}, c: { d: 1 } }],
    [[1, 2, 3], [{ op: 'move', from: '/0', path: '/2' }], [2, 3, 1]],
    [{ a: { b: 1 } }, [{ op: 'move', from: '/a/b', path: '/a' }], { a: 1 }],
    [{ a: { b: 1 } }, [{ op: 'move', from: '/a', path: '' }], { b: 1 }],
    [{ a: 1 }, [{ op: 'move', from: '/a', path: '/a' }], { a: 1 }],
    [{ a: { b: 1 }, ab: 1 }, [{ op: 'move', from: '/a', path: '/ab' }], { ab: { b: 1 } }],
    [{ a: { b: 1 } }, [{ op: 'copy', from: '/a', path: '/c' }], { a: { b: 1 }, c: { b: 1 } }],
    [[1, 2], [{ op: 'copy', from: '/0', path: '/-' }], [1, 2, 1]],
    [{ a: 1 }, [{ op: 'copy', from: '', path: '/self' }], { a: 1, self: { a: 1 } }],
    [{ a: [1, { b: 2, c: 3 }] }, [{ op: 'test', path: '/a', value: [1, { c: 3, b: 2 }] }], { a: [1, { b: 2, c: 3 }] }],
    [{ a: null }, [{ op: 'test', path: '/a', value: null }], { a: null }],
    [{ a: 1 }, [{ op: 'test', path: '', value: { a: 1 } }], { a: 1 }],
  ])('%j, %j: %j', (doc, ops, expected) => {
    expect(apply(doc, ...ops)).toEqual(expected);
  });

  test('a copy is independent of its source, before and after', () => {
    const result = apply(
      { a: { list: [1] } },
      { op: 'add', path: '/a/list/-', value: 2 },
      { op: 'copy', from: '/a', path: '/b' },
      { op: 'add', path: '/b/list/-', value: 3 },
      { op: 'replace', path: '/a/list/0', value: 9 },
    );
    expect(result).toEqual({ a: { list: [9, 2] }, b: { list: [1, 2, 3] } });
  });

  test('values of the patch are not written to', () => {
    const value = freeze({ list: [1] });
    expect(
      apply(
        {},
        { op: 'add', path: '/a', value },
        { op: 'add', path: '/a/list/-', value: 2 },
        { op: 'add', path: '/b', value },
      ),
    ).toEqual({ a: { list: [1, 2] }, b: { list: [1] } });
  });

  test('shares what it left alone', () => {
    const doc = { a: { x: 1 }, b: { y: [1] } };
    const result = applyJsonPatch(doc, [{ op: 'replace', path: '/a/x', value: 2 }]);
    expect(result.b).toBe(doc.b);
    expect(applyJsonPatch(doc, [])).toBe(doc);
    expect(applyJsonPatch(doc, [{ op: 'test', path: '/a/x', value: 1 }])).toBe(doc);
  });

  test('keeps the record of losses', () => {
    const lossy = markLossy({ a: 1 }, 'transformed');
    expect(lossOf(applyJsonPatch(lossy, [{ op: 'replace', path: '/a', value: 2 }]))).toEqual(lossOf(lossy));
  });

  test.each<[string, unknown, unknown, PatchErrorReason, RegExp]>([
    ['no list', {}, { op: 'add' }, 'invalid', /list of operations, got object/],
    ['no object', {}, [1], 'invalid', /operation 0: expected an object, got number/],
    ['unknown op', {}, [{ op: 'merge', path: '' }], 'invalid', /"op" has to be .* got "merge"/],
    ['inherited op', {}, [{ op: 'toString', path: '' }], 'invalid', /"op" has to be/],
    ['no op', {}, [{ path: '/a' }], 'invalid', /got nothing/],
    ['no path', {}, [{ op: 'remove' }], 'invalid', /"path" has to be a string, got undefined/],
    ['no slash', {}, [{ op: 'remove', path: 'a' }], 'invalid', /begin with "\/"/],
    ['bad escape', {}, [{ op: 'remove', path: '/a~2' }], 'invalid', /"~" has to be written as "~0"/],
    ['no value', {}, [{ op: 'add', path: '/a' }], 'invalid', /add "\/a" needs a "value"/],
    ['no from', {}, [{ op: 'move', path: '/a' }], 'invalid', /needs "from"/],
    [
      'remove missing',
      { a: 1 },
      [{ op: 'remove', path: '/b' }],
      'not-found',
      /operation 0 \(remove "\/b"\): there is no "b"/,
    ],
    ['replace missing', {}, [{ op: 'replace', path: '/b', value: 1 }], 'not-found', /there is no "b"/],
    ['test missing', {}, [{ op: 'test', path: '/b', value: null }], 'not-found', /there is no "b"/],
    ['test differs', { a: 1 }, [{ op: 'test', path: '/a', value: '1' }], 'test-failed', /another one/],
    [
      'move missing',
      {},
      [{ op: 'move', from: '/a', path: '/b' }],
      'not-found',
      /move from "\/a" "\/b"\): there is no "a"/,
    ],
    ['copy missing', {}, [{ op: 'copy', from: '/a', path: '/b' }], 'not-found', /there is no "a"/],
    ['into own child', { a: { b: {} } }, [{ op: 'move', from: '/a', path: '/a/b/c' }], 'invalid', /its own child/],
    ['root into child', { a: {} }, [{ op: 'move', from: '', path: '/a' }], 'invalid', /its own child/],
    ['no parent', {}, [{ op: 'add', path: '/a/b', value: 1 }], 'not-found', /there is no "a"/],
    [
      'parent primitive',
      { a: 1 },
      [{ op: 'add', path: '/a/b', value: 1 }],
      'not-found',
      /"b" cannot be looked up in a number/,
    ],
    ['through primitive', { a: 's' }, [{ op: 'test', path: '/a/length', value: 1 }], 'not-found', /in a string/],
    ['add past the end', [1], [{ op: 'add', path: '/2', value: 1 }], 'not-found', /index 2 is out of bounds/],
    ['remove past the end', [1], [{ op: 'remove', path: '/1' }], 'not-found', /index 1 is out of bounds/],
    ['remove the end', [1], [{ op: 'remove', path: '/-' }], 'not-found', /nothing at "-"/],
    ['through the end', [1], [{ op: 'add', path: '/-/a', value: 1 }], 'not-found', /nothing at "-"/],
    ['leading zero', [1, 2], [{ op: 'remove', path: '/01' }], 'invalid', /leading zero, got "01"/],
    ['negative', [1, 2], [{ op: 'remove', path: '/-1' }], 'invalid', /without sign/],
    ['no number', [1], [{ op: 'replace', path: '/length', value: 0 }], 'invalid', /got "length"/],
    ['exponent', [1, 2], [{ op: 'replace', path: '/1e0', value: 0 }], 'invalid', /got "1e0"/],
  ])('refuses: %s', (_, doc, patch, reason, message) => {
    const before = JSON.stringify(doc);
    let caught: unknown;
    try {
      applyJsonPatch(freeze(doc), patch as JsonPatch);
    } catch (error) {
      caught = error;
    }
    if (!isPatchError(caught)) throw new Error('expected a PatchError', { cause: caught });
    expect(caught.reason).toBe(reason);
    expect(caught.message).toMatch(message);
    expect(JSON.stringify(doc)).toBe(before);
  });

  test('is all or nothing, and says which step failed', () => {
    const doc = { a: 1 };
    expect(() =>
      applyJsonPatch(doc, [
        { op: 'replace', path: '/a', value: 2 },
        { op: 'remove', path: '/b' },
      ]),
    ).toThrow(/operation 1 \(remove "\/b"\)/);
    expect(doc).toEqual({ a: 1 });
  });

  test('does not show values in messages', () => {
    const secret = () => applyJsonPatch({ password: 'hunter2' }, [{ op: 'test', path: '/password', value: 'guess1' }]);
    expect(secret).toThrow(/^(?!.*(hunter2|guess1))/);
  });

  test('takes hostile keys as data', () => {
    const doc: unknown = {};
    for (const key of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      for (const op of ['remove', 'replace', 'test'] as const) {
        expect(() => apply(doc, { op, path: `/${key}`, value: 1 } as JsonPatchOperation)).toThrow(
          `there is no "${key}"`,
        );
      }
      expect(() => apply(doc, { op: 'add', path: `/${key}/polluted`, value: 1 })).toThrow(`there is no "${key}"`);
      const added = apply(
        doc,
        { op: 'add', path: `/${key}`, value: {} },
        { op: 'add', path: `/${key}/polluted`, value: 1 },
      );
      expect(JSON.stringify(added)).toBe(`{"${key}":{"polluted":1}}`);
      expect(Object.getPrototypeOf(added)).toBe(Object.prototype);
      expect(
        apply(added, { op: 'move', from: `/${key}/polluted`, path: '/x' }, { op: 'remove', path: `/${key}` }),
      ).toEqual({
        x: 1,
      });
    }
    expect(() => apply({ a: {} }, { op: 'add', path: '/a/constructor/prototype/polluted', value: 1 })).toThrow(
      /there is no/,
    );
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test('any operations on any document succeed or are refused; neither changes the document', () => {
    const token = fc.constantFrom('a', 'b', 'spec', 'items', '0', '1', '-', '__proto__', 'constructor', 'a~1b', '');
    const path = fc.array(token, { maxLength: 4 }).map((tokens) => tokens.map((t) => `/${t}`).join(''));
    const operation = fc.oneof(
      fc.record({ op: fc.constantFrom('add', 'replace', 'test'), path, value: jsonValue() }),
      fc.record({ op: fc.constant('remove'), path }),
      fc.record({ op: fc.constantFrom('move', 'copy'), from: path, path }),
    ) as fc.Arbitrary<JsonPatchOperation>;
    fc.assert(
      fc.property(jsonValue(), fc.array(operation, { maxLength: 5 }), (doc, ops) => {
        const before = JSON.stringify([doc, ops]);
        freeze([doc, ops]);
        try {
          applyJsonPatch(doc, ops);
        } catch (error) {
          if (!isPatchError(error)) throw error;
        }
        expect(JSON.stringify([doc, ops])).toBe(before);
        expect(Object.keys(Object.prototype)).toEqual([]);
      }),
    );
  });
});
