import { expect, test } from 'vitest';
import { ConfigMap } from '../kinds/index.js';
import { fieldIndex, parseSelection } from './cache-selection.js';
import { fieldsOfNone, refuseNoFields } from './selected-fields.js';
import { createIndexer } from './store/indexer.js';

const metadata = { namespace: 'shop', name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '' };
const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { colour: 'red' } } as const;
const indexer = createIndexer<ConfigMap>({ indexers: { [fieldIndex('.metadata.controller')]: () => ['x'] } });
indexer.add(map);

test.each([
  'metadata.name=a',
  'metadata.labels.app=b',
  'spec.x=',
  '.metadata.controller=x',
  'data.colour=red',
  'type=x',
])('%s may be asked for', (fieldSelector) => {
  expect(() => refuseNoFields(ConfigMap, indexer, parseSelection({ fieldSelector }))).not.toThrow();
});

test.each(['.spec.colour', 'metadata.controller', 'metadata'])('%s is refused', (field) => {
  const selection = parseSelection({ fieldSelector: { 'metadata.name': 'a', [field]: 'x' } });
  expect(() => refuseNoFields(ConfigMap, indexer, selection)).toThrow(
    `list of ConfigMap: no field and no index "${field}"; add an index with indexField, or with ` +
      `.indexes(ConfigMap, "${field}", …) of the controller`,
  );
});

test('distinguishes fields that no object has from those that one has', () => {
  const selection = parseSelection({ fieldSelector: 'data.shape=,owner=b,.metadata.controller=x,spec.node=' });
  const seen = new Set<string>();
  const look = (reader: typeof indexer) => fieldsOfNone(ConfigMap, reader, selection, seen);
  expect(look(createIndexer<ConfigMap>())).toEqual([]);
  expect(look(indexer)).toEqual(['owner']);
});

test('objects are looked at once for each field', () => {
  const selection = parseSelection({ fieldSelector: 'data.shape=,owner=b' });
  let lists = 0;
  const counting = Object.assign(Object.create(indexer) as typeof indexer, {
    list: () => {
      lists += 1;
      return indexer.list();
    },
    getIndexers: () => indexer.getIndexers(),
  });
  const seen = new Set<string>();
  for (const _ of [1, 2, 3]) fieldsOfNone(ConfigMap, counting, selection, seen);
  expect(lists).toBe(1);
});
