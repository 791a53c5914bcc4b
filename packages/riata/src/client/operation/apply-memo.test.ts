import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../object/meta.js';
import { ApplyMemo } from './apply-memo.js';

let revision = 0;
const object = (spec: object, more: object = {}, uid = 'u1'): KubeObject =>
  ({
    apiVersion: 'x.dev/v1',
    kind: 'Gadget',
    metadata: { name: 'a', uid, resourceVersion: `${++revision}`, creationTimestamp: '' },
    spec,
    ...more,
  }) as KubeObject;
const intent = (spec: object) => ({ apiVersion: 'x.dev/v1', kind: 'Gadget', metadata: { name: 'a' }, spec });

describe.each([
  ['as JSON', undefined],
  ['as digests', 0],
])('stands, remembered %s', (_form, textLength) => {
  function remembering(applied: object, answered: object): ApplyMemo {
    const memo = new ApplyMemo(10, textLength);
    memo.remember('id', intent(applied), object(answered));
    return memo;
  }

  test('at the resourceVersion of the answer, whatever a cache has kept of it', () => {
    const memo = new ApplyMemo(10, textLength);
    const answer = object({ a: 1, b: 2 });
    memo.remember('id', intent({ a: 1 }), answer);
    expect(memo.stands('id', intent({ a: 1 }), { ...answer, spec: {} } as KubeObject)).toBe(true);
    expect(memo.stands('id', intent({ a: 2 }), answer)).toBe(false);
  });

  test('while all that the intent speaks of is as answered', () => {
    const memo = remembering({ cpu: '1000m', n: { a: 1 } }, { cpu: '1', n: { a: 1, defaulted: true }, more: 1 });
    const same = intent({ cpu: '1000m', n: { a: 1 } });
    expect(memo.stands('id', same, object({ cpu: '1', n: { a: 1 }, other: 5 }, { status: {} }))).toBe(true);
    expect(memo.stands('id', same, object({ n: { defaulted: false, a: 1 }, cpu: '1' }))).toBe(true);
  });

  test.each([
    ['a value changed', object({ cpu: '2' })],
    ['a value is what was said, not what was answered', object({ cpu: '1000m' })],
    ['a field went', object({})],
    ['it is another object of that name', object({ cpu: '1' }, {}, 'u2')],
  ])('not when %s', (_, current) => {
    const memo = remembering({ cpu: '1000m' }, { cpu: '1' });
    expect(memo.stands('id', intent({ cpu: '1000m' }), current)).toBe(false);
  });

  test('not for another intent or another id', () => {
    const memo = remembering({ cpu: '1', x: 1 }, { cpu: '1', x: 1 });
    expect(memo.stands('id', intent({ cpu: '1' }), object({ cpu: '1', x: 1 }))).toBe(false);
    expect(memo.stands('other', intent({ cpu: '1', x: 1 }), object({ cpu: '1', x: 1 }))).toBe(false);
  });

  test('lists count whole: an additional element makes a difference', () => {
    const memo = remembering({ list: [{ name: 'a' }] }, { list: [{ name: 'a', port: 1 }] });
    expect(memo.stands('id', intent({ list: [{ name: 'a' }] }), object({ list: [{ port: 1, name: 'a' }] }))).toBe(true);
    const grown = object({ list: [{ name: 'a', port: 1 }, { name: 'b' }] });
    expect(memo.stands('id', intent({ list: [{ name: 'a' }] }), grown)).toBe(false);
  });

  test('whatever the order of keys; undefined is absent; bigints count in full', () => {
    const memo = remembering({ a: 1, b: undefined, big: 9007199254740993n }, { a: 1, big: 2 ** 53 });
    expect(memo.stands('id', intent({ big: 9007199254740993n, a: 1 }), object({ a: 1, big: 2 ** 53 }))).toBe(true);
    expect(memo.stands('id', intent({ big: 9007199254740992n, a: 1 }), object({ a: 1, big: 2 ** 53 }))).toBe(false);
  });

  test('names of prototypes are names of fields', () => {
    const hostile = JSON.parse('{"__proto__":{"x":1},"constructor":"c"}') as object;
    const memo = remembering(hostile, hostile);
    expect(memo.stands('id', intent(hostile), object(hostile))).toBe(true);
    expect(memo.stands('id', intent(hostile), object({ constructor: 'c' }))).toBe(false);
  });
});

test('bounded: the longest unused is forgotten first', () => {
  const memo = new ApplyMemo(2);
  const spec = { a: 1 };
  for (const id of ['one', 'two']) memo.remember(id, intent(spec), object(spec));
  expect(memo.stands('one', intent(spec), object(spec))).toBe(true);
  memo.remember('three', intent(spec), object(spec));
  expect(memo.size).toBe(2);
  expect(memo.stands('two', intent(spec), object(spec))).toBe(false);
  expect(memo.stands('one', intent(spec), object(spec))).toBe(true);
  expect(memo.stands('three', intent(spec), object(spec))).toBe(true);
});

test('as many as a large operator applies, in turn', () => {
  const memo = new ApplyMemo();
  const [applied, stored] = [intent({}), object({})];
  const ids = Array.from({ length: 30_000 }, (_, i) => `id-${i}`);
  for (const id of ids) memo.remember(id, applied, stored);
  expect(ids.every((id) => memo.stands(id, applied, stored))).toBe(true);
});
