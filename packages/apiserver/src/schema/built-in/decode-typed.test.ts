import fc from 'fast-check';
import type { Json, JsonObject } from 'riata/object';
import { describe, expect, test } from 'vitest';
import { builtInSchema } from './built-in-schema.js';
import { decodeTyped, IllTypedError } from './decode-typed.js';
import type { SchemaNode } from './schema-node.js';

const schemaOf = (apiVersion: string, kind: string) => {
  const [version, group = ''] = apiVersion.split('/').reverse() as [string, string?];
  return builtInSchema({ group, version, kind }) as SchemaNode;
};
const pod = schemaOf('v1', 'Pod');
const configMap = schemaOf('v1', 'ConfigMap');
const read = (object: JsonObject, schema: SchemaNode) => JSON.stringify(decodeTyped(object, schema));

// What kube-apiserver v1.36 answers is compared in ../../../behaviour; these are the same facts without a server.
describe('an object of a built-in kind is written again as Go would', () => {
  test.each<[string, string, JsonObject, string]>([
    ['v1', 'ConfigMap', { data: null, binaryData: {}, nope: 1, immutable: false }, '{"metadata":{},"immutable":false}'],
    [
      'v1',
      'ConfigMap',
      { metadata: { labels: { b: null, a: 'x' }, creationTimestamp: null } },
      '{"metadata":{"labels":{"a":"x","b":""}}}',
    ],
    ['rbac.authorization.k8s.io/v1', 'Role', { kind: 'Role' }, '{"kind":"Role","metadata":{},"rules":null}'],
    [
      'coordination.k8s.io/v1',
      'Lease',
      { spec: { holderIdentity: '', acquireTime: null } },
      '{"metadata":{},"spec":{"holderIdentity":""}}',
    ],
    ['v1', 'Secret', { data: { a: null, b: 'YQ==' } }, '{"metadata":{},"data":{"a":"","b":"YQ=="}}'],
    [
      'v1',
      'Event',
      { metadata: { name: 'e' } },
      '{"metadata":{"name":"e"},"involvedObject":{},"source":{},"firstTimestamp":null,"lastTimestamp":null,"eventTime":null,"reportingComponent":"","reportingInstance":""}',
    ],
    [
      'v1',
      'Service',
      { spec: { ports: [{ port: 80 }] } },
      '{"metadata":{},"spec":{"ports":[{"port":80,"targetPort":0}]},"status":{"loadBalancer":{}}}',
    ],
  ])('%s %s', (apiVersion, kind, object, text) => {
    expect(read(object, schemaOf(apiVersion, kind))).toBe(text);
  });

  test('times and quantities get their canonical form', () => {
    const object = {
      metadata: { creationTimestamp: '2020-01-01T00:00:00.7+02:00' },
      spec: {
        containers: [{ name: 'a', resources: { limits: { memory: '1.5Gi', cpu: 0.5 } } }],
        overhead: { cpu: '1000m' },
      },
    };
    const made = decodeTyped(object, pod) as {
      metadata: JsonObject;
      spec: { containers: { resources: Json }[]; overhead: Json };
    };
    expect(made.metadata.creationTimestamp).toBe('2019-12-31T22:00:00Z');
    expect(made.spec.containers[0]?.resources).toEqual({ limits: { cpu: '500m', memory: '1536Mi' } });
    expect(made.spec.overhead).toEqual({ cpu: '1' });
  });

  test('a key that is no plain property survives', () => {
    const data = JSON.parse('{"__proto__":"x","constructor":"y"}') as JsonObject;
    expect(read({ data }, configMap)).toBe('{"metadata":{},"data":{"__proto__":"x","constructor":"y"}}');
    expect(decodeTyped(JSON.parse('{"__proto__":{"data":{"a":"b"}}}'), configMap)).toEqual({ metadata: {} });
  });
});

test('unknown fields are dropped and reported, in the order of the object', () => {
  const unknown: string[] = [];
  const object = { spec: { containers: [{ foo: 1, ports: [{ bar: 1 }] }], nope: {} }, Kind: 'x' };
  decodeTyped(object, pod, unknown);
  expect(unknown).toEqual(['spec.containers[0].foo', 'spec.containers[0].ports[0].bar', 'spec.nope', 'Kind']);
});

