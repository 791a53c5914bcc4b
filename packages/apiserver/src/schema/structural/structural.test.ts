import fc from 'fast-check';
import { clone, freeze, type Json, type JsonObject, type StructuralSchema } from 'riata/object';
import { describe, expect, test } from 'vitest';
import { checkListTypes } from './check-list-types.js';
import { dropNulls } from './drop-nulls.js';
import { prune, pruneValue } from './prune.js';
import { readCustomResource } from './read-custom-resource.js';
import { validateValue } from './validate-value.js';
import { withDefaults } from './with-defaults.js';

const text: StructuralSchema = { type: 'string' };
const open = { 'x-kubernetes-preserve-unknown-fields': true } as const;

describe('pruning', () => {
  test.each<[Json, StructuralSchema | undefined, Json, string[]]>([
    [{ a: 1, b: 2 }, { properties: { a: {} } }, { a: 1 }, ['b']],
    [
      { a: { x: 1 }, b: [{ y: 1 }] },
      { properties: { a: {}, b: { items: {} } } },
      { a: {}, b: [{}] },
      ['a.x', 'b[0].y'],
    ],
    [{ a: { x: 1 } }, { properties: { a: open } }, { a: { x: 1 } }, []],
    [{ x: 1, a: { y: 1 } }, { ...open, properties: { a: {} } }, { x: 1, a: {} }, ['a.y']],
    [[{ x: 1, a: { y: 1 } }], { ...open, items: { properties: { a: {} } } }, [{ x: 1, a: {} }], ['[0].a.y']],
    [{ k: { a: 1, b: 1 } }, { additionalProperties: { properties: { a: {} } } }, { k: { a: 1 } }, ['k.b']],
    [{ k: { a: 1 } }, { additionalProperties: true as unknown as StructuralSchema }, { k: {} }, ['k.a']],
    [
      { a: { apiVersion: 'v1', kind: 'x', metadata: { z: 1 }, q: 1 } },
      { properties: { a: { 'x-kubernetes-embedded-resource': true } } },
      { a: { apiVersion: 'v1', kind: 'x', metadata: { z: 1 } } },
      ['a.q'],
    ],
    [{ metadata: 1 }, {}, {}, ['metadata']],
    ['x', undefined, 'x', []],
    [[[{ a: 1 }]], undefined, [[{}]], ['[0][0].a']],
  ])('%j', (value, schema, kept, unknown) => {
    expect(pruneValue(value, schema)).toEqual({ object: kept, unknown });
  });

  test('what makes an object an object stays at the root', () => {
    const object = { apiVersion: 'a', kind: 'b', metadata: { x: 1 }, spec: 1, other: 2 };
    expect(prune(object, { properties: { spec: {} } })).toEqual({
      object: { apiVersion: 'a', kind: 'b', metadata: { x: 1 }, spec: 1 },
      unknown: ['other'],
    });
  });

  test('what does not change is shared, and nothing is changed in place', () => {
    const object = freeze({ spec: { a: { b: 1 } }, status: { x: 1 } }) as JsonObject;
    const schema = { properties: { spec: { properties: { a: { properties: { b: {} } } } }, status: {} } };
    const { object: kept } = prune(object, schema);
    expect(kept.spec).toBe(object.spec);
    expect(kept.status).toEqual({});
  });

  test('a hostile key is a key', () => {
    const object = JSON.parse('{"a":{"__proto__":{"x":1},"b":1}}') as JsonObject;
    const { object: kept, unknown } = prune(object, { properties: { a: { additionalProperties: open } } });
    expect(unknown).toEqual([]);
    expect(JSON.stringify(kept)).toBe('{"a":{"__proto__":{"x":1},"b":1}}');
    expect(prune(object, { properties: { a: { properties: { b: text } } } }).unknown).toEqual(['a.__proto__']);
  });
});

