import { fromSchema, simulate } from '@riata/testing';
import { defineKind } from 'riata';
import { control } from 'riata/controller';
import { ConfigMap } from 'riata/kinds';
import { expect, test } from 'vitest';
import { z } from 'zod';

const Site = defineKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Site',
  spec: z.object({ title: z.string() }),
  status: z.object({ page: z.string() }),
});

const sites = control(Site)
  .owns(ConfigMap)
  .reconcile(async ({ object: site, apply, status }) => {
    const page = await apply(
      ConfigMap({ metadata: { name: site.metadata.name }, data: { 'index.html': site.spec.title } }),
    );
    await status({ page: page.metadata.name });
  });

const site = Site({ metadata: { namespace: 'default', name: 'blog' }, spec: { title: 'Hello' } });
const key = { namespace: 'default', name: 'blog' };

test('sites survive anything', async () => {
  await simulate({
    kinds: [Site],
    run: [sites],
    story: async ({ client }) => {
      await client.create(site);
      await client.patch(Site, key, { type: 'merge', body: { spec: { title: 'Bye' } } });
      await client.delete(Site, key);
    },
    runs: 20,
  });
});

test('every change of a site can be undone', async () => {
  const report = await simulate({
    kinds: [Site],
    run: [sites],
    story: ({ client }) => client.create(site),
    changes: fromSchema(Site),
    faults: [], // changes alone
  });
  expect([...report.changes.keys()]).toContain('Site spec.title = ""');
});

test('a bucket is never lost, and every site has a page before it is ready', async () => {
  const Bucket = defineKind({
    group: 'example.com',
    version: 'v1',
    kind: 'Bucket',
    spec: z.object({ region: z.string() }),
    status: z.object({ url: z.string() }),
  });

  /** A cloud in memory. */
  type Cloud = Record<string, string>;

  const buckets = (cloud: Cloud) =>
    control(Bucket)
      .finalize(({ object }) => {
        delete cloud[object.metadata.name];
      })
      .reconcile(async ({ object, status }) => {
        const { name } = object.metadata;
        cloud[name] ??= object.spec.region;
        await status({ url: `https://${name}.example.com` });
      });

  const report = await simulate<Cloud>({
    kinds: [Bucket],
    world: () => ({}),
    run: ({ world }) => [buckets(world)],
    story: ({ client }) =>
      client.create(Bucket({ metadata: { namespace: 'default', name: 'logs' }, spec: { region: 'eu' } })),
    always: [
      ({ view, world }) => view.list(Bucket).every(({ metadata, status }) => !status?.url || world[metadata.name]),
    ],
    atTheEnd: [({ world }) => Object.keys(world).length === 0 || 'a bucket is left in the cloud'],
    runs: 20,
  });
  expect(report.runs).toBeGreaterThan(20);
});
