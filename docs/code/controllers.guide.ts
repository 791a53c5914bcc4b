import { TestEnvironment } from '@riata/testing';
import {
  control,
  defineKind,
  generationChanged,
  type KindOf,
  loadConfig,
  Manager,
  silentLogger,
  TerminalError,
} from 'riata';
import { cronSource } from 'riata/controller';
import { Deployment, Secret } from 'riata/kinds';
import { installCrds } from 'riata/patterns';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';

const Site = defineKind({
  group: 'controllers-guide.riata.dev',
  version: 'v1',
  kind: 'Site',
  spec: z.object({ image: z.string(), secretName: z.string().optional(), replicas: z.int().min(0).default(1) }),
  status: z.object({ availableReplicas: z.int() }),
});
interface Site extends KindOf<typeof Site> {}

const buckets = { removed: [] as string[], remove: async (uid: string) => void buckets.removed.push(uid) };

const sites = control(Site)
  .owns(Deployment)
  .watches(Secret, { referencedBy: (site) => site.spec.secretName })
  .finalize(({ object: site }) => buckets.remove(site.metadata.uid))
  .reconcile(async ({ object: site, client, apply, status, event, log }) => {
    const { namespace, name } = site.metadata;
    const { secretName } = site.spec;
    if (secretName !== undefined && !(await client.find(Secret, { namespace, name: secretName }))) {
      event({ type: 'Warning', reason: 'NoSecret', message: `waiting for Secret ${secretName}` });
      return; // the watch enqueues the Site when the Secret is created
    }
    const deployment = await apply(Deployment({ metadata: { name }, spec: podsFor(site) }));
    await status({ availableReplicas: deployment.status.availableReplicas ?? 0 });
    log.info('done', { replicas: site.spec.replicas });
    return { requeueAfter: '10m' };
  });

function podsFor(site: Site) {
  const labels = { site: site.metadata.name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: site.spec.image }] } };
  return { replicas: site.spec.replicas, selector: { matchLabels: labels }, template };
}

const careful = control(Site, {
  name: 'careful',
  concurrency: 10, // keys at once; one key never runs twice at the same time
  timeout: '1m',
  backoff: (_error, attempt) => (attempt > 5 ? '5m' : undefined),
  fairness: 'namespace',
  predicates: [generationChanged],
})
  .source(() => cronSource('0 3 * * *', [{ namespace: 'shop', name: 'blog' }]))
  .reconcile(({ object: site }) => {
    if (site.spec.image === '') throw new TerminalError('spec.image is empty'); // not retried until the Site changes
  });

test('controllers', async () => {
  await using env = await TestEnvironment.start({ kinds: [Site] });
  const key = { namespace: 'default', name: 'blog' };
  await env.run(sites);
  const { client } = env;
  await client.create(Site({ metadata: key, spec: { image: 'nginx', secretName: 'keys' } }));
  await env.settle();
  expect(await client.find(Deployment, key)).toBeUndefined();
  await client.create(Secret({ metadata: { namespace: 'default', name: 'keys' } }));
  await env.settle();
  expect((await client.get(Deployment, key)).spec?.replicas).toBe(1);
  await env.expectConverged();
  await client.delete(Site, key);
  await env.settle();
  expect(buckets.removed).toHaveLength(1);
});

test('managers', async () => {
  const log = silentLogger;
  const stop = new AbortController();
  const config = await loadConfig();
  await using manager = new Manager({
    config,
    leaderElection: { namespace: 'default', name: 'sites' },
    health: { port: 0 }, // a free port; 8081 is usual in a cluster
    runtime: { log },
  });
  await installCrds(manager.connection, [Site]);
  manager.add(sites);
  manager.add(careful);
  manager.add({ name: 'greeter', run: async () => log.info('hello') }); // any other runnable
  const ended = manager.run({ signal: stop.signal });
  await manager.elected; // this replica leads
  const { client } = manager;
  const key = { namespace: 'default', name: 'blog' };
  await client.create(Site({ metadata: key, spec: { image: 'nginx' } }));
  await vi.waitFor(() => client.get(Deployment, key), 45_000);
  expect(manager.urls['health probes']).toMatch(/^http:/);
  // A reconcile is recorded when it has ended, which is after its writes.
  await vi.waitFor(() => expect(manager.explain.map(({ controller }) => controller)).toContain('site'), 45_000);
  for (const { controller, key, reasons, writes } of manager.explain) log.info(controller, { key, reasons, writes });
  const added = manager.add(control(Site, { name: 'notes' }).reconcile(({ log }) => log.info('old code')));
  await added.replace(control(Site, { name: 'notes' }).reconcile(({ log }) => log.info('new code')));
  await vi.waitFor(() => expect(manager.explain.map(({ controller }) => controller)).toContain('notes'), 45_000);
  stop.abort();
  expect((await ended).reason).toBe('stopped');
});
