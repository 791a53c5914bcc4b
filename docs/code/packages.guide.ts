// biome-ignore-all lint/suspicious/noConsole: code in guides prints.
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ApiServer, randomFaults } from '@riata/apiserver';
import { Sandbox } from '@riata/sandbox';
import { TestEnvironment } from '@riata/testing';
import { createClient, defineKind, loadConfig, VirtualClock } from 'riata';
import { ConfigMap, Deployment, Namespace, Pod } from 'riata/kinds';
import { installCrds } from 'riata/patterns';
import { seededRandom } from 'riata/runtime';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { Foo, foos } from '../../examples/sample-controller/main.js';
import { runningPod } from './cluster.js';

const log = vi.spyOn(console, 'log').mockImplementation(() => {});

/** The object that both programs create. */
const prices = { namespace: 'shop', name: 'prices' };

test('riata', async () => {
  await using admin = createClient(await loadConfig());
  await admin.apply(Namespace({ metadata: { name: 'shop' } }), { fieldManager: 'me' });
  const web = runningPod('shop', 'web-1');
  await admin.create(Pod({ ...web, metadata: { ...web.metadata, labels: { app: 'web' } } }));
  {
    await using client = createClient(await loadConfig());
    for await (const pod of client.each(Pod, { labelSelector: 'app=web' })) console.log(pod.metadata.name);
    await client.apply(ConfigMap({ metadata: { namespace: 'shop', name: 'prices' }, data: { apple: '1' } }), {
      fieldManager: 'me',
    });
  }
  expect(log).toHaveBeenCalledWith('web-1');
  expect((await admin.get(ConfigMap, prices)).data?.apple).toBe('1');
  await admin.delete(ConfigMap, prices);
});

test('@riata/apiserver', async () => {
  await using server = await ApiServer.start();
  const client = createClient(server.config);
  expect((await client.list(Namespace)).items.length).toBeGreaterThan(0);
  await client.close();
});

test('@riata/apiserver in tests', async () => {
  const clock = new VirtualClock();
  await using server = await ApiServer.start({ clock, random: seededRandom(1) });

  // Faults per client: late, refused, cut off, half-open, answered with 429, answer lost…
  const faults = randomFaults(seededRandom(2), { fail: 0.05, cut: 0.05, cutWatch: 0.5, delayMs: 200 });
  const flaky = createClient(server.connect({ name: 'flaky', faults }), { runtime: { clock } });
  const late = createClient(server.connect({ faults: ({ watch }) => (watch ? { eventDelayMs: 5_000 } : undefined) }), {
    runtime: { clock },
  });

  await server.idle(); // namespace and garbage collection controllers are done
  server.compact(); // older watches and continue tokens get 410
  await server.restart({ downMs: 0 }); // connections are cut, objects are kept, older watches get 410

  expect((await late.list(Namespace)).items.length).toBeGreaterThan(0);
  await Promise.all([flaky.close(), late.close()]);
});

test('@riata/sandbox', async () => {
  await using sandbox = await Sandbox.start({ nodes: 3 });
  const { url } = await sandbox.listen({ port: 0 }); // for kubectl; sandbox.client needs no socket
  expect(url).toMatch(/^https:/);
});

test('@riata/testing', async () => {
  await using env = await TestEnvironment.start({ kinds: [Foo] });
  await env.run(foos);
  await env.client.create(Foo({ metadata: { namespace: 'default', name: 'a' }, spec: { deploymentName: 'a' } }));
  await env.settle(); // nothing is queued, due or in flight
  await env.expectConverged(); // and another reconcile writes nothing
  expect((await env.client.get(Deployment, { namespace: 'default', name: 'a' })).spec?.replicas).toBe(1);
});

/** Starts a program of the README as a user would. */
async function started(path: string, use: (printed: () => string) => Promise<void>): Promise<number | null> {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const child: ChildProcess = spawn(process.execPath, ['tools/run-ts.mjs', path], { cwd: root });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
  }
  const closed = new Promise<number | null>((resolve) => child.on('close', resolve));
  try {
    await use(() => printed);
  } finally {
    child.kill('SIGTERM');
  }
  return closed;
}

test('the controller of the README', async () => {
  const spec = z.object({ deploymentName: z.string(), replicas: z.int().default(1) });
  const status = z.object({ availableReplicas: z.int() });
  const Foo = defineKind({ group: 'demo.riata.dev', version: 'v1', kind: 'Foo', spec, status });

  await using client = createClient(await loadConfig());
  await installCrds(client, [Foo]);
  await client.create(Foo({ metadata: { namespace: 'default', name: 'a' }, spec: { deploymentName: 'web' } }));
  const key = { namespace: 'default', name: 'web' };
  const code = await started('examples/sample-controller/glance.ts', async (printed) => {
    await vi.waitFor(() => client.get(Deployment, key).catch(() => expect.fail(printed())), 45_000);
  });
  expect(code).toBe(0);
});

test('the client of the README', async () => {
  await using client = createClient(await loadConfig());
  await client.apply(Namespace({ metadata: { name: 'shop' } }), { fieldManager: 'me' });
  await started('examples/tour/glance.ts', (printed) => {
    return vi.waitFor(() => expect(printed()).toContain('SYNCED'), 45_000).catch(() => expect.fail(printed()));
  });
  expect((await client.get(ConfigMap, prices)).data?.apple).toBe('2');
  await client.delete(ConfigMap, prices);
});
