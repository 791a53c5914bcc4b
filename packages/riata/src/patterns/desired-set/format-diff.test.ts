import { expect, test } from 'vitest';
import { diffObjects, formatDiff } from './format-diff.js';
import { setMarks } from './set-identity.js';

const object = (spec: object, metadata: object = {}, kind = 'Widget') => {
  return { apiVersion: 'example.com/v1', kind, metadata: { name: 'w', ...metadata }, spec };
};

test('field by field, with paths that can be read and values cut short', () => {
  const before = object({ size: 1, old: { a: 1 }, list: [{ image: 'one' }], 'a.b/c': 'x' });
  const after = object({ size: 2, list: [{ image: 'two' }], 'a.b/c': 'y', text: 'z'.repeat(500) });
  const lines = formatDiff(diffObjects(before, after));
  expect(lines.slice(0, 4)).toEqual([
    '~ spec.size: 1 → 2',
    '- spec.old: {"a":1}',
    '~ spec.list[0].image: "one" → "two"',
    '~ spec["a.b/c"]: "x" → "y"',
  ]);
  expect(lines[4]).toMatch(/^\+ spec\.text: "z+…$/);
  expect(lines[4]?.length).toBeLessThan(220);
});

test('what only servers write, and the marks of sets, are no difference', () => {
  const before = object({}, { resourceVersion: '1', generation: 1, managedFields: [], uid: 'u' });
  const after = object({}, { resourceVersion: '2', generation: 2, annotations: { [setMarks.intent]: 'x' } });
  expect(diffObjects(before, after)).toEqual([]);
});

test('values of Secrets are not shown', () => {
  const lines = diffObjects(object({ a: 'hidden' }, {}, 'Secret'), object({ a: 'other' }, {}, 'Secret'));
  expect(formatDiff(lines)).toEqual(['~ spec.a']);
  expect(JSON.stringify(lines)).not.toMatch(/hidden|other/);
});
