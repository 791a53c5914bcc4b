import { expect, test } from 'vitest';
import { ConfigMap, Secret } from '../../kinds/index.js';
import { ObjectSet } from './object-set.js';

const map = (name: string, a = '1') => ConfigMap({ metadata: { namespace: 'shop', name }, data: { a } });

test('each object once, in the order in which they first came', () => {
  const set = new ObjectSet([map('b'), undefined, map('a')]).add(Secret({ metadata: { name: 's' } }), map('b', '2'));
  expect([...set].map(({ metadata }) => metadata.name)).toEqual(['b', 'a', 's']);
  expect(set.size).toBe(3);
  const key = { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'b' };
  expect(set.get(key)).toMatchObject({ data: { a: '2' } });
  expect([set.has(key), set.has({ ...key, namespace: 'other' })]).toEqual([true, false]);
  expect([...set.byKind()].map(([kind, objects]) => [kind, objects.length])).toEqual([
    ['v1/ConfigMap', 2],
    ['v1/Secret', 1],
  ]);
  expect(set.delete(key)).toBe(true);
  expect(set.size).toBe(2);
});

test('objects are identified by name, not by version', () => {
  const widget = (version: string) => ({
    apiVersion: `example.com/${version}`,
    kind: 'Widget',
    metadata: { name: 'w' },
  });
  expect(new ObjectSet([widget('v1'), widget('v2')]).size).toBe(1);
  expect(() => new ObjectSet([{ apiVersion: 'v1', kind: 'ConfigMap', metadata: {} }])).toThrow(
    'must have metadata.name',
  );
});
