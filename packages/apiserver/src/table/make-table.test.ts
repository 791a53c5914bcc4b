import type { KubeObject } from 'riata/object';
import { expect, test } from 'vitest';
import { customTable } from './custom-table.js';
import { makeTable } from './make-table.js';

const now = Date.parse('2026-01-01T01:00:00Z');
const object = (name: string) =>
  ({
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name, creationTimestamp: '2026-01-01T00:00:00Z', resourceVersion: '7' },
    spec: { size: 3 },
  }) as unknown as KubeObject;
const form = {
  printer: customTable([
    { name: 'Size', type: 'integer', jsonPath: '.spec.size', description: 'how large' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', priority: 1 },
  ]),
  as: { group: 'meta.k8s.io', version: 'v1', kind: 'Table' },
  item: { kind: 'Widget', apiVersion: 'example.com/v1' },
  headers: true,
  nowMs: now,
};

test('a list becomes a row for each item', () => {
  const list = {
    kind: 'WidgetList',
    metadata: { resourceVersion: '9', continue: 'x' },
    items: [object('a'), object('b')],
  };
  const table = makeTable(list, { ...form, includeObject: 'None' });
  expect(table.rows).toEqual([
    { cells: ['a', 3, '60m'], object: null },
    { cells: ['b', 3, '60m'], object: null },
  ]);
  expect(table.metadata).toEqual({ resourceVersion: '9', continue: 'x' });
  const described = table.columnDefinitions?.map(({ name, description }) => [name, description]);
  expect(described).toEqual([
    ['Name', ''],
    ['Size', 'how large'],
    ['Age', 'Custom resource definition column (in JSONPath format): .metadata.creationTimestamp'],
  ]);
});

test('an object comes with its metadata, or whole', () => {
  const { metadata } = object('a');
  const [row] = makeTable(object('a'), { ...form, includeObject: 'Metadata' }).rows;
  expect(row?.object).toEqual({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata });
  expect(makeTable(object('a'), { ...form, includeObject: 'Object' }).rows[0]?.object).toEqual(object('a'));
});

test('columns after one whose path cannot be read are left out', () => {
  const columns = [
    { name: 'Good', type: 'string', jsonPath: '.a' },
    { name: 'Bad', type: 'string', jsonPath: '.a[' },
    { name: 'Late', type: 'string', jsonPath: '.b' },
  ];
  expect(customTable(columns).columns.map(({ name }) => name)).toEqual(['Name', 'Good']);
});

test('whole numbers of 64 bits keep their digits', () => {
  const long = { ...object('a'), spec: { size: 9007199254740993n } } as unknown as KubeObject;
  const columns = ['integer', 'number', 'string'].map((type) => ({ name: type, type, jsonPath: '.spec.size' }));
  const whole = { name: 'whole', type: 'string', jsonPath: '.spec' };
  const form2 = { ...form, printer: customTable([...columns, whole]), includeObject: 'None' as const };
  expect(makeTable(long, form2).rows[0]?.cells).toEqual([
    'a',
    9007199254740993n,
    9007199254740992,
    '9007199254740993',
    '{"size":9007199254740993}',
  ]);
});
