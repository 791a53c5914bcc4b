import { describe, expect, test } from 'vitest';
import { ConfigMap, Node } from '../../kinds/index.js';
import type { KubeObject } from '../../object/meta.js';
import { nothing, parseSelector } from '../../object/selector/label-selector.js';
import { isNotFound } from '../../rest/errors/error-guards.js';
import { createIndexer } from './indexer.js';
import { byNamespace, namespaceIndex } from './key-func.js';
import { Lister, type ListerSelector } from './lister.js';

const object = (namespace: string | undefined, name: string, labels?: Record<string, string>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    ...{ name, uid: name, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z', labels },
    ...(namespace && { namespace }),
  },
});
const objects = [
  object('shop', 'a', { app: 'web' }),
  object('shop', 'b', { app: 'db' }),
  object('bank', 'c', { app: 'web' }),
  object(undefined, 'd'),
];

describe.each([
  ['with the namespace index', { [namespaceIndex]: byNamespace }],
  ['without an index', {}],
])('Lister %s', (_, indexers) => {
  const indexer = createIndexer<KubeObject>({ indexers });
  indexer.replace(objects, '1');
  const lister = new Lister(indexer, ConfigMap);
  const names = (list: KubeObject[]) => list.map(({ metadata }) => metadata.name).join('');

  test.each<[string, ListerSelector | undefined, string, string]>([
    ['none', undefined, 'abcd', 'ab'],
    ['an empty text', '', 'abcd', 'ab'],
    ['an empty object', {}, 'abcd', 'ab'],
    ['a text', 'app=web', 'ac', 'a'],
    ['an object', { matchLabels: { app: 'web' } }, 'ac', 'a'],
    ['a parsed one', parseSelector('app!=web'), 'bd', 'b'],
    ['nothing', nothing(), '', ''],
  ])('lists by selector: %s', (_, selector, all, shop) => {
    expect(names(lister.list(selector))).toBe(all);
    expect(names(lister.namespace('shop').list(selector))).toBe(shop);
    expect(names(lister.namespace('').list(selector))).toBe(all);
  });

  test('gets by name within a namespace, or of a cluster-scoped kind', () => {
    expect(lister.namespace('shop').get('a')).toBe(objects[0]);
    expect(lister.get('d')).toBe(objects[3]);
    expect(lister.namespace('').get('d')).toBe(objects[3]);
    expect(lister.find('a')).toBeUndefined();
    expect(lister.namespace('bank').find('a')).toBeUndefined();
  });

  test('what is not there is an error that isNotFound knows', () => {
    const failures = [() => lister.namespace('bank').get('a'), () => new Lister(indexer, Node).get('a')].map((get) => {
      try {
        return get();
      } catch (error) {
        return error;
      }
    });
    expect(failures.map(isNotFound)).toEqual([true, true]);
    expect(failures.map(String)).toEqual([
      expect.stringContaining('configmaps "bank/a" is not in the cache'),
      expect.stringContaining('nodes "a" is not in the cache'),
    ]);
  });

  test('a list is a copy', () => {
    lister.list().pop();
    lister.namespace('shop').list().pop();
    expect(names(lister.list())).toBe('abcd');
    expect(names(lister.namespace('shop').list())).toBe('ab');
  });
});
