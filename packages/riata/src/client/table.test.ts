import { describe, expect, test } from 'vitest';
import { Pod } from '../kinds/index.js';
import { toTable } from './table.js';

const table = {
  kind: 'Table',
  apiVersion: 'meta.k8s.io/v1',
  metadata: { resourceVersion: '5', continue: 'X' },
  columnDefinitions: [{ name: 'Name', type: 'string', format: 'name', description: '', priority: 0 }],
  rows: [{ cells: ['a'], object: { kind: 'PartialObjectMetadata' } }],
};

describe('toTable', () => {
  test('takes a table as it is', () => {
    expect(toTable(table, Pod)).toEqual(table);
  });

  test('an empty one has rows nevertheless', () => {
    expect(toTable({ ...table, rows: null }, Pod).rows).toEqual([]);
    expect(toTable({ kind: 'Table' }, Pod)).toMatchObject({ rows: [], columnDefinitions: [], metadata: {} });
  });

  test.each([
    [{ kind: 'PodList', items: [] }, 'got "PodList"'],
    [{}, 'got an object without a kind'],
    ['text', 'got a string'],
    [null, 'got null'],
    [[], 'got a list'],
  ])('refuses %j', (answer, message) => {
    expect(() => toTable(answer, Pod)).toThrow(`table of pods: expected a Table, ${message}`);
  });
});
