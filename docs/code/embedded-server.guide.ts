import { ApiServer, adminKubeconfig } from '@riata/apiserver';
import { Sandbox } from '@riata/sandbox';
import { createClient, type RestConfig, VirtualClock } from 'riata';
import { ConfigMap, Deployment } from 'riata/kinds';
import { computeStatus } from 'riata/patterns';
import { seededRandom } from 'riata/runtime';
import { expect, test, vi } from 'vitest';

test('what my program does', async () => {
  await using server = await ApiServer.start();
  await myProgram(server.config);

  await using client = createClient(server.config);
  const settings = await client.get(ConfigMap, { namespace: 'default', name: 'settings' });
  expect(settings.data).toEqual({ colour: 'green' });
});

async function myProgram(config: RestConfig): Promise<void> {
  await using client = createClient(config);
  const settings = ConfigMap({ metadata: { namespace: 'default', name: 'settings' }, data: { colour: 'green' } });
  await client.apply(settings, { fieldManager: 'my-program' });
}

test('over HTTPS', async () => {
  await using server = await ApiServer.start();
  const { url, ca } = await server.listen({ port: 0 }); // HTTPS on 127.0.0.1
  const kubeconfig = adminKubeconfig({ url, ca, token: server.token }); // a kubeconfig file for kubectl
  expect(kubeconfig).toContain(url);
});

test('time and chance', async () => {
  const clock = new VirtualClock();
  await using server = await ApiServer.start({ clock, random: seededRandom(1) });
  const late = server.connect({ faults: ({ watch }) => (watch ? { eventDelayMs: 5_000 } : { delayMs: 100 }) });
  await using client = createClient(late, { runtime: { clock } });
  const [made] = await Promise.all([
    client.create(ConfigMap({ metadata: { namespace: 'default', name: 'a' } })),
    clock.advance(1_000), // no real time passes
  ]);
  await server.restart({ downMs: 0 }); // connections are cut, objects are kept
  expect(made.metadata.name).toBe('a');
});

const labels = { app: 'web' };
const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'nginx' }] } };

test('a Deployment rolls out', async () => {
  await using sandbox = await Sandbox.start({ nodes: 3 });
  const { client } = sandbox;
  const key = { namespace: 'default', name: 'web' };
  await client.create(
    Deployment({ metadata: key, spec: { replicas: 3, selector: { matchLabels: labels }, template } }),
  );
  await vi.waitFor(async () => {
    expect(computeStatus(await client.get(Deployment, key)).status).toBe('Current');
  }, 45_000);
});