describe('nulls that are not allowed', () => {
  test.each<[Json, StructuralSchema, Json]>([
    [{ a: null }, { properties: { a: text } }, {}],
    [{ a: null }, { properties: { a: { ...text, nullable: true } } }, { a: null }],
    [{ a: null }, { properties: { a: { ...text, default: 'x' } } }, { a: null }],
    [{ a: null }, { additionalProperties: text }, {}],
    [{ a: null }, open, { a: null }],
    [{ a: [null, { b: null }] }, { properties: { a: { items: { properties: { b: text } } } } }, { a: [null, {}] }],
  ])('%j', (value, schema, kept) => {
    expect(dropNulls(value, schema)).toEqual(kept);
  });
});

describe('defaults', () => {
  test.each<[Json, StructuralSchema, Json]>([
    [{}, { properties: { a: { ...text, default: 'x' } } }, { a: 'x' }],
    [{ a: 'y' }, { properties: { a: { ...text, default: 'x' } } }, { a: 'y' }],
    [{ a: null }, { properties: { a: { ...text, default: 'x' } } }, { a: 'x' }],
    [{ a: null }, { properties: { a: { ...text, default: 'x', nullable: true } } }, { a: null }],
    [{ a: null }, { properties: { a: text } }, { a: null }],
    [{}, { properties: { a: { properties: { b: { default: 1 } } } } }, {}],
    [{}, { properties: { a: { default: {}, properties: { b: { default: 1 } } } } }, { a: { b: 1 } }],
    [
      { a: [{}, null] },
      { properties: { a: { items: { default: { c: 2 }, properties: { b: { default: 1 } } } } } },
      { a: [{ b: 1 }, { c: 2, b: 1 }] },
    ],
    [
      { k: null, l: {} },
      { additionalProperties: { default: {}, properties: { b: { default: 1 } } } },
      { k: { b: 1 }, l: { b: 1 } },
    ],
    [{}, { properties: { a: { default: null as Json, nullable: true } } }, {}],
    ['x', { default: 'y' }, 'x'],
  ])('%j', (value, schema, filled) => {
    expect(withDefaults(value, schema)).toEqual(filled);
  });
});

describe('lists that are sets or maps', () => {
  const map = (...keys: string[]): StructuralSchema => ({
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': keys,
    items: { type: 'object' },
  });
  const set: StructuralSchema = { type: 'array', 'x-kubernetes-list-type': 'set', items: {} };
  test.each<[Json, StructuralSchema, string[]]>([
    [['a', 'b', 'a', 'a', 'b'], set, ['[2]: Duplicate value: "a"', '[4]: Duplicate value: "b"']],
    [
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      set,
      ['[1]: Duplicate value: {"b":2,"a":1}'],
    ],
    [['1', 1, true, null, null], set, ['[4]: Duplicate value: null']],
    [[{ a: 1 }, { a: 1 }, { a: 2 }], map('a'), ['[1]: Duplicate value: {"a":1}']],
    [[{}, {}], map('a'), ['[1]: Duplicate value: {}']],
    [[{ a: 1, b: 1 }, { a: 1 }, { b: 1, a: 1 }], map('b', 'a'), ['[2]: Duplicate value: {"a":1,"b":1}']],
    [[{ a: 1 }, 'x'], map('a'), ['[1]: Invalid value: "x": must be an object for an array of list-type map']],
  ])('%j', (value, schema, errors) => {
    expect(checkListTypes(value, schema).map(({ field, body }) => `${field}: ${body}`)).toEqual(errors);
  });
});

describe('ratcheting', () => {
  const schema: StructuralSchema = {
    type: 'object',
    properties: {
      old: { type: 'string', maxLength: 1 },
      list: { type: 'array', items: { type: 'string', maxLength: 1 } },
      map: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
        items: { type: 'object', properties: { k: text, v: { type: 'integer' } } },
      },
    },
  };
  test.each<[Json, Json, string[]]>([
    [{ old: 'xx' }, { old: 'xx' }, []],
    [{ old: 'xx', list: [] }, { old: 'xx' }, []],
    [{ old: 'yy' }, { old: 'xx' }, ['old']],
    [{ list: ['xx', 'y'] }, { list: ['xx'] }, ['list[0]']],
    [
      {
        map: [
          { k: 'b', v: 'x' },
          { k: 'a', v: 'x' },
        ],
      },
      { map: [{ k: 'a', v: 'x' }] },
      ['map[0].v'],
    ],
  ])('%j after %j', (value, old, fields) => {
    expect(validateValue(value, schema, { old }).map((error) => error.field)).toEqual(fields);
  });
});

