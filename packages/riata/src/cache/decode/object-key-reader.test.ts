import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeObject, type FramedObject } from '../../object/scan/decode-object.js';
import { ObjectKeyReader } from './object-key-reader.js';

function keyIn(text: string): string | undefined {
  let key: string | undefined;
  const decoder = {
    decode: (framed: FramedObject) => {
      key = new ObjectKeyReader().read(framed);
      return undefined;
    },
  };
  decodeObject(Buffer.from(text), { cutManagedFields: true, decoder });
  return key;
}

test.each([
  [
    'as kube-apiserver writes its own kinds',
    '{"kind":"Pod","metadata":{"name":"a","generateName":"a-","namespace":"n"}}',
    'n/a',
  ],
  ['without a namespace', '{"metadata":{"name":"a","uid":"u","labels":{"namespace":"no"}},"spec":{}}', 'a'],
  [
    'as it writes custom resources',
    '{"data":{"name":"no"},"metadata":{"annotations":{"name":"no","x":"}"},"managedFields":[{"a":{}}],"name":"a","namespace":"n"}}',
    'n/a',
  ],
  ['managedFields first, and last', '{"metadata":{"managedFields":[],"namespace":"n","name":"a"}}', 'n/a'],
  ['managedFields in between', '{"metadata":{"name":"a","managedFields":[{}],"namespace":"n"}}', 'n/a'],
  ['more than ASCII is taken for another', '{"metadata":{"name":"é"}}', 'Ã©'],
  ['spread out', '{ "metadata": { "name": "a" } }', undefined],
  ['an escape', '{"metadata":{"name":"\\u0061"}}', undefined],
  ['no name', '{"metadata":{"namespace":"n"}}', undefined],
  ['no metadata', '{"kind":"A"}', undefined],
  ['metadata that is none', '{"metadata":["name"]}', undefined],
  ['a name that is too long', `{"metadata":{"name":"${'a'.repeat(600)}"}}`, undefined],
])('%s', (_, text, expected) => {
  expect(keyIn(text)).toBe(expected);
});

test('whatever stands around them', () => {
  const name = fc.stringMatching(/^[a-z0-9.-]{1,20}$/);
  const other = fc.dictionary(fc.constantFrom('labels', 'annotations', 'finalizers', 'a"b'), fc.jsonValue());
  fc.assert(
    fc.property(name, name, other, fc.boolean(), (ns, n, more, isFirst) => {
      const own = isFirst ? { name: n, namespace: ns, ...more } : { ...more, namespace: ns, name: n };
      expect(keyIn(JSON.stringify({ kind: 'A', metadata: { ...own, uid: 'u' }, spec: {} }))).toBe(`${ns}/${n}`);
    }),
    { numRuns: 200 },
  );
});
