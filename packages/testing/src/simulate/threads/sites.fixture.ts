import { defineSimulation } from '@riata/testing';
import { defineKind } from 'riata';
import { control } from 'riata/controller';
import { ConfigMap } from 'riata/kinds';
import { z } from 'zod';

const Site = defineKind({
  ...{ group: 'example.com', version: 'v1', kind: 'Site' },
  spec: z.object({ title: z.string() }),
});
const key = { namespace: 'default', name: 'blog' };
const sites = control(Site)
  .owns(ConfigMap)
  .reconcile(async ({ object: site, apply }) => {
    await apply(ConfigMap({ metadata: { name: site.metadata.name }, data: { 'index.html': site.spec.title } }));
  });

export const sitesSurvive = defineSimulation(
  {
    kinds: [Site],
    run: [sites],
    story: ({ client }) => client.create(Site({ metadata: key, spec: { title: 'Hello' } })),
  },
  { module: import.meta.url, export: 'sitesSurvive' },
);
