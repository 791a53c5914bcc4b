import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from 'riata';
import { ClusterRole, ConfigMap, CustomResourceDefinition, Namespace, Service, ServiceAccount } from 'riata/kinds';
import { configFromKubeconfig } from 'riata/rest';
import { silentLogger as log } from 'riata/runtime';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ApiServer } from './api-server.js';
import type { ApiServerOptions } from './api-server-options.js';
import { adminKubeconfig } from './http/admin-kubeconfig.js';

let dataDir: string;

beforeEach(async () => {
  dataDir = join(await mkdtemp(join(tmpdir(), 'riata-data-')), 'data');
});

afterEach(() => rm(join(dataDir, '..'), { recursive: true, force: true }));

const start = (options: ApiServerOptions = {}) => ApiServer.start({ dataDir, log, ...options });
const clientOf = (server: ApiServer) => createClient(server.config, { runtime: { log } });
const thing = (name: string) => ConfigMap({ metadata: { namespace: 'default', name } });
const key = (name: string) => ({ namespace: 'default', name });

function definition() {
  const schema = { type: 'object' as const, 'x-kubernetes-preserve-unknown-fields': true };
  return CustomResourceDefinition({
    metadata: { name: 'widgets.shop.test' },
    spec: {
      ...{ group: 'shop.test', scope: 'Namespaced' as const, names: { plural: 'widgets', kind: 'Widget' } },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  });
}

const widgets = '/apis/shop.test/v1/namespaces/default/widgets';

async function request(server: ApiServer, path: string, body?: unknown) {
  const { url } = await server.listen({ tls: false });
  const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' };
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const answer = await fetch(url + path, { headers, ...init });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

test('a server finds everything again: objects, revisions, definitions, addresses', async () => {
  let revision: string;
  let address: string | undefined;
  {
    await using server = await start();
    const client = clientOf(server);
    await client.create(Namespace({ metadata: { name: 'shop' } }));
    await client.create(definition());
    await server.idle();
    await request(server, widgets, { apiVersion: 'shop.test/v1', kind: 'Widget', metadata: { name: 'w' }, size: 3 });
    const ports = [{ port: 80 }];
    const service = await client.create(Service({ metadata: key('web'), spec: { ports, type: 'NodePort' } }));
    address = service.spec?.clusterIP;
    revision = (await client.create(thing('last'))).metadata.resourceVersion;
  }
  await using server = await start();
  const client = clientOf(server);
  expect((await client.get(ConfigMap, key('last'))).metadata.resourceVersion).toBe(revision);
  expect((await request(server, `${widgets}/w`)).body).toMatchObject({ kind: 'Widget', size: 3 });
  expect((await client.get(Service, key('web'))).spec?.clusterIP).toBe(address);
  const clash = client.create(Service({ metadata: key('web2'), spec: { clusterIP: address, ports: [{ port: 80 }] } }));
  await expect(clash).rejects.toThrow('provided IP is already allocated');
  expect((await client.get(ServiceAccount, { namespace: 'shop', name: 'default' })).metadata.name).toBe('default');
  const next = await client.create(thing('next'));
  expect(Number(next.metadata.resourceVersion)).toBeGreaterThan(Number(revision));
});

test('the identity survives: kubeconfigs, tokens and certificates stay valid', async () => {
  let kubeconfig: string;
  let token: string;
  {
    await using server = await start();
    const { url, ca } = await server.listen();
    kubeconfig = adminKubeconfig({ url, ca, token: server.token });
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
    const answer = await request(server, '/api/v1/namespaces/default/serviceaccounts/default/token', body);
    token = (answer.body.status as { token: string }).token;
  }
  await using server = await start();
  const port = Number(/127\.0\.0\.1:(\d+)/.exec(kubeconfig)?.[1]);
  await server.listen({ port });
  const client = createClient(await configFromKubeconfig(kubeconfig), { runtime: { log } });
  expect((await client.get(Namespace, { name: 'default' })).metadata.name).toBe('default');
  await client.close();
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } };
  const answer = await request(server, '/apis/authentication.k8s.io/v1/tokenreviews', review);
  expect(answer.body.status).toMatchObject({ authenticated: true });
});

test('what could be misused is for its owner alone', async () => {
  await (await start()).stop();
  const directory = join(dataDir, 'identity');
  const names = await readdir(directory);
  expect(names.sort()).toEqual(['admin-token', 'ca.crt', 'ca.key', 'service-account.key']);
  for (const name of names) expect((await stat(join(directory, name))).mode & 0o777, name).toBe(0o600);
});

test('a damaged identity is named', async () => {
  await (await start()).stop();
  await writeFile(join(dataDir, 'identity', 'ca.key'), 'nonsense');
  await expect(start()).rejects.toThrow(/identity\/ca\.crt and ca\.key: damaged; restore from a backup, or delete/);
  await rm(join(dataDir, 'identity', 'ca.key'));
  await rm(join(dataDir, 'identity', 'ca.crt'));
  await (await start()).stop();
});

test('what the administrator deleted or changed is not made again, but default roles are completed', async () => {
  {
    await using server = await start();
    const client = clientOf(server);
    await client.delete(ConfigMap, {
      namespace: 'kube-system',
      name: 'kube-apiserver-legacy-service-account-token-tracking',
    });
    const view = await client.get(ClusterRole, { name: 'system:node-proxier' });
    const rules = [
      { apiGroups: ['shop.test'], resources: ['widgets'], verbs: ['get'] },
      ...(view.rules ?? []).slice(1),
    ];
    await client.update({ ...view, rules });
    await client.delete(ClusterRole, { name: 'system:kube-dns' });
  }
  await using server = await start();
  const client = clientOf(server);
  expect((await client.get(ClusterRole, { name: 'system:kube-dns' })).rules).not.toEqual([]);
  const { rules } = await client.get(ClusterRole, { name: 'system:node-proxier' });
  expect(rules?.[0]).toMatchObject({ apiGroups: ['shop.test'] });
  expect(rules?.some(({ resources }) => resources?.includes('endpoints'))).toBe(true);
});

test('a watch from before gets 410, as from a server that was restarted', async () => {
  let old: string;
  {
    await using server = await start();
    old = (await clientOf(server).create(thing('a'))).metadata.resourceVersion;
    await clientOf(server).create(thing('b'));
  }
  await using server = await start();
  const { url } = await server.listen({ tls: false });
  const headers = { authorization: `Bearer ${server.token}` };
  const answer = await fetch(`${url}/api/v1/configmaps?watch=1&resourceVersion=${old}`, { headers });
  expect(await answer.text()).toContain('"code":410');
});

test('options that exclude each other are refused', async () => {
  await using server = await ApiServer.start({ log });
  await expect(start({ from: server.snapshot() })).rejects.toThrow(
    'ApiServer.start: dataDir and from exclude each other',
  );
});

test('a second server in the same directory is refused; the first continues', async () => {
  await using server = await start();
  await expect(start()).rejects.toThrow('in use by another process; stop it, or use another directory');
  await clientOf(server).create(thing('a'));
});
