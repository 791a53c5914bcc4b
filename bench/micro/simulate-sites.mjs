// What simulate.mjs simulates, in a module of its own, as worker threads import it.
import { defineSimulation } from '@riata/testing';
import { control } from 'riata/controller';
import { Deployment, Service } from 'riata/kinds';
import { defineKind } from 'riata/object';
import { z } from 'zod';

const Site = defineKind({
  ...{ group: 'example.com', version: 'v1', kind: 'Site' },
  spec: z.object({ image: z.string(), replicas: z.int().min(0).max(10).default(1) }),
  status: z.object({ replicas: z.int() }),
});

const controller = control(Site)
  .owns(Deployment)
  .owns(Service)
  .reconcile(async ({ object: site, apply, status }) => {
    const labels = { app: site.metadata.name };
    const metadata = { name: site.metadata.name };
    await apply(
      Deployment({
        metadata,
        spec: {
          replicas: site.spec.replicas,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: site.spec.image }] } },
        },
      }),
    );
    await apply(Service({ metadata, spec: { selector: labels, ports: [{ port: 80 }] } }));
    await status({ replicas: site.spec.replicas });
  });

const key = { namespace: 'default', name: 'shop' };
const story = async ({ client }) => {
  await client.create(Site({ metadata: key, spec: { image: 'example.com/shop:1' } }));
  await client.patch(Site, key, { type: 'merge', body: { spec: { replicas: 2 } } });
  await client.delete(Site, key);
};

export const sites = defineSimulation(
  { kinds: [Site], run: [controller], story },
  { module: import.meta.url, export: 'sites' },
);
