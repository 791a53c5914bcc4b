// biome-ignore-all lint/suspicious/noConsole: code in guides prints.
import { TestEnvironment } from '@riata/testing';
import {
  control,
  createClient,
  defineKind,
  isNotFound,
  listWatch,
  loadConfig,
  SharedIndexInformer,
  silentLogger,
  WorkQueue,
} from 'riata';
import { ConfigMap, Deployment, Pod } from 'riata/kinds';
import { Apply, Controllers, installCrds, registerGeneratingHandler } from 'riata/patterns';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { runningPod } from './cluster.js';

const printed = vi.spyOn(console, 'log').mockImplementation(() => {});

const Site = defineKind({
  group: 'migrating-guide.riata.dev',
  version: 'v1',
  kind: 'Site',
  spec: z.object({ image: z.string() }),
  status: z.object({ available: z.int() }),
});

const sites = control(Site)
  .owns(Deployment)
  .reconcile(async ({ object: site, apply, status }) => {
    const labels = { site: site.metadata.name };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: site.spec.image }] } };
    const deployment = await apply(
      Deployment({ metadata: { name: site.metadata.name }, spec: { selector: { matchLabels: labels }, template } }),
    );
    await status({ available: deployment.status.availableReplicas ?? 0 });
  });

test('from controller-runtime', async () => {
  await using env = await TestEnvironment.start({ kinds: [Site] });
  await env.run(sites);
  const key = { namespace: 'default', name: 'blog' };
  await env.client.create(Site({ metadata: key, spec: { image: 'nginx' } }));
  await env.expectConverged();
  expect((await env.client.get(Deployment, key)).metadata.ownerReferences?.[0]?.kind).toBe('Site');
});

test('from client-go', async () => {
  const stop = new AbortController();
  const { signal } = stop;
  const log = silentLogger;
  const reconcile = async (key: string) => {
    if (key !== 'default/migrated') return;
    console.log(key);
    queue.shutDown();
  };
  await using client = createClient(await loadConfig());
  const informer = new SharedIndexInformer(listWatch(client, Pod), { kind: Pod });
  const queue = new WorkQueue({ name: 'pods' });
  informer.addEventHandler({ onChange: ({ key }) => queue.add(key) });
  void informer.run({ signal });
  await informer.synced({ signal });
  await client.create(runningPod('default', 'migrated'));
  for await (const { key } of queue) {
    try {
      await reconcile(key);
      queue.forget(key);
    } catch (error) {
      log.error('processing failed, retrying', { key, error });
      queue.addRateLimited(key);
    }
  }
  stop.abort();
  expect(printed).toHaveBeenCalledWith('default/migrated');
});

test('from wrangler', async () => {
  const stop = new AbortController();
  const { signal } = stop;
  const runtime = { log: silentLogger };
  const config = await loadConfig();
  await using client = createClient(config);
  await installCrds(client, [Site]);
  await using controllers = await Controllers.fromConfig(config, { runtime });
  const sites = controllers.for(Site);
  const apply = new Apply(controllers.factory.clients.client);

  sites.onChange('greet', (key, site) => void console.log(key, site?.spec.image), { signal });
  registerGeneratingHandler(sites, apply, { name: 'site', condition: 'Deployed', signal }, (site) => ({
    objects: [ConfigMap({ metadata: { name: site.metadata.name }, data: { image: site.spec.image } })],
  }));
  await controllers.start({ workers: 5, signal });
  const key = { namespace: 'default', name: 'shop' };
  await client.create(Site({ metadata: key, spec: { image: 'nginx' } }));
  await vi.waitFor(async () => expect((await client.get(ConfigMap, key)).data?.image).toBe('nginx'), 45_000);
  expect(printed).toHaveBeenCalledWith('default/shop', 'nginx');
  stop.abort();
});

test('from client-node', async () => {
  await using client = createClient(await loadConfig());
  const { items } = await client.list(Pod, { namespace: 'default' });
  const map = ConfigMap({ metadata: { namespace: 'default', name: 'greeting' }, data: { text: 'hello' } });
  try {
    await client.get(ConfigMap, { namespace: 'default', name: 'greeting' });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    await client.create(map);
  }
  const patch = { type: 'merge', body: { data: { text: 'good morning' } } } as const;
  await client.patch(ConfigMap, { namespace: 'default', name: 'greeting' }, patch);
  expect(items).toBeDefined();
  expect((await client.get(ConfigMap, { namespace: 'default', name: 'greeting' })).data?.text).toBe('good morning');

  const stop = new AbortController();
  const informer = new SharedIndexInformer(listWatch(client, ConfigMap, { namespace: 'default' }));
  informer.addEventHandler({
    onAdd: (map) => console.log('added', map.metadata.name),
    onUpdate: (_old, map) => console.log('updated', map.metadata.name),
    onDelete: () => console.log('deleted'),
  });
  const running = informer.run({ signal: stop.signal }); // survives errors; nothing to restart
  await vi.waitFor(() => expect(printed).toHaveBeenCalledWith('added', 'greeting'), 45_000);
  stop.abort();
  await running;
});
