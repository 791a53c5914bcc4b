import { expect, test } from 'vitest';
import { fieldDiff } from './field-diff.js';
import { mask, masked } from './masking/masked.js';

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

test('names the fields that differ, without those that change with every write', () => {
  const before = { metadata: { resourceVersion: '1', labels: { 'a/b': 'x' } }, spec: { list: [{ image: 'a' }], n: 1 } };
  const after = { metadata: { resourceVersion: '2', labels: { 'a/b': 'y' } }, spec: { list: [{ image: 'b' }, {}] } };
  expect(fieldDiff('Pod', before, after)).toEqual({
    changes: [
      { path: 'metadata.labels["a/b"]', before: 'x', after: 'y' },
      { path: 'spec.list[0].image', before: 'a', after: 'b' },
      { path: 'spec.list[1]', after: {} },
      { path: 'spec.n', before: 1 },
    ],
    more: 0,
  });
  const many = Object.fromEntries(Array.from({ length: 103 }, (_, at) => [`k${at}`, at]));
  expect(fieldDiff('ConfigMap', {}, many)).toMatchObject({ more: 3 });
  expect(fieldDiff('ConfigMap', {}, { text: 'x'.repeat(600) }).changes[0]?.after).toHaveLength(501);
});

test('secrets are masked wherever they stand: changed, added, removed, whole or by key', () => {
  const secret = (value: unknown) => ({
    metadata: { annotations: { [lastApplied]: `{"data":"${value}"}` } },
    data: value,
  });
  const versions = [
    undefined,
    secret(undefined),
    secret({ a: 'xyzzy' }),
    secret({ a: 'plugh', b: 'xyzzy' }),
    secret('xyzzy'),
  ];
  for (const before of versions) {
    for (const after of versions) {
      const { changes } = fieldDiff('Secret', before, after);
      expect(JSON.stringify(changes)).not.toMatch(/xyzzy|plugh/);
    }
  }
  expect(fieldDiff('Secret', secret({ a: 'xyzzy' }), secret({ a: 'plugh' })).changes).toContainEqual({
    path: 'data.a',
    before: mask,
    after: mask,
  });
});

test('a shown object has its keys, and none of the values', () => {
  const metadata = { name: 'a', annotations: { [lastApplied]: 'xyzzy', other: 'shown' } };
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata,
    data: { a: 'xyzzy' },
    stringData: { b: 'xyzzy' },
    type: 't',
  };
  expect(masked(secret)).toEqual({
    ...secret,
    metadata: { name: 'a', annotations: { [lastApplied]: mask, other: 'shown' } },
    data: { a: mask },
    stringData: { b: mask },
  });
  expect(masked({ kind: 'ConfigMap', data: { a: 'shown' } })).toEqual({ kind: 'ConfigMap', data: { a: 'shown' } });
});
