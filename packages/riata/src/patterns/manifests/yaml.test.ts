import { expect, test } from 'vitest';
import { exportYaml, objectsFromYaml, objectsToYaml } from './yaml.js';

test('documents, empty ones and lists, in YAML and JSON', async () => {
  const text = `
apiVersion: v1
kind: ConfigMap
metadata: { name: a }
---
# nothing here
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Secret
  metadata: { name: b }
---
{"apiVersion": "v1", "kind": "ConfigMapList", "items": [{"metadata": {"name": "c"}}]}
`;
  const objects = await objectsFromYaml(text);
  expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
    'ConfigMap a',
    'Secret b',
    'ConfigMap c',
  ]);
});

test('values as Kubernetes reads them: octal modes, YAML 1.1 booleans, no times and no sixties', async () => {
  const text =
    'apiVersion: v1\nkind: X\nmetadata: {name: a}\nspec: {mode: 0644, on: on, at: 2001-01-01, span: 1:30, whole: 12}';
  expect(await objectsFromYaml(text)).toMatchObject([
    { spec: { mode: 420, true: true, at: '2001-01-01', span: '1:30', whole: 12 } },
  ]);
});

test('what is wrong is said without quoting the text', async () => {
  const bad = (text: string) => objectsFromYaml(text).catch((error: Error) => error.message);
  expect(await bad('a: b: hidden')).toMatch(/^YAML document 1: not valid YAML at line 1/);
  expect(await bad('a: [hidden')).not.toContain('hidden');
  expect(await bad('kind: X\n---\nkind: Y')).toBe(
    'YAML document 1: not a Kubernetes object, apiVersion, metadata is missing',
  );
  expect(await bad('- hidden')).toBe('YAML document 1: expected an object with apiVersion and kind');
  expect(await bad('apiVersion: v1\nkind: X\nmetadata: {}\nn: 9007199254740993')).toContain('above 2^53');
});

test('out and in again is the same', async () => {
  const objects = [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a' },
      data: { on: 'on', n: '0644', text: 'a\nb\n', t: '1:30' },
    },
    { apiVersion: 'v1', kind: 'X', metadata: { name: 'b' }, list: [1, { a: null }] },
  ];
  const text = await objectsToYaml(objects);
  expect(text).toContain('---\n');
  expect(await objectsFromYaml(text)).toEqual(objects);
});

test('an export has nothing that belongs to the server, a set or a tool', async () => {
  const text = await exportYaml([
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      data: { a: '1' },
      metadata: {
        ...{
          name: 'a',
          namespace: 'shop',
          uid: 'u',
          resourceVersion: '1',
          managedFields: [],
          creationTimestamp: 'now',
        },
        labels: { app: 'web', 'objectset.rio.cattle.io/hash': 'h' },
        annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}' },
      },
      status: { phase: 'x' },
    },
  ]);
  expect(text).toBe(
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: shop\n  labels:\n    app: web\ndata:\n  a: "1"\n',
  );
});
