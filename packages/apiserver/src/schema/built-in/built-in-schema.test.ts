import { applyStrategicMergePatch, type PatchSchema } from 'riata/object';
import { describe, expect, test } from 'vitest';
import { builtInGroupVersions } from '../../resource/built-in/built-in-resources.js';
import { builtInPatchSchema, builtInSchema } from './built-in-schema.js';
import type { SchemaNode } from './schema-node.js';

const pod = builtInSchema({ group: '', version: 'v1', kind: 'Pod' }) as SchemaNode;
const at = (root: SchemaNode, path: string) =>
  path.split('.').reduce<SchemaNode>((node, name) => {
    const next = name === '[]' ? node.items : name === '{}' ? node.additionalProperties : node.properties?.[name];
    if (next === undefined) throw new Error(`nothing at ${name} of ${path}`);
    return next;
  }, root);

describe('the schema of a built-in kind', () => {
  test('there is one for every kind and subresource, down to its last field', () => {
    const kinds = builtInGroupVersions().flatMap(({ resources }) => resources.flatMap((r) => [r, ...r.subresources]));
    const seen = new Set<unknown>();
    const odd: string[] = [];
    const walk = (node: SchemaNode, path: string) => {
      if (node.go.is === 'struct') {
        if (seen.has(node.go)) return;
        seen.add(node.go);
      }
      const open = node['x-kubernetes-preserve-unknown-fields'] || node['x-kubernetes-int-or-string'];
      if (node.type === undefined && !open) odd.push(path);
      for (const [name, child] of Object.entries(node.properties ?? {})) walk(child, `${path}.${name}`);
      if (node.items) walk(node.items, `${path}[]`);
      if (node.additionalProperties) walk(node.additionalProperties, `${path}{}`);
    };
    for (const { group, version, kind } of kinds) {
      const schema = builtInSchema({ group, version, kind });
      if (schema === undefined) odd.push(`${group}/${version}/${kind}`);
      else walk(schema, kind);
    }
    expect(odd).toEqual([]);
    expect(seen.size).toBeGreaterThan(600);
  });

  test('knows no other kinds', () => {
    expect(builtInSchema({ group: '', version: 'v1', kind: 'Deployment' })).toBeUndefined();
    expect(builtInSchema({ group: 'example.com', version: 'v1', kind: 'Pod' })).toBeUndefined();
    expect(builtInSchema({ group: '', version: 'v1', kind: '__proto__' })).toBeUndefined();
  });

  test.each([
    ['spec.containers', { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }],
    ['spec.containers', { patchStrategy: 'merge', patchMergeKey: 'name' }],
    [
      'spec.containers.[].ports',
      { 'x-kubernetes-list-map-keys': ['containerPort', 'protocol'], patchMergeKey: 'containerPort' },
    ],
    ['spec.containers.[].ports.[].protocol', { type: 'string', default: 'TCP' }],
    ['spec.containers.[].ports.[].containerPort', { type: 'integer', format: 'int32' }],
    ['spec.containers.[].args', { type: 'array', 'x-kubernetes-list-type': 'atomic' }],
    ['spec.containers.[].resources.limits', { type: 'object' }],
    ['spec.containers.[].resources.limits.{}', { 'x-kubernetes-int-or-string': true, format: 'quantity' }],
    ['spec.containers.[].livenessProbe.httpGet.port', { 'x-kubernetes-int-or-string': true }],
    ['spec.nodeSelector', { type: 'object', 'x-kubernetes-map-type': 'atomic' }],
    ['spec.volumes', { patchStrategy: 'merge,retainKeys', patchMergeKey: 'name' }],
    ['metadata.creationTimestamp', { type: 'string', format: 'date-time' }],
    ['metadata.finalizers', { 'x-kubernetes-list-type': 'set', patchStrategy: 'merge' }],
    ['metadata.managedFields.[].fieldsV1', { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }],
    ['spec.topologySpreadConstraints.[].labelSelector', { 'x-kubernetes-map-type': 'atomic' }],
  ])('Pod %s', (path, facts) => {
    const node = at(pod, path);
    for (const [name, value] of Object.entries(facts)) {
      expect([name, (node as unknown as Record<string, unknown>)[name]]).toEqual([name, value]);
    }
  });

  test('required fields are known', () => {
    expect(at(pod, 'spec').required).toEqual(['containers']);
    expect(pod.required).toBeUndefined();
  });

  test('recursive types have no end', () => {
    const crd = builtInSchema({
      group: 'apiextensions.k8s.io',
      version: 'v1',
      kind: 'CustomResourceDefinition',
    }) as SchemaNode;
    const path = `spec.versions.[].schema.openAPIV3Schema${'.properties.{}'.repeat(50)}.type`;
    expect(at(crd, path).type).toBe('string');
  });

  test('hostile names are no fields', () => {
    expect(pod.properties?.constructor).toBeUndefined();
    expect(Object.hasOwn(pod.properties ?? {}, 'toString')).toBe(false);
  });
});

describe('the patch schema of a built-in kind', () => {
  test('merges lists by their keys', () => {
    const schema = builtInPatchSchema({ group: '', version: 'v1', kind: 'Pod' }) as PatchSchema;
    const before = { spec: { containers: [{ name: 'a', image: '1', ports: [{ containerPort: 1 }] }] } };
    const patch = { spec: { containers: [{ name: 'b' }, { name: 'a', ports: [{ containerPort: 2 }] }] } };
    const after = applyStrategicMergePatch(before, patch, schema) as typeof before;
    expect(after.spec.containers.map((c) => c.name).sort()).toEqual(['a', 'b']);
    expect(after.spec.containers.find((c) => c.name === 'a')).toMatchObject({ image: '1' });
    expect(after.spec.containers.find((c) => c.name === 'a')?.ports).toHaveLength(2);
  });

  test('is there for built-in kinds only', () => {
    expect(builtInPatchSchema({ group: 'example.com', version: 'v1', kind: 'Foo' })).toBeUndefined();
  });
});
