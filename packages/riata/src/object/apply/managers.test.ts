import { describe, expect, test } from 'vitest';
import type { ManagedFieldsEntry } from '../meta.js';
import { decodeManagers, encodeManagers, managerId } from './managers.js';

const entry = (over: Partial<ManagedFieldsEntry>): ManagedFieldsEntry => ({
  manager: 'm',
  operation: 'Update',
  apiVersion: 'v1',
  time: '2026-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:a': {} },
  ...over,
});

test('entries come back as they were, sorted', () => {
  const entries = [
    entry({ operation: 'Apply', manager: 'z' }),
    entry({ operation: 'Apply', manager: 'a', time: '2026-01-01T00:00:01Z' }),
    entry({ manager: 'b', time: undefined }),
    entry({ manager: 'b', apiVersion: 'v2' }),
    entry({ manager: 'c' }),
    entry({ manager: 'c', subresource: 'status' }),
    entry({ manager: 'a', time: '2026-01-01T01:00:02+01:00' }),
  ];
  expect(encodeManagers(decodeManagers([...entries].reverse()))).toEqual(
    entries.map((e) => JSON.parse(JSON.stringify(e))),
  );
  expect(encodeManagers(decodeManagers([]))).toBeUndefined();
  expect(decodeManagers(undefined).size).toBe(0);
});

test('an applier is one entry in all versions, an updater one per version', () => {
  const both = (operation: string) => [entry({ operation, apiVersion: 'v1' }), entry({ operation, apiVersion: 'v2' })];
  expect(decodeManagers(both('Apply')).size).toBe(1);
  expect(decodeManagers(both('Update')).size).toBe(2);
});

test('identifiers', () => {
  const id = { manager: 'a<b', applied: false, apiVersion: 'v1', subresource: 'status' };
  expect(managerId(id)).toBe('{"manager":"a\\u003cb","operation":"Update","apiVersion":"v1","subresource":"status"}');
  expect(managerId({ ...id, manager: '', applied: true, subresource: '' })).toBe('{"operation":"Apply"}');
});

describe('entries that cannot be read', () => {
  test.each<[Partial<ManagedFieldsEntry>, string]>([
    [{ operation: 'Patch' }, 'operation must be `Apply` or `Update`'],
    [{ operation: undefined }, 'operation must be `Apply` or `Update`'],
    [{ apiVersion: '' }, 'apiVersion must not be empty'],
    [{ fieldsType: undefined }, 'missing fieldsType in managed fields entry 1'],
    [{ fieldsType: 'FieldsV2' }, 'invalid fieldsType "FieldsV2" in managed fields entry 1'],
    [{ fieldsV1: { x: {} } }, 'error decoding set of managed fields entry 1: key must be 2 characters long:'],
  ])('%j', (over, message) => {
    expect(() => decodeManagers([entry({}), entry(over)])).toThrow(
      expect.objectContaining({ name: 'ManagedFieldsError', message }),
    );
  });
});
