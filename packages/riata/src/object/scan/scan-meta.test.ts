import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scanMeta } from './scan-meta.js';

const scan = (text: string) => scanMeta(Buffer.from(text));
const none = { name: undefined, namespace: undefined, uid: undefined, resourceVersion: undefined, labels: undefined };

test('finds the identity of an object', () => {
  const object = {
    apiVersion: 'v1',
    spec: { metadata: { name: 'no' }, list: ['}', { a: '"' }] },
    flag: true,
    metadata: {
      annotations: { name: 'no', 'x"y': '\\' },
      labels: { a: 'é', b: '}' },
      uid: 'u-1',
      generation: 3,
      name: 'pod',
      namespace: 'shop',
      resourceVersion: '12',
      managedFields: [{}],
    },
  };
  const expected = { name: 'pod', namespace: 'shop', uid: 'u-1', resourceVersion: '12', labels: '{"a":"é","b":"}"}' };
  expect(scan(JSON.stringify(object))).toEqual(expected);
  const spread = scan(JSON.stringify(object, null, 2));
  expect({ ...spread, labels: JSON.parse(spread?.labels ?? '') }).toEqual({
    ...expected,
    labels: object.metadata.labels,
  });
});

test('what is absent is undefined', () => {
  expect(scan('{"metadata":{}}')).toEqual(none);
  expect(scan('{"metadata":{"name":"a"},"spec":{}}')).toEqual({ ...none, name: 'a' });
});

test.each([
  '',
  '[]',
  '{}',
  '{"a":1}',
  '{"metadata":null}',
  '{"metadata":{"name":1}}',
  '{"metadata":{"name":"a\\u0062"}}',
  '{"metadata":{"name":"a"',
  '{"metadata":{"name":"a" "uid":"b"}}',
  '{"metadata":{"name":"a',
  '{"metadata":{"n\\u0061me":"a"}}',
  '{"\\u006detadata":{"name":"a"}}',
])('gives up on %s', (text) => {
  expect(scan(text)).toBeUndefined();
});

test('never says anything else than JSON.parse', () => {
  const text = fc.string({ maxLength: 6, unit: 'grapheme' });
  const metadata = fc.record(
    {
      name: text,
      namespace: text,
      uid: text,
      resourceVersion: text,
      labels: fc.dictionary(text, text),
      extra: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.dictionary(text, fc.jsonValue(), { maxKeys: 3 }), metadata, fc.boolean(), (other, meta, pretty) => {
      const json = JSON.stringify({ ...other, metadata: meta }, null, pretty ? 1 : undefined);
      const scanned = scan(json);
      if (scanned === undefined) {
        expect(json).toContain('\\');
        return;
      }
      const { name, namespace, uid, resourceVersion, labels } = JSON.parse(json).metadata;
      expect({ ...scanned, labels: scanned.labels && JSON.parse(scanned.labels) }).toEqual({
        name,
        namespace,
        uid,
        resourceVersion,
        labels,
      });
    }),
    { numRuns: 500 },
  );
});
