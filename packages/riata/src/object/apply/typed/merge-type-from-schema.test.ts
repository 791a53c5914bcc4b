import { describe, expect, test } from 'vitest';
import { atomicType, deducedType, isDeducedMap } from './merge-type.js';
import { type MergeSchema, mergeTypeFromSchema } from './merge-type-from-schema.js';

describe('scalars', () => {
  test.each<[MergeSchema, string]>([
    [{ type: 'integer', format: 'int32' }, 'numeric'],
    [{ type: 'number' }, 'numeric'],
    [{ type: 'boolean' }, 'boolean'],
    [{ type: 'string' }, 'string'],
    [{ type: 'string', format: 'byte' }, 'string'],
    [{ type: 'string', format: 'date-time' }, 'untyped'],
    [{ type: 'string', format: 'int-or-string' }, 'untyped'],
  ])('%j', (schema, scalar) => {
    expect(mergeTypeFromSchema(schema)).toEqual({ scalar });
  });

  test('without a type: any form', () => {
    const type = mergeTypeFromSchema({ 'x-kubernetes-int-or-string': true } as MergeSchema);
    expect(type.scalar).toBe('untyped');
    expect(type.list?.kind).toBe('atomic');
    expect(type.list?.items()).toBe(atomicType);
    expect(type.map?.values()).toBe(deducedType);
  });
});

describe('lists', () => {
  const items: MergeSchema = { type: 'string' };
  test.each<[MergeSchema, string, string[]]>([
    [{ type: 'array', items }, 'atomic', []],
    [{ type: 'array', items, 'x-kubernetes-list-type': 'atomic' }, 'atomic', []],
    [{ type: 'array', items, 'x-kubernetes-list-type': 'set' }, 'set', []],
    [
      { type: 'array', items, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a', 'b'] },
      'map',
      ['a', 'b'],
    ],
    [{ type: 'array', items, 'x-kubernetes-patch-strategy': 'merge' }, 'set', []],
    [
      { type: 'array', items, 'x-kubernetes-patch-strategy': 'merge,retainKeys', 'x-kubernetes-patch-merge-key': 'a' },
      'map',
      ['a'],
    ],
    [{ type: 'array', items, 'x-kubernetes-patch-strategy': 'retainKeys' }, 'atomic', []],
  ])('%j', (schema, kind, keys) => {
    expect(mergeTypeFromSchema(schema).list).toMatchObject({ kind, keys });
  });

  test('of a type that is not known', () => {
    expect(() => mergeTypeFromSchema({ type: 'array', 'x-kubernetes-list-type': 'bag' })).toThrow(/got "bag"/);
    expect(() => mergeTypeFromSchema({ type: 'array', 'x-kubernetes-list-type': 'map' })).toThrow(/list-map-keys/);
  });
});

describe('maps', () => {
  test('what is not declared', () => {
    const valuesOf = (schema: MergeSchema) => mergeTypeFromSchema(schema).map?.values();
    const properties = { a: { type: 'string' } };
    expect(valuesOf({ type: 'object' })).toBe(deducedType);
    expect(valuesOf({ type: 'object', properties })).toBeUndefined();
    expect(valuesOf({ type: 'object', properties, additionalProperties: true })).toBe(deducedType);
    expect(valuesOf({ type: 'object', additionalProperties: false })).toBeUndefined();
    expect(valuesOf({ type: 'object', additionalProperties: { type: 'string' } })).toEqual({ scalar: 'string' });
    expect(valuesOf({ type: 'object', properties, 'x-kubernetes-preserve-unknown-fields': true })).toBe(deducedType);
  });

  test('unknown fields are kept below a schema that says so, but not behind a reference', () => {
    const inner: MergeSchema = { type: 'object', properties: { b: { type: 'string' } } };
    const type = mergeTypeFromSchema(
      {
        type: 'object',
        'x-kubernetes-preserve-unknown-fields': true,
        properties: { inline: inner, reference: { $ref: '#/inner' } },
      },
      { resolve: () => inner },
    );
    expect(type.map?.field('inline')?.type.map?.values()).toBe(deducedType);
    expect(type.map?.field('reference')?.type.map?.values()).toBeUndefined();
    const all = mergeTypeFromSchema({ $ref: '#/inner' }, { resolve: () => inner, preserveUnknownFields: true });
    expect(all.map?.values()).toBe(deducedType);
  });

  test('fields are found by own name only', () => {
    const { map } = mergeTypeFromSchema({ type: 'object', properties: { a: { type: 'string', default: 'x' } } });
    expect(map?.field('a')).toEqual({ type: { scalar: 'string' }, default: 'x' });
    expect(map?.field('constructor')).toBeUndefined();
    expect(map?.field('__proto__')).toBeUndefined();
  });

  test('a map of unknown values has no schema that could change', () => {
    expect(isDeducedMap(mergeTypeFromSchema({ type: 'object' }).map!)).toBe(true);
    expect(isDeducedMap(mergeTypeFromSchema({ type: 'object', additionalProperties: { type: 'string' } }).map!)).toBe(
      false,
    );
  });
});

describe('references', () => {
  const schemas: Record<string, MergeSchema> = {
    '#/components/schemas/Tree': {
      type: 'object',
      properties: {
        children: {
          type: 'array',
          items: { allOf: [{ $ref: '#/components/schemas/Tree' }], default: {} },
        },
      },
    },
  };
  const resolve = (ref: string) => schemas[ref];

  test('a type may contain itself', () => {
    const tree = mergeTypeFromSchema({ $ref: '#/components/schemas/Tree' }, { resolve });
    const below = tree.map?.field('children')?.type.list?.items();
    expect(below?.map?.field('children')?.type.list?.items()).toBe(below);
  });

  test('a reference may make a map atomic', () => {
    const type = mergeTypeFromSchema(
      { $ref: '#/components/schemas/Tree', 'x-kubernetes-map-type': 'atomic' },
      { resolve },
    );
    expect(type.map?.atomic).toBe(true);
    expect(type.map?.field('children')?.type.list?.items().map?.atomic).toBe(false);
  });

  test('quantities and raw extensions are known by name', () => {
    const named = (name: string) => mergeTypeFromSchema({ $ref: `#/components/schemas/${name}` });
    expect(named('io.k8s.apimachinery.pkg.api.resource.Quantity')).toEqual({ scalar: 'untyped' });
    expect(named('io.k8s.apimachinery.pkg.runtime.RawExtension')).toBe(atomicType);
  });

  test('one that leads nowhere', () => {
    expect(() => mergeTypeFromSchema({ $ref: '#/nowhere' }, { resolve })).toThrow(/#\/nowhere/);
  });
});
