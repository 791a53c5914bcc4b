#!/usr/bin/env node
// @ts-check
/**
 * Prints a hash of all that one simulation does: the history of its run without faults, what every single fault reached,
 * and the shrunk story of a controller with a bug. `npm run test:packed` compares it between versions of Node. By hand,
 * after `npm run build`: `npx node@22 tools/packed/simulate-hash.mjs`.
 */
import { createHash } from 'node:crypto';
import { simulate } from '@riata/testing';
import { control } from 'riata/controller';
import { ConfigMap, Deployment } from 'riata/kinds';
import { defineKind, setControllerReference } from 'riata/object';
import { z } from 'zod';

const Site = defineKind({
  ...{ group: 'example.com', version: 'v1', kind: 'Site' },
  spec: z.object({ image: z.string(), replicas: z.int().min(0).max(10).default(1) }),
  status: z.object({ replicas: z.int() }),
});
const key = { namespace: 'default', name: 'shop' };

/** @param {import('@riata/testing').StoryContext} story */
async function story({ client }) {
  await client.create(Site({ metadata: key, spec: { image: 'example.com/shop:1' } }));
  await client.patch(Site, key, { type: 'merge', body: { spec: { replicas: 2 } } });
  await client.delete(Site, key);
}

const sites = control(Site)
  .owns(Deployment)
  .reconcile(async ({ object: site, apply, status }) => {
    const labels = { app: site.metadata.name };
    const template = {
      metadata: { labels },
      spec: { containers: [{ name: 'web', image: site.spec.image }] },
    };
    const { replicas } = site.spec;
    const spec = { replicas, selector: { matchLabels: labels }, template };
    await apply(Deployment({ metadata: { name: site.metadata.name }, spec }));
    await status({ replicas });
  });

/** Creates a second ConfigMap if it dies between its two writes. */
const faulty = control(Site, { name: 'faulty' }).reconcile(async ({ object, client, status }) => {
  if (object.status?.replicas === undefined) {
    const page = ConfigMap({ metadata: { namespace: 'default', generateName: 'page-' } });
    await client.create(setControllerReference(object, page));
  }
  await status({ replicas: object.spec.replicas });
});

const report = await simulate({ kinds: [Site], run: [sites], story, seed: 7, pairs: 3, random: 3 });
const found = await simulate({ kinds: [Site], run: [faulty], story, seed: 7 }).then(
  () => 'nothing',
  (error) => String(error.message),
);
if (!found.includes('same end state')) throw new Error(`the bug was not found: ${found}`);
console.log(createHash('sha256').update(`${report.hash}\n${report}\n${found}`).digest('hex'));
