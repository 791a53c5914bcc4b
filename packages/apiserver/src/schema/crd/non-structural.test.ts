import { createClient } from 'riata';
import { CustomResourceDefinition } from 'riata/kinds';
import type { KubeObject } from 'riata/object';
import { collectedWarnings } from 'riata/rest';
import { VirtualClock } from 'riata/runtime';
import { expect, test } from 'vitest';
import { ApiServer } from '../../api-server.js';
import { MemoryStorage } from '../../storage/memory-storage.js';
import { nonStructural } from './non-structural.js';

const version = (openAPIV3Schema: object) => ({ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } });

test('why a schema is not structural', () => {
  expect(nonStructural({ versions: [version({ type: 'object' })] })).toBeUndefined();
  expect(nonStructural({ versions: [version({ properties: { a: {} } })] })).toEqual({
    status: 'True',
    reason: 'Violations',
    message:
      '[spec.versions[0].schema.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified ' +
      'object fields, spec.versions[0].schema.openAPIV3Schema.type: Required value: must not be empty at the root]',
  });
  expect(nonStructural({ preserveUnknownFields: true, versions: [version({ type: 'object' })] })).toMatchObject({
    message: 'spec.preserveUnknownFields: Invalid value: true: must be false',
  });
  expect(nonStructural({ versions: [version({ $ref: '#/x' })] })).toMatchObject({
    status: 'Unknown',
    reason: 'StructuralError',
    message: "failed to check validation schema for version v1: OpenAPIV3Schema '$ref' is not supported",
  });
});

test('a definition of earlier days that is found in the storage is served, and says what is wrong with it', async () => {
  const clock = new VirtualClock();
  const storage = new MemoryStorage({ clock });
  const names = { plural: 'widgets', kind: 'Widget', singular: 'widget', listKind: 'WidgetList' };
  storage.put('apiextensions.k8s.io/customresourcedefinitions', 'widgets.example.com', (revision) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: 'widgets.example.com',
      uid: 'u',
      resourceVersion: String(revision),
      generation: 1,
    } as KubeObject['metadata'],
    spec: {
      group: 'example.com',
      names,
      scope: 'Namespaced',
      preserveUnknownFields: true,
      conversion: { strategy: 'None' },
      versions: [version({ properties: { spec: { type: 'object' } } })],
    },
    status: { acceptedNames: names, storedVersions: ['v1'], conditions: [] },
  }));
  await using server = await ApiServer.start({ clock, storage });
  await using client = createClient(server.config, { runtime: { clock } });
  const found = await client.get(CustomResourceDefinition, { name: 'widgets.example.com' });
  expect(found.status?.conditions?.map(({ type, status }) => `${type} ${status}`)).toEqual([
    'NamesAccepted True',
    'Established True',
    'NonStructuralSchema True',
  ]);
  expect(found.status?.conditions?.[2]?.message).toContain('must not be empty at the root');
});

test('a format that says nothing is warned about', async () => {
  const clock = new VirtualClock();
  await using server = await ApiServer.start({ clock });
  const warningHandler = collectedWarnings();
  await using client = createClient(server.config, { runtime: { clock }, warningHandler });
  await client.create(
    CustomResourceDefinition({
      metadata: { name: 'as.example.com' },
      spec: {
        group: 'example.com',
        names: { plural: 'as', kind: 'A' },
        scope: 'Namespaced',
        versions: [version({ type: 'object', properties: { spec: { type: 'string', format: 'foo' } } })],
      },
    }),
  );
  expect(warningHandler.warnings.map(({ text }) => text)).toEqual(['unrecognized format "foo"']);
});
