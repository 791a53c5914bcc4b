import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CustomResourceDefinition } from 'riata/kinds';
import { defineKind } from 'riata/object';
import {
  crdsFromCluster,
  crdsFromDirectory,
  crdsToYaml,
  installCrds,
  kindFromCrd,
  typesFromCrds,
} from 'riata/patterns';
import { expect, test } from 'vitest';
import { describeServers, uniqueName } from './servers.js';

describeServers('types from definitions', (server) => {
  test('from a directory or a cluster come the same types; the kind works', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const group = `${uniqueName('g')}.riata.dev`;
    const Foo = defineKind({
      ...{ group, version: 'v1', kind: 'Foo' },
      spec: {
        type: 'object',
        required: ['a'],
        properties: { a: { type: 'string' }, n: { type: 'integer', default: 3 } },
      },
      status: { type: 'object', properties: { ready: { type: 'boolean' } } },
    });
    const folder = await mkdtemp(join(tmpdir(), 'riata-'));
    try {
      await writeFile(join(folder, 'foo.yaml'), await crdsToYaml([Foo]));
      await writeFile(join(folder, 'other.txt'), 'no: [yaml');
      const files = await crdsFromDirectory(folder);
      await installCrds(client, files);
      const live = await crdsFromCluster(client, { groups: [group] });
      expect(typesFromCrds(live)).toBe(typesFromCrds(files));
      const kind = kindFromCrd(live[0]!);
      const made = await client.create(kind({ metadata: { namespace, name: 'foo' }, spec: { a: 'x' } }));
      expect(made.spec).toEqual({ a: 'x', n: 3 });
    } finally {
      await rm(folder, { recursive: true });
      await client.delete(CustomResourceDefinition, { name: `foos.${group}` });
    }
  });
});
