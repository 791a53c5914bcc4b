import { describe, expect, test } from 'vitest';
import { atOnce } from '../steps.js';
import { builtInSchema } from './built-in/built-in-schema.js';
import type { SchemaNode } from './built-in/schema-node.js';
import { duplicateComplaints, strictComplaints, unknownComplaint } from './strict-fields.js';

const configMap = builtInSchema({ group: '', version: 'v1', kind: 'ConfigMap' }) as SchemaNode;
const pod = builtInSchema({ group: '', version: 'v1', kind: 'Pod' }) as SchemaNode;
const crd = builtInSchema({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
}) as SchemaNode;

describe('a strict reading of a built-in kind', () => {
  // The answers of kube-apiserver v1.36.
  test.each([
    [
      configMap,
      '{"apiVersion":"v1","kind":"ConfigMap","x":1,"metadata":{"name":"a","name":"b","q":{"q":1,"q":2}},"data":{"a":"1","a":"2","a":"3"},"z":{"a":1,"a":2},"data":{}}',
      [
        'unknown field "x"',
        'duplicate field "metadata.name"',
        'unknown field "metadata.q"',
        'duplicate field "data.a"',
        'unknown field "z"',
        'duplicate field "data"',
      ],
    ],
    [
      configMap,
      '{"metadata":{"name":"a"},"data":{"a.b":"1","a.b":"2"},"a\\"b":1,"x.y":{}}',
      ['duplicate field "data.a.b"', 'unknown field "a\\"b"', 'unknown field "x.y"'],
    ],
    [
      pod,
      '{"spec":{"containers":[{"name":"x","foo":1,"ports":[{"bar":2}]},{"image":"{\\"a\\":[1,","nope":[{"a":1}]}],"nope":{"a":1}}}',
      [
        'unknown field "spec.containers[0].foo"',
        'unknown field "spec.containers[0].ports[0].bar"',
        'unknown field "spec.containers[1].nope"',
        'unknown field "spec.nope"',
      ],
    ],
    [
      crd,
      '{"spec":{"versions":[{"schema":{"openAPIV3Schema":{"foo":1,"properties":{"a":{"bar":1},"b":{"items":{"zip":1,"zip":1}},"c":{"additionalProperties":{"zip":1}}}}}}]}}',
      [
        'unknown field "spec.versions[0].schema.openAPIV3Schema.foo"',
        'unknown field "spec.versions[0].schema.openAPIV3Schema.properties.a.bar"',
      ],
    ],
  ])('%#', (schema, text, complaints) => {
    expect(atOnce(strictComplaints(text, schema))).toEqual(complaints);
  });

  test('says nothing about what is fine', () => {
    const text = JSON.stringify(
      { metadata: { name: 'a', labels: { b: '' } }, spec: { containers: [{}, {}] } },
      null,
      2,
    );
    expect(atOnce(strictComplaints(text, pod))).toEqual([]);
  });

  test('stops at a hundred', () => {
    const members = Array.from({ length: 150 }, (_, i) => `"x${i}":1`).join();
    expect(atOnce(strictComplaints(`{${members}}`, pod))).toHaveLength(100);
  });
});

describe('duplicate fields', () => {
  test.each([
    ['{"a":1,"a":2,"a":3}', ['duplicate field "a"']],
    ['{"a":{"b":[{"c":1,"c":2},{"c":1}]},"a":{"b":1}}', ['duplicate field "a.b[0].c"', 'duplicate field "a"']],
    ['{"a":"\\"a\\":1,\\"a\\":2","b":"\\\\","b":"]"}', ['duplicate field "b"']],
    ['{"\\u0061":1,"a":2}', ['duplicate field "a"']],
    ['{"__proto__":1,"__proto__":2,"constructor":1}', ['duplicate field "__proto__"']],
    ['[]', []],
    ['{}', []],
    ['"a"', []],
  ])('%s', (text, complaints) => {
    expect(atOnce(duplicateComplaints(text))).toEqual(complaints);
  });

  test('are found however deep', () => {
    const depth = 100_000;
    const text = `${'{"a":'.repeat(depth)}{"b":1,"b":2}${'}'.repeat(depth)}`;
    expect(atOnce(duplicateComplaints(text))).toHaveLength(1);
  });
});

test('a dropped field is reported like an unknown one', () => {
  expect(unknownComplaint('spec.a"b')).toBe('unknown field "spec.a\\"b"');
});
