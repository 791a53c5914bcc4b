import { expect, test } from 'vitest';
import type { KubeObject } from '../object/meta.js';
import { fieldIndex, isSelected, parseSelection, select } from './cache-selection.js';
import { createIndexer } from './store/indexer.js';
import { byNamespace, namespaceIndex } from './store/key-func.js';

interface Thing extends KubeObject {
  readonly spec?: { readonly node?: string; readonly size?: number; readonly ports?: readonly string[] };
}

function thing(name: string, namespace: string, app: string, spec: Thing['spec'] = {}): Thing {
  const metadata = { name, namespace, uid: name, resourceVersion: '1', creationTimestamp: '', labels: { app } };
  return { apiVersion: 'v1', kind: 'Thing', metadata, spec };
}

const indexer = createIndexer<Thing>({
  indexers: { [namespaceIndex]: byNamespace, [fieldIndex('spec.ports')]: (object) => object.spec?.ports ?? [] },
});
indexer.add(thing('a', 'x', 'web', { node: 'n1', size: 1, ports: ['80', '443'] }));
indexer.add(thing('b', 'x', 'db', { node: 'n2', size: 2, ports: ['443'] }));
indexer.add(thing('c', 'y', 'web', { node: 'n1' }));

const names = (options: Parameters<typeof parseSelection>[0], limit?: number) =>
  select(indexer, parseSelection(options), limit).map((object) => object.metadata.name);

test.each([
  [{}, ['a', 'b', 'c']],
  [{ namespace: 'x' }, ['a', 'b']],
  [{ namespace: '' }, ['a', 'b', 'c']],
  [{ labelSelector: 'app=web' }, ['a', 'c']],
  [{ labelSelector: { matchLabels: { app: 'web' } }, namespace: 'y' }, ['c']],
  [{ fieldSelector: 'metadata.name=b' }, ['b']],
  [{ fieldSelector: 'spec.node!=n1' }, ['b']],
  [{ fieldSelector: 'spec.size=2' }, ['b']],
  [{ fieldSelector: { 'spec.ports': '443' } }, ['a', 'b']],
  [{ fieldSelector: 'spec.ports!=80' }, ['b', 'c']],
  [{ fieldSelector: 'spec.ports=443', labelSelector: 'app=db', namespace: 'x' }, ['b']],
  [{ fieldSelector: 'spec.ports=443', namespace: 'y' }, []],
  [{ fieldSelector: 'spec.none=' }, ['a', 'b', 'c']],
])('%j selects %j', (options, expected) => {
  expect(names(options)).toEqual(expected);
});

test('no more than the limit', () => {
  expect(names({}, 2)).toEqual(['a', 'b']);
  expect(names({ labelSelector: 'app=web' }, 1)).toEqual(['a']);
  expect(names({}, 0)).toEqual(['a', 'b', 'c']);
});

test('a selector that makes no sense is refused', () => {
  expect(() => parseSelection({ labelSelector: 'a in b' })).toThrow();
  expect(() => parseSelection({ labelSelector: { app: 1 } as never })).toThrow(/^labelSelector: expected/);
});

test('a plain map of labels, one of them called as a method of selectors', () => {
  const { labels } = parseSelection({ labelSelector: { matches: 'x' } });
  expect([labels.matches({ matches: 'x' }), labels.matches({})]).toEqual([true, false]);
});

test('whether the server would select an object: unknown where it may know a default', () => {
  const object = thing('a', 'x', 'web', { node: 'n1' });
  const chosen = (options: Parameters<typeof parseSelection>[0]) => isSelected(object, parseSelection(options));
  expect(chosen({ namespace: 'x', labelSelector: 'app=web', fieldSelector: 'spec.node=n1' })).toBe(true);
  expect(chosen({ namespace: 'y' })).toBe(false);
  expect(chosen({ labelSelector: 'app=db' })).toBe(false);
  expect(chosen({ fieldSelector: 'spec.node!=n1' })).toBe(false);
  expect(chosen({ fieldSelector: 'spec.hostNetwork=false' })).toBeUndefined();
  expect(chosen({ fieldSelector: 'spec.hostNetwork=false,spec.node=n2' })).toBe(false);
});
