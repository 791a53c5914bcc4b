import { ApiServer } from '@riata/apiserver';
import { type Client, createClient, loadConfig, type RestConfig, silentLogger } from 'riata';
import { ConfigMap, Namespace, Pod } from 'riata/kinds';
import { SharedControllerFactory } from 'riata/shared';
import { expect, test, vi } from 'vitest';
import { restartFrontends } from './main.js';

/** On the real server where there is one (`npm run test:real`), else on the embedded one. */
async function onServer(run: (config: RestConfig) => Promise<void>): Promise<void> {
  if (process.env.RIATA_CONTROL_PLANE !== undefined) return run(await loadConfig());
  await using server = await ApiServer.start();
  await run(server.config);
}

/** Runs the program while `run` runs, which can wait until the ConfigMap was looked at. */
async function restarting(config: RestConfig, key: Key, run: (looked: () => Promise<void>) => Promise<void>) {
  const stop = new AbortController();
  const { signal } = stop;
  const runtime = { log: silentLogger };
  const cacheDefaults = { namespaces: [key.namespace] };
  await using factory = await SharedControllerFactory.fromConfig(config, { cacheDefaults, runtime });
  restartFrontends(factory, key, { signal });
  // Handlers run one after the other: this one when that of the program is done.
  const after = vi.fn();
  factory.forKind(ConfigMap).registerHandler('after', (changed) => void after(changed), { signal });
  const running = factory.run({ signal });
  try {
    await run(() => vi.waitFor(() => expect(after).toHaveBeenCalledWith(`${key.namespace}/${key.name}`), 20_000));
  } finally {
    stop.abort();
    await running;
  }
}

test('a change restarts the frontend, a restart of the program does not, and nothing is missed', async () => {
  await onServer(async (config) => {
    await using client = createClient(config);
    const { metadata } = await client.create(Namespace({ metadata: { generateName: 'frontend-restarter-' } }));
    const namespace = metadata.name;
    const key = { namespace, name: 'frontend' };
    const change = (color: string) => client.patch(ConfigMap, key, { type: 'merge', body: { data: { color } } });
    await client.create(ConfigMap({ metadata: key, data: { color: 'red' } }));
    await startPod(client, namespace, 'web', 'frontend');
    await startPod(client, namespace, 'db', 'backend');

    await restarting(config, key, async (looked) => {
      await looked();
      expect(await podsOf(client, namespace)).toEqual(['db', 'web']);
      const before = await handledHash(client, key);
      await change('blue');
      await vi.waitFor(async () => expect(await handledHash(client, key)).not.toBe(before), 20_000);
      expect(await podsOf(client, namespace)).toEqual(['db']);
    });

    // The Deployment has started it anew, and nothing has changed since.
    await startPod(client, namespace, 'web', 'frontend');
    await restarting(config, key, async (looked) => {
      await looked();
      expect(await podsOf(client, namespace)).toEqual(['db', 'web']);
    });

    // While nobody runs, something else of the ConfigMap changes, and then its data.
    await client.patch(ConfigMap, key, { type: 'merge', body: { metadata: { labels: { seen: 'yes' } } } });
    await restarting(config, key, async (looked) => {
      await looked();
      expect(await podsOf(client, namespace)).toEqual(['db', 'web']);
    });
    await change('green');
    await restarting(config, key, async (looked) => {
      await looked();
      expect(await podsOf(client, namespace)).toEqual(['db']);
    });
  });
});

type Key = { readonly namespace: string; readonly name: string };

async function handledHash(client: Client, key: Key): Promise<string | undefined> {
  return (await client.get(ConfigMap, key)).metadata.annotations?.['frontend-restarter.riata.dev/handled'];
}

async function startPod(client: Client, namespace: string, name: string, app: string): Promise<void> {
  const spec = { terminationGracePeriodSeconds: 0, containers: [{ name: 'main', image: 'main:1' }] };
  await client.create(Pod({ metadata: { namespace, name, labels: { app } }, spec }));
}

async function podsOf(client: Client, namespace: string): Promise<string[]> {
  return (await client.list(Pod, { namespace })).items.map(({ metadata }) => metadata.name).sort();
}
