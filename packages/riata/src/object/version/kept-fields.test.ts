import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../json.js';
import type { StructuralSchema } from '../schema/structural-schema.js';
import { findKept } from './find-kept.js';
import { restoreKept } from './restore-kept.js';

const text: StructuralSchema = { type: 'string' };
const schema: StructuralSchema = {
  type: 'object',
  properties: {
    map: { type: 'object', additionalProperties: text },
    keyed: {
      ...{ type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] },
      items: { type: 'object', properties: { name: text, a: text, b: text } },
    },
    list: { type: 'array', items: { type: 'object', properties: { a: text, b: text } } },
    set: { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
  },
};

const letter = fc.constantFrom('x', 'y', 'z');
const values = fc.record(
  {
    map: fc.dictionary(fc.constantFrom('k', 'l', '__proto__'), letter, { maxKeys: 3 }),
    keyed: fc.uniqueArray(fc.record({ name: letter, a: letter, b: letter }, { requiredKeys: ['name'] }), {
      selector: ({ name }) => name,
    }),
    list: fc.array(fc.record({ a: letter, b: letter }, { requiredKeys: [] }), { maxLength: 4 }),
    set: fc.uniqueArray(letter),
    scalar: fc.oneof(letter, fc.constant(null), fc.integer()),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<JsonObject>;

const throughJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

test('what was found to be different comes back whole if nothing else has changed', () => {
  fc.assert(
    fc.property(values, values, (was, is) => {
      expect(restoreKept(schema, was, throughJson(findKept(schema, was, is)))).toEqual(is);
    }),
    { numRuns: 500 },
  );
});

test('nothing is kept of equal values, and nothing kept changes nothing', () => {
  fc.assert(
    fc.property(values, (was) => {
      expect(findKept(schema, was, throughJson(was))).toEqual([]);
      expect(restoreKept(schema, was, [])).toBe(was);
    }),
  );
});

test('where nothing was lost, a change is what it is', () => {
  fc.assert(
    fc.property(values, values, (was, now) => {
      expect(restoreKept(schema, now, findKept(schema, was, was))).toEqual(now);
    }),
  );
});

test('a changed scalar wins, and its neighbours are restored', () => {
  fc.assert(
    fc.property(values, values, letter, (was, is, changed) => {
      fc.pre(changed !== was.scalar);
      const restored = restoreKept(schema, { ...was, scalar: changed }, findKept(schema, was, is));
      expect(restored).toEqual({ ...is, scalar: changed });
    }),
    { numRuns: 500 },
  );
});

test('elements of keyed lists never appear twice, and removed ones do not come back', () => {
  fc.assert(
    fc.property(values, values, values, (was, is, now) => {
      const restored = restoreKept(schema, now, findKept(schema, was, is));
      const names = (from: JsonObject) => ((from.keyed ?? []) as { name: string }[]).map(({ name }) => name);
      expect(new Set(names(restored)).size).toBe(names(restored).length);
      if (now.keyed === undefined) return;
      const removed = names(was).filter((name) => !names(now).includes(name));
      for (const name of removed) expect(names(restored)).not.toContain(name);
      const added = names(now).filter((name) => !names(was).includes(name));
      expect(names(restored)).toEqual(expect.arrayContaining(added));
      const set = (restored.set ?? []) as string[];
      expect(new Set(set).size).toBe(set.length);
    }),
    { numRuns: 1000 },
  );
});

test('fields that were changed below an element of a keyed list win', () => {
  fc.assert(
    fc.property(values, values, values, (was, is, now) => {
      const restored = restoreKept(schema, now, findKept(schema, was, is));
      type Element = Record<string, string>;
      const find = (from: JsonObject, name: string) =>
        ((from.keyed ?? []) as Element[]).find((one) => one.name === name);
      for (const element of (now.keyed ?? []) as Element[]) {
        const [before, after] = [find(was, element.name as string), find(restored, element.name as string)];
        for (const field of ['a', 'b']) {
          if (before !== undefined && before[field] === element[field]) continue;
          if (after !== undefined) expect(after[field]).toBe(element[field]);
        }
      }
    }),
    { numRuns: 1000 },
  );
});
