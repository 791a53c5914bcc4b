import { readFile, writeFile } from 'node:fs/promises';
import { cached, control, createClient, defineKind, loadConfig, Manager, silentLogger } from 'riata';
import { Deployment, Namespace, Pod, SubjectAccessReview, TokenReview } from 'riata/kinds';
import { collectRbac, crdsToYaml, installCrds, objectsFromYaml, objectsToYaml, rbacManifests } from 'riata/patterns';
import { expect, test } from 'vitest';
import { z } from 'zod';

const Site = defineKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Site',
  spec: z.object({ image: z.string() }),
  status: z.object({ url: z.string() }),
});
const sites = control(Site, { sharded: true })
  .owns(Deployment)
  .reads(Pod)
  .reconcile(() => {});
const log = silentLogger;
const folder = new URL('../production/', import.meta.url);

test('rights', async () => {
  const rules = collectRbac([
    sites,
    { kind: TokenReview, verbs: ['create'] }, // for protected metrics
    { kind: SubjectAccessReview, verbs: ['create'] },
  ]);
  const manifests = rbacManifests(rules, { name: 'site-operator', namespace: 'site-operator' });
  const rights = await objectsToYaml(manifests);
  const definitions = await crdsToYaml([Site]);
  if (process.env.UPDATE_MANIFESTS) {
    await writeFile(new URL('rbac.yaml', folder), rights);
    await writeFile(new URL('crd.yaml', folder), definitions);
  }
  const stored = async (file: string) => objectsFromYaml(await readFile(new URL(file, folder), 'utf8'));
  expect(await stored('rbac.yaml')).toEqual(await objectsFromYaml(rights));
  expect(await stored('crd.yaml')).toEqual(await objectsFromYaml(definitions));
});

test('a replica', async () => {
  const config = await loadConfig();
  await using client = createClient(config);
  await client.create(Namespace({ metadata: { name: 'site-operator' } }));
  await installCrds(client, [Site]);
  const env = { HEALTH_PORT: '0', METRICS_PORT: '0' };
  await using manager = new Manager({
    config,
    leaderElection: { namespace: 'site-operator', name: 'site-operator' },
    sharding: { namespace: 'site-operator', name: 'site-operator-shards' }, // for controllers with sharded: true
    health: { port: Number(env.HEALTH_PORT) },
    metrics: { port: Number(env.METRICS_PORT), protected: true }, // npm install prom-client
    cache: {
      kinds: [
        cached(Pod, {
          labelSelector: 'app.kubernetes.io/managed-by=site-operator',
          transform: ({ spec, ...pod }) => ({ ...pod, spec: { nodeName: spec?.nodeName, containers: [] } }),
        }),
      ],
    },
    runtime: { log },
  });
  manager.add(sites);
  manager.addReadyzCheck('database', async () => {
    // throw while the database is unreachable
  });
  const stop = new AbortController();
  const ended = manager.run({ signal: stop.signal });
  await manager.elected;
  expect((await fetch(`${manager.urls['health probes']}/healthz`)).status).toBe(200);
  expect((await fetch(`${manager.urls.metrics}/metrics`)).status).toBe(401);
  stop.abort();
  expect((await ended).reason).toBe('stopped');
});
