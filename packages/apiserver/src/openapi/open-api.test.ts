import '../resource/kind-parts.fixture.js';
import type { JsonObject } from 'riata/object';
import { expect, test } from 'vitest';
import { builtInResources } from '../resource/built-in/built-in-resource.js';
import { customResources } from '../resource/custom/custom-resources.js';
import { ServedResources } from '../resource/resource-table.js';
import { OpenApi } from './open-api.js';

const clock = { yield: async () => {} };

function definition(properties: JsonObject) {
  const schema = { openAPIV3Schema: { type: 'object', description: 'A widget.', properties } };
  const names = { plural: 'widgets', kind: 'Widget', listKind: 'WidgetList' };
  const versions = [{ name: 'v1', served: true, storage: true, schema }];
  return customResources({ spec: { group: 'example.com', scope: 'Namespaced', names, versions } });
}

async function pathsOf(documents: OpenApi): Promise<Record<string, { serverRelativeURL: string }>> {
  return JSON.parse((await documents.index()).text).paths;
}

test('definitions are published as soon as they are served, under another hash for other contents', async () => {
  const served = new ServedResources(builtInResources());
  const documents = new OpenApi(served, clock);
  const path = 'apis/example.com/v1';
  expect(documents.has(path)).toBe(false);
  served.setCustom('widgets.example.com', definition({ spec: { type: 'object', description: 'What is wanted.' } }));
  const before = await pathsOf(documents);
  const document = documents.version3(path);
  expect(before[path]?.serverRelativeURL).toBe(`/openapi/v3/${path}?hash=${document.hash}`);
  const widget = JSON.parse(document.text).components.schemas['com.example.v1.Widget'];
  expect(widget.description).toBe('A widget.');
  expect(widget.properties.spec.description).toBe('What is wanted.');
  served.setCustom('widgets.example.com', definition({ spec: { type: 'object' }, status: { type: 'object' } }));
  const after = await pathsOf(documents);
  expect(after[path]).not.toEqual(before[path]);
  expect(after['apis/apps/v1']).toEqual(before['apis/apps/v1']);
  served.setCustom('widgets.example.com', []);
  expect(Object.keys(await pathsOf(documents))).not.toContain(path);
});

test('every reference leads somewhere', async () => {
  const documents = new OpenApi(new ServedResources(builtInResources()), clock);
  const version2 = (await documents.version2()).text;
  const version3 = Object.keys(await pathsOf(documents)).map((path) => documents.version3(path).text);
  for (const text of [version2, ...version3]) {
    const document = JSON.parse(text);
    const known = new Set(Object.keys(document.definitions ?? document.components.schemas));
    const refs = [...text.matchAll(/"\$ref":"#\/(?:definitions|components\/schemas)\/([^"]+)"/g)].map((m) => m[1]);
    expect(refs.filter((name) => !known.has(name as string))).toEqual([]);
  }
});

test('what clients look for: merge keys, lists, kinds, values and parameters', () => {
  const documents = new OpenApi(new ServedResources(builtInResources()), clock);
  const { paths, components } = JSON.parse(documents.version3('apis/apps/v1').text);
  const pod = components.schemas['io.k8s.api.core.v1.PodSpec'].properties;
  expect(pod.containers).toMatchObject({
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
    'x-kubernetes-patch-merge-key': 'name',
    'x-kubernetes-patch-strategy': 'merge',
  });
  expect(pod.restartPolicy.enum).toEqual(['Always', 'Never', 'OnFailure']);
  const { patch } = paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}'];
  expect(patch['x-kubernetes-group-version-kind']).toEqual({ group: 'apps', version: 'v1', kind: 'Deployment' });
  const names = patch.parameters.map(({ name }: { name: string }) => name);
  expect(names).toEqual(['dryRun', 'fieldManager', 'fieldValidation', 'force']);
});
