import fc from 'fast-check';
import { type PatchNode, patchSchema } from './patch-schema.js';

const byKey = (patchMergeKey: string, items?: string): PatchNode => ({ patchStrategy: 'merge', patchMergeKey, items });

/** Hand-written parts of built-in types, as OpenAPI describes them. */
export const types: Readonly<Record<string, PatchNode>> = {
  Pod: { fields: { metadata: 'ObjectMeta', spec: 'PodSpec', status: { fields: { conditions: byKey('type') } } } },
  ObjectMeta: { fields: { finalizers: { patchStrategy: 'merge' }, ownerReferences: byKey('uid') } },
  PodSpec: {
    fields: {
      containers: byKey('name', 'Container'),
      volumes: { patchStrategy: 'merge,retainKeys', patchMergeKey: 'name' },
      imagePullSecrets: byKey('name'),
    },
  },
  Container: { fields: { env: byKey('name'), ports: byKey('containerPort') } },
  Deployment: {
    fields: {
      metadata: 'ObjectMeta',
      spec: { fields: { strategy: { patchStrategy: 'retainKeys' }, template: 'Pod' } },
    },
  },
  Service: { fields: { spec: { fields: { ports: byKey('port') } } } },
  // No built-in type has these two: an object that is replaced whole, and a map of lists.
  Odd: {
    fields: {
      whole: { patchStrategy: 'replace' },
      byZone: { values: byKey('name') },
      objects: { patchStrategy: 'merge' },
      self: 'Odd',
    },
  },
};

export const podSchema = patchSchema('Pod', types);
export const deploymentSchema = patchSchema('Deployment', types);
export const serviceSchema = patchSchema('Service', types);
export const oddSchema = patchSchema('Odd', types);

const text = fc.constantFrom('1', '2');
const labels = fc.dictionary(fc.constantFrom('a', 'b', 'constructor', 'toString'), text);
const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });

function keyed<T extends object>(key: string, values: readonly unknown[], rest: fc.Arbitrary<T>) {
  return fc
    .tuple(fc.shuffledSubarray([...values]), fc.array(rest, { minLength: values.length, maxLength: values.length }))
    .map(([keys, rests]) => keys.map((value, i) => ({ [key]: value, ...rests[i] })));
}

const container = fc.record({
  image: text,
  args: optional(fc.array(text, { maxLength: 3 })),
  env: optional(keyed('name', ['A', 'B', '__proto__'], fc.record({ value: text }))),
  ports: optional(
    keyed('containerPort', [80, 443, 8080], fc.record({ protocol: optional(fc.constantFrom('TCP', 'UDP')) })),
  ),
});

const volume = fc.oneof(
  fc.record({ emptyDir: fc.constantFrom({}, { medium: 'Memory' }) }),
  fc.record({ configMap: fc.record({ name: text }) }),
);

/** Pods with merged lists in every state. */
export const anyPod: fc.Arbitrary<object> = fc
  .record({
    metadata: fc.record({
      labels: optional(labels),
      finalizers: optional(fc.shuffledSubarray(['f1', 'f2', 'f3'])),
      ownerReferences: optional(keyed('uid', ['u1', 'u2'], fc.record({ name: text }))),
    }),
    spec: fc.record({
      containers: keyed('name', ['c1', 'c2', 'c3', 'constructor'], container),
      volumes: optional(keyed('name', ['v1', 'v2'], volume)),
      nodeSelector: optional(labels),
      tolerations: optional(fc.array(fc.record({ key: text }), { maxLength: 2 })),
    }),
  })
  .map((pod) => JSON.parse(JSON.stringify(pod)) as object);
