import { control, defineKind, type KindOf } from 'riata';
import { ConfigMap } from 'riata/kinds';
import { z } from 'zod';

/** A web site. */
export const Site = defineKind({
  group: 'sites.example.com',
  version: 'v1',
  kind: 'Site',
  spec: z.object({ title: z.string() }),
  status: z.object({ url: z.string() }),
});
export interface Site extends KindOf<typeof Site> {}

/** Keeps a ConfigMap with the page of each Site. */
export const sites = control(Site)
  .owns(ConfigMap)
  .reconcile(async ({ object: site, apply, status }) => {
    const { name } = site.metadata;
    await apply(ConfigMap({ metadata: { name }, data: { 'index.html': `<h1>${site.spec.title}</h1>` } }));
    await status({ url: `https://${name}.example.com` });
  });
