import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { adminKubeconfig } from '@riata/apiserver';
import { Sandbox } from '@riata/sandbox';
import { Deployment, Pod } from 'riata/kinds';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { memoryIo, runIn } from '../command/command-io.fixture.js';
import { loadOperator } from '../config/load-operator.js';
import { conditions, makeProject, siteOperator } from '../config/project.fixture.js';
import { operatorObjects } from '../manifests/operator-objects.js';
import { openEndpoints } from './open-endpoints.js';
import { joinLocalPort } from './pod-network.fixture.js';
import { type RunningOperator, reconcileSite, startOperator, until } from './running-operator.fixture.js';

const place = { namespace: 'site-operator', name: 'site-operator' };
// Of the project: its port is that of the Pods, and nothing on this machine listens there.
const metrics = { host: '127.0.0.1', port: 8080, debug: true, protected: true };
const project = makeProject({
  ...siteOperator,
  'src/main.ts': `import { sites } from './sites.js';
export const definitions = [sites];
export const options = { metrics: ${JSON.stringify(metrics)} };`,
});
const kubeconfig = join(project.folder, 'kubeconfig');
let sandbox: Sandbox;
let operator: RunningOperator;
/** Connections to Pods, as `POD:PORT`. */
const connected: string[] = [];
let isServing = true;

beforeAll(async () => {
  sandbox = await Sandbox.start({
    nodes: 1,
    connect: async ({ metadata }, port, connection) => {
      connected.push(`${metadata.name}:${port}`);
      if (!isServing) throw new Error(`connect to localhost:${port}: connection refused`);
      await joinLocalPort(Number(new URL(operator.url).port), connection);
    },
  });
  const { url, ca } = await sandbox.server.listen();
  writeFileSync(kubeconfig, adminKubeconfig({ url, ca, token: sandbox.server.token }));
  const { operator: described } = await loadOperator(memoryIo({ cwd: project.folder }), { conditions });
  for (const object of await operatorObjects(described)) {
    await sandbox.client.apply(object as never, { fieldManager: 'test', force: true });
  }
  operator = await startOperator({ protected: true }, sandbox.server.config);
  await reconcileSite(operator, 'web');
  await until(async () => ((await sandbox.client.get(Deployment, place)).status.readyReplicas ? true : undefined));
});
afterAll(async () => {
  await operator?.[Symbol.asyncDispose]();
  await sandbox?.[Symbol.asyncDispose]();
  project[Symbol.dispose]();
});

const riata = (...args: readonly string[]) =>
  runIn(project.folder, [...args, '--kubeconfig', kubeconfig, '--conditions', ...conditions]);

test('an operator in a Pod is read by a port-forward, also if it listens on loopback alone', async () => {
  const { code, out, notes } = await riata('explain', 'Site/web');
  expect({ code, notes }).toEqual({ code: 0, notes: '' });
  expect(out).toContain('why: for Site: Added Site default/web');
  const { items } = await sandbox.client.list(Pod, { namespace: place.namespace });
  expect(connected[0]).toBe(`${items[0]?.metadata.name}:8080`);
  const shown = await riata('top', '--json');
  expect(JSON.parse(shown.out)).toMatchObject({
    operator: 'site-operator',
    replicas: 1,
    controllers: [{ name: 'site' }],
  });
});

test('a Pod that replaces another one is found, and read', async () => {
  const io = memoryIo({ cwd: project.folder });
  await using endpoints = await openEndpoints(io, { kubeconfig, conditions });
  const [before] = endpoints.all;
  await before?.get('/debug/process');
  await endpoints.refresh();
  expect(endpoints.all).toEqual([before]);
  const name = before?.name.split('/')[1] as string;
  await sandbox.client.delete(Pod, { namespace: place.namespace, name });
  const after = await until(async () => {
    await endpoints.refresh().catch(() => {});
    return endpoints.all.find((each) => each.name !== before?.name);
  });
  expect(endpoints.all).toEqual([after]);
  expect(await after.get('/debug/process')).toHaveProperty('riata');
});

test('a Pod that serves nothing on the port', async () => {
  isServing = false;
  const { code, notes } = await riata('explain', 'Site/web');
  isServing = true;
  expect(code).toBe(1);
  expect(notes).toMatch(
    /^riata: Pod site-operator\/site-operator-\S+: .*8080.*connection refused; does the operator in this Pod serve its metrics\?$/,
  );
});

test('no running Pod, and no Deployment', async () => {
  await sandbox.client.patch(Deployment, place, { type: 'merge', body: { spec: { replicas: 0 } } });
  await until(async () =>
    (await sandbox.client.list(Pod, { namespace: place.namespace })).items.length === 0 ? true : undefined,
  );
  expect((await riata('explain', 'Site/web')).notes).toBe(
    'riata: Deployment site-operator/site-operator has no running Pod; see: kubectl get pods -n site-operator',
  );
  await sandbox.client.delete(Deployment, place);
  expect((await riata('explain', 'Site/web')).notes).toContain('Deployment site-operator/site-operator not found');
});
