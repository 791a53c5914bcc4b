import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FieldSet } from './field-set.js';
import { formatFieldsV1, parseFieldsV1 } from './fields-v1.js';
import type { Path } from './path-element.js';

const element = fc.constantFrom('f:a', 'f:b', 'k:{"n":1}', 'v:"x"', 'i:0');
const path = fc.array(element, { minLength: 1, maxLength: 3 });
const paths = fc.array(path, { maxLength: 12 });

/** A plain set of path texts to compare with. */
const texts = (all: Iterable<Path>) => new Set([...all].map((p) => p.join(' ')));
const setOf = (all: readonly Path[]) => FieldSet.of(...all);
const under = (text: string, others: Set<string>) => [...others].some((o) => text === o || text.startsWith(`${o} `));

describe('operations agree with those on plain sets of paths', () => {
  const cases: Record<
    string,
    [(a: FieldSet, b: FieldSet) => FieldSet, (t: string, a: Set<string>, b: Set<string>) => boolean]
  > = {
    union: [(a, b) => a.union(b), (t, a, b) => a.has(t) || b.has(t)],
    intersection: [(a, b) => a.intersection(b), (t, a, b) => a.has(t) && b.has(t)],
    difference: [(a, b) => a.difference(b), (t, a, b) => a.has(t) && !b.has(t)],
    recursiveDifference: [(a, b) => a.recursiveDifference(b), (t, a, b) => a.has(t) && !under(t, b)],
  };
  test.each(Object.entries(cases))('%s', (_name, [operation, expected]) => {
    fc.assert(
      fc.property(paths, paths, (a, b) => {
        const [x, y] = [texts(a), texts(b)];
        const desired = [...new Set([...x, ...y])].filter((text) => expected(text, x, y));
        const got = operation(setOf(a), setOf(b));
        expect(texts(got.paths())).toEqual(new Set(desired));
        expect(got.size).toBe(desired.length);
        expect(got.isEmpty).toBe(desired.length === 0);
        expect(got.equals(setOf(desired.map((text) => text.split(' '))))).toBe(true);
      }),
    );
  });
});

test('has, equals, leaves', () => {
  fc.assert(
    fc.property(paths, path, (all, other) => {
      const set = setOf(all);
      const members = texts(all);
      expect(set.has(other)).toBe(members.has(other.join(' ')));
      expect(set.equals(setOf([...all].reverse()))).toBe(true);
      expect(set.equals(setOf([...all, other]))).toBe(members.has(other.join(' ')));
      const leaves = [...members].filter((text) => ![...members].some((m) => m.startsWith(`${text} `)));
      expect(texts(set.leaves().paths())).toEqual(new Set(leaves));
    }),
  );
});

test('the object as a whole is no member', () => {
  expect(FieldSet.of([]).isEmpty).toBe(true);
  expect(FieldSet.of(['f:a']).has([])).toBe(false);
});

test('sets are not changed by what is made of them', () => {
  fc.assert(
    fc.property(paths, paths, (a, b) => {
      const [x, y] = [setOf(a), setOf(b)];
      for (const made of [x.union(y), x.difference(y), x.recursiveDifference(y), x.intersection(y), x.leaves()]) {
        made.union(y).difference(x);
      }
      expect(texts(x.paths())).toEqual(texts(a));
      expect(texts(y.paths())).toEqual(texts(b));
    }),
  );
});

test('members of a level come before what is below them', () => {
  const set = setOf([['f:b', 'f:c'], ['f:b'], ['f:a', 'f:z', 'f:y'], ['v:1'], ['f:a', 'f:z']]);
  expect([...set.paths()].map((p) => p.join(' '))).toEqual(['f:b', 'v:1', 'f:a f:z', 'f:a f:z f:y', 'f:b f:c']);
});

describe('FieldsV1', () => {
  test('what is written can be read', () => {
    fc.assert(
      fc.property(paths, (all) => {
        const set = setOf(all);
        const text = JSON.stringify(formatFieldsV1(set));
        const read = parseFieldsV1(JSON.parse(text));
        expect(read.equals(set)).toBe(true);
        expect(JSON.stringify(formatFieldsV1(read))).toBe(text);
      }),
    );
  });

  test('sorted, with a dot for a member that has members below', () => {
    const set = setOf([['f:b'], ['f:a', 'f:c'], ['f:b', 'v:"x"'], ['f:__proto__']]);
    expect(JSON.stringify(formatFieldsV1(set))).toBe(
      '{"f:__proto__":{},"f:a":{"f:c":{}},"f:b":{".":{},"v:\\"x\\"":{}}}',
    );
  });

  test('elements of a kind that is not known are left out', () => {
    const read = parseFieldsV1({ 'f:a': { 'x:y': { 'f:b': {} } }, 'z:': {}, '.': {} });
    expect([...read.paths()]).toEqual([['f:a']]);
    expect(parseFieldsV1(undefined).isEmpty).toBe(true);
    expect(parseFieldsV1({}).isEmpty).toBe(true);
  });

  test.each([[{ 'f:a': 1 }], [[]], ['x'], [{ a: {} }], [{ 'k:x': {} }]])('%j is refused', (fields) => {
    expect(() => parseFieldsV1(fields)).toThrow(expect.objectContaining({ name: 'FieldsV1Error' }));
  });
});