describe('an ill-typed field is refused in the words of Go', () => {
  test.each<[JsonObject, string]>([
    [{ spec: 'x' }, 'json: cannot unmarshal string into Go struct field Pod.spec of type v1.PodSpec'],
    [
      { spec: { containers: [{ ports: [{ protocol: 5 }] }] } },
      'json: cannot unmarshal number into Go struct field ContainerPort.spec.containers.ports.protocol of type v1.Protocol',
    ],
    [
      { spec: { containers: { a: 1 } } },
      'json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container',
    ],
    [
      { spec: { volumes: [{ hostPath: { path: 5 } }] } },
      'json: cannot unmarshal number into Go struct field HostPathVolumeSource.spec.volumes.VolumeSource.hostPath.path of type string',
    ],
    [
      { spec: { priority: 1.5 } },
      'json: cannot unmarshal number 1.5 into Go struct field PodSpec.spec.priority of type int32',
    ],
    [
      { spec: { overhead: { cpu: 'abc' } } },
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    [
      { metadata: { creationTimestamp: '2020-02-31T00:00:00Z' } },
      'parsing time "2020-02-31T00:00:00Z": day out of range',
    ],
    [
      { metadata: { labels: { a: 5 } } },
      'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string',
    ],
  ])('%j', (object, message) => {
    expect(() => decodeTyped(object, pod)).toThrow(new IllTypedError(message));
  });

  test('the first in the order of the object is reported', () => {
    expect(() => decodeTyped({ data: 5, immutable: 'x' }, configMap)).toThrow(/ConfigMap\.data/);
    expect(() => decodeTyped({ immutable: 'x', data: 5 }, configMap)).toThrow(/ConfigMap\.immutable/);
  });
});

/** Objects with the fields of a kind, well-typed or not. */
function valueFor(node: SchemaNode, depth: number): fc.Arbitrary<Json> {
  const { go } = node;
  const leaf = fc.oneof({ weight: 8, arbitrary: leafFor(go.is) }, { weight: 1, arbitrary: fc.constant<Json>(null) });
  if (depth === 0)
    return go.is === 'struct' || go.is === 'map'
      ? fc.constant<Json>({})
      : go.is === 'list'
        ? fc.constant<Json>([])
        : leaf;
  if (go.is === 'list') return fc.array(valueFor(node.items as SchemaNode, depth - 1), { maxLength: 2 });
  if (go.is === 'map')
    return fc.dictionary(fc.string({ maxLength: 3 }), valueFor(node.additionalProperties as SchemaNode, depth - 1), {
      maxKeys: 2,
    });
  if (go.is !== 'struct') return leaf;
  const names = [...go.fields.keys()];
  return fc.subarray(names, { maxLength: Math.min(4, names.length) }).chain((chosen) => {
    const fields = chosen.map((name) =>
      valueFor(node.properties?.[name] as SchemaNode, depth - 1).map((value) => [name, value] as const),
    );
    return fc.tuple(...fields).map((entries) => Object.fromEntries(entries) as Json);
  });
}

function leafFor(is: string): fc.Arbitrary<Json> {
  if (is === 'string') return fc.string({ maxLength: 4 });
  if (is === 'bool') return fc.boolean();
  if (is === 'int') return fc.integer();
  if (is === 'float') return fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (Object.is(n, -0) ? 0 : n));
  if (is === 'bytes') return fc.base64String({ maxLength: 8 });
  return fc.constantFrom<Json>('1', '2020-01-01T00:00:00.000000Z', {}, 5);
}

test('reading what was written changes nothing, whatever the object', () => {
  fc.assert(
    fc.property(valueFor(pod, 5), (object) => {
      let once: JsonObject;
      try {
        once = decodeTyped(object as JsonObject, pod);
      } catch (error) {
        return error instanceof IllTypedError;
      }
      const unknown: string[] = [];
      expect(JSON.stringify(decodeTyped(once, pod, unknown))).toBe(JSON.stringify(once));
      return unknown.length === 0;
    }),
    { numRuns: 300 },
  );
});

test('any JSON is read or refused', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom('spec', 'metadata', 'kind', 'status', '__proto__'), fc.jsonValue()),
      (object) => {
        try {
          decodeTyped(object as JsonObject, pod);
          return true;
        } catch (error) {
          return error instanceof IllTypedError;
        }
      },
    ),
  );
});