test('a long list of wrong elements is reported without delay', () => {
  const list = Array.from({ length: 50_000 }, (_, i) => ({ k: i }));
  const schema: StructuralSchema = {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
    items: { type: 'object', properties: { k: { type: 'string' } } },
  };
  expect(validateValue(list, schema)).toHaveLength(50_000);
  expect(validateValue([...list].reverse(), schema, { old: list })).toEqual([]);
});

/** Structural schemas with types, defaults, maps, lists and openness. */
const { schema: anySchema } = fc.letrec<{ schema: StructuralSchema; leaf: StructuralSchema }>((tie) => ({
  leaf: fc.constantFrom<StructuralSchema>(
    { type: 'string' },
    { type: 'string', default: 'd' },
    { type: 'integer', nullable: true },
    { type: 'boolean', nullable: true, default: true },
    { 'x-kubernetes-int-or-string': true },
    { 'x-kubernetes-preserve-unknown-fields': true },
  ),
  schema: fc.oneof(
    { depthSize: 'small' },
    tie('leaf'),
    fc
      .dictionary(fc.constantFrom('a', 'b', 'c'), tie('schema'))
      .map((properties) => ({ type: 'object' as const, properties })),
    fc
      .dictionary(fc.constantFrom('a', 'b'), tie('schema'))
      .map((properties) => ({ type: 'object' as const, properties, default: {}, ...open })),
    tie('schema').map((items) => ({ type: 'array' as const, items })),
    tie('schema').map((additionalProperties) => ({ type: 'object' as const, additionalProperties })),
  ),
}));
const anyValue = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<Json>(null, 'x', 1, true),
    fc.array(tie('value'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), tie('value')) as fc.Arbitrary<Json>,
  ),
})).value;

describe('whatever the schema and the value', () => {
  const check = (property: (value: Json, schema: StructuralSchema) => void) =>
    fc.assert(
      fc.property(anyValue, anySchema, (value, schema) => property(freeze(clone(value)) as Json, schema)),
      { numRuns: 500 },
    );

  test('pruning once is enough', () =>
    check((value, schema) => {
      const once = pruneValue(value, schema);
      expect(pruneValue(once.object, schema)).toEqual({ object: once.object, unknown: [] });
      expect(once.object === value).toBe(once.unknown.length === 0);
    }));

  test('defaults once is enough', () =>
    check((value, schema) => {
      const once = withDefaults(value, schema);
      expect(withDefaults(once, schema)).toBe(once);
    }));

  test('defaults bring nothing that would be pruned', () =>
    check((value, schema) => {
      const filled = withDefaults(pruneValue(value, schema).object, schema);
      expect(pruneValue(filled, schema).unknown).toEqual([]);
    }));

  test('dropping nulls once is enough', () =>
    check((value, schema) => {
      const once = dropNulls(value, schema);
      expect(dropNulls(once, schema)).toBe(once);
    }));

  test('a valid value stays valid when pruned and filled', () =>
    check((value, schema) => {
      if (validateValue(value, schema).length > 0) return;
      expect(validateValue(withDefaults(pruneValue(value, schema).object, schema), schema)).toEqual([]);
    }));

  test('an unchanged value is never refused on update', () =>
    check((value, schema) => {
      expect(validateValue(value, schema, { old: clone(value) as Json })).toEqual([]);
    }));

  test('reading a custom resource twice gives the same', () =>
    check((value, schema) => {
      const object = { apiVersion: 'example.com/v1', kind: 'Foo', metadata: { name: 'a' }, spec: value };
      const whole: StructuralSchema = { type: 'object', properties: { spec: schema } };
      const once = readCustomResource(object, whole);
      expect(readCustomResource(once.object, whole)).toEqual({ object: once.object, unknown: [] });
    }));
});
