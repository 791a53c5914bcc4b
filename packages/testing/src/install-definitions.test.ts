import { ApiServer } from '@riata/apiserver';
import { createClient } from 'riata';
import { ConfigMap, CustomResourceDefinition } from 'riata/kinds';
import { silentLogger } from 'riata/runtime';
import { expect, test } from 'vitest';
import { installDefinitions } from './install-definitions.js';
import { TestEnvironment } from './test-environment.js';
import { Widget, widget } from './widget.fixture.js';

const runtime = { log: silentLogger };
const crd = Widget.crd();
const { name } = crd.metadata;

test('a definition that is being deleted is awaited, and created again', async () => {
  await using server = await ApiServer.start(runtime);
  await using client = createClient(server.config, { runtime });
  const kept = { ...crd, metadata: { name, finalizers: ['example.com/kept'] } };
  const { metadata } = await client.create(CustomResourceDefinition(kept as never));
  await client.delete(CustomResourceDefinition, { name });
  let waits = 0;
  const made = await installDefinitions(client, [crd], async (probe) => {
    while (!(await probe())) {
      waits += 1;
      const body = { metadata: { finalizers: null } };
      if (waits === 2) await client.patch(CustomResourceDefinition, { name }, { type: 'merge', body });
      await server.idle();
    }
  });
  expect(waits).toBeGreaterThan(1);
  expect(made).toEqual([crd]);
  const stored = await client.get(CustomResourceDefinition, { name });
  expect([stored.metadata.deletionTimestamp, stored.metadata.uid === metadata.uid]).toEqual([undefined, false]);
  expect((await client.create(widget('w'))).spec).toEqual({ size: 1 });
});

test('one that is refused is an error at once', async () => {
  await using server = await ApiServer.start(runtime);
  await using client = createClient(server.config, { runtime });
  const wrong = { ...crd, metadata: { name: 'other' } };
  const once = async (probe: () => Promise<boolean>) => expect(await probe()).toBe(true);
  await expect(installDefinitions(client, [wrong], once)).rejects.toThrow('must be spec.names.plural+"."+spec.group');
});

test('a kind without a definition is refused by name', async () => {
  const kinds = [ConfigMap] as never;
  await expect(TestEnvironment.start({ server: 'in-process', kinds })).rejects.toThrow(
    'expected kinds of defineKind, and CustomResourceDefinitions; ConfigMap is neither, and built-in kinds are served anyway',
  );
});
