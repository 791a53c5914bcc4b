import { expect, test } from 'vitest';
import { capManagers } from './cap-managers.js';
import { FieldSet } from './fields/field-set.js';
import { formatPath } from './fields/path-element.js';
import { type ManagedSet, managerId } from './managers.js';

function sets(count: number, over: (i: number) => Partial<ManagedSet> = () => ({})): Map<string, ManagedSet> {
  const all = Array.from({ length: count }, (_, i): ManagedSet => {
    const fields = FieldSet.of([`f:${i}`]);
    const time = `2026-01-01T00:00:${String(i).padStart(2, '0')}Z`;
    return { manager: `m${i}`, applied: false, apiVersion: 'v1', subresource: '', time, fields, ...over(i) };
  });
  return new Map(all.map((set) => [managerId(set), set]));
}

test('up to ten updaters are kept, and any number of appliers', () => {
  const ten = sets(10);
  expect(capManagers(ten)).toBe(ten);
  const appliers = sets(20, () => ({ applied: true }));
  expect(capManagers(appliers)).toBe(appliers);
});

test('the oldest are merged, with the time of the latest of them', () => {
  const capped = [...capManagers(sets(13)).values()];
  expect(capped).toHaveLength(10);
  const ancient = capped.find(({ manager }) => manager === 'ancient-changes');
  expect(ancient?.time).toBe('2026-01-01T00:00:03Z');
  expect([...(ancient?.fields.paths() ?? [])].map(formatPath)).toEqual(['.0', '.1', '.2', '.3']);
});

test('per API version', () => {
  const capped = [...capManagers(sets(12, (i) => ({ apiVersion: `v${i % 2}` }))).values()];
  expect(capped).toHaveLength(10);
  expect(capped.filter(({ manager }) => manager === 'ancient-changes').map((s) => s.apiVersion)).toEqual(['v0', 'v1']);
});

test('into what was merged before', () => {
  const once = capManagers(sets(11));
  const more = new Map([...once, ...sets(12)].filter(([, { manager }]) => !['m0', 'm1'].includes(manager)));
  const ancient = [...capManagers(more).values()].find(({ manager }) => manager === 'ancient-changes');
  expect([...(ancient?.fields.paths() ?? [])].map(formatPath)).toEqual(['.0', '.1', '.2']);
});
