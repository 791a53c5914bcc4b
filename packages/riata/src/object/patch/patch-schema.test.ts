import { describe, expect, test } from 'vitest';
import { type PatchNode, type PatchSchema, patchSchema, SchemaPlace } from './patch-schema.js';

describe('SchemaPlace', () => {
  const container: PatchNode = { fields: { ports: { patchStrategy: 'merge', patchMergeKey: 'containerPort' } } };

  test('finds types by name, only when it gets there', () => {
    const asked: string[] = [];
    const schema: PatchSchema = {
      root: { fields: { spec: 'PodSpec', status: 'PodStatus' } },
      lookup: (name) => {
        asked.push(name);
        if (name === 'PodSpec')
          return { fields: { containers: { patchStrategy: 'merge', patchMergeKey: 'name', items: 'C' } } };
        return name === 'C' ? container : undefined;
      },
    };
    const containers = SchemaPlace.root(schema).field('spec').field('containers');
    expect(asked).toEqual(['PodSpec']);
    expect([containers.mergesList, containers.mergeKey, containers.path]).toEqual([true, 'name', 'spec.containers']);
    const ports = containers.items.field('ports');
    expect([ports.mergeKey, ports.path]).toEqual(['containerPort', 'spec.containers[].ports']);
    expect(asked).toEqual(['PodSpec', 'C']);
  });

  test('treats what it does not know by default, at any depth', () => {
    const place = SchemaPlace.root(patchSchema('Missing')).field('x').items.field('y');
    expect([place.mergesList, place.replaces, place.retainKeys, place.mergeKey]).toEqual([
      false,
      false,
      false,
      undefined,
    ]);
  });

  test('reads strategies that are made of two', () => {
    const place = SchemaPlace.root(
      patchSchema({ fields: { a: { patchStrategy: 'merge,retainKeys' }, b: { patchStrategy: 'replace,retainKeys' } } }),
    );
    expect([place.field('a').mergesList, place.field('a').retainKeys, place.field('a').replaces]).toEqual([
      true,
      true,
      false,
    ]);
    expect([place.field('b').mergesList, place.field('b').retainKeys, place.field('b').replaces]).toEqual([
      false,
      true,
      true,
    ]);
  });

  test('a field of a type may have a strategy of its own', () => {
    const schema = patchSchema({ fields: { s: { type: 'S', patchStrategy: 'retainKeys' } } }, { S: container });
    expect(SchemaPlace.root(schema).field('s').retainKeys).toBe(true);
    expect(SchemaPlace.root(schema).field('s').field('ports').mergesList).toBe(true);
  });

  test('knows the values of a map with free keys', () => {
    const schema = patchSchema({ fields: { m: { values: { patchStrategy: 'merge', patchMergeKey: 'k' } } } });
    expect(SchemaPlace.root(schema).field('m').field('any').mergeKey).toBe('k');
  });

  test('does not find what a prototype lends', () => {
    const schema = patchSchema({ fields: {} }, {});
    expect(schema.lookup('constructor')).toBeUndefined();
    for (const key of ['__proto__', 'constructor', 'toString']) {
      expect(SchemaPlace.root(schema).field(key).mergesList).toBe(false);
    }
  });
});
