import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adminKubeconfig } from '@riata/apiserver';
import { Sandbox } from '@riata/sandbox';
import { ClusterRole, ClusterRoleBinding, Deployment, Event, Pod, ServiceAccount } from 'riata/kinds';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { memoryIo, runIn } from '../command/command-io.fixture.js';
import { runRiata } from '../command/run-riata.js';
import { dashboardCommand } from './dashboard-command.js';
import { joinLocalPort } from './pod-network.fixture.js';
import { type RunningOperator, reconcileSite, Site, startOperator, until } from './running-operator.fixture.js';

const namespace = 'my-operator';
const commands = [dashboardCommand];
const folder = mkdtempSync(join(tmpdir(), 'riata-dashboard-'));
const kubeconfigs = { admin: join(folder, 'admin'), viewer: join(folder, 'viewer') };
let sandbox: Sandbox;
let operator: RunningOperator;
let isServing = true;

beforeAll(async () => {
  sandbox = await Sandbox.start({
    nodes: 1,
    connect: async (_pod, port, connection) => {
      if (!isServing || port !== 8080) throw new Error(`connect to localhost:${port}: connection refused`);
      await joinLocalPort(Number(new URL(operator.url).port), connection);
    },
  });
  const { client } = sandbox;
  const { url, ca } = await sandbox.server.listen();
  writeFileSync(kubeconfigs.admin, adminKubeconfig({ url, ca, token: sandbox.server.token }));
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } } as never);
  const labels = { app: 'my-operator' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'my-operator:1' }] } };
  const spec = { replicas: 1, selector: { matchLabels: labels }, template };
  await client.create(Deployment({ metadata: { namespace, name: 'my-operator' }, spec }));
  // Who may look, and not act.
  await client.create(ServiceAccount({ metadata: { namespace, name: 'viewer' } }));
  const rules = [
    { nonResourceURLs: ['/debug/*'], verbs: ['get'] },
    { apiGroups: [Site.group], resources: ['sites'], verbs: ['get', 'list'] },
    { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get', 'list'] },
    { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] },
    { apiGroups: [''], resources: ['pods/portforward'], verbs: ['get', 'create'] },
  ];
  await client.create(ClusterRole({ metadata: { name: 'viewer' }, rules }));
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'viewer' };
  const subjects = [{ kind: 'ServiceAccount', namespace, name: 'viewer' }];
  await client.create(ClusterRoleBinding({ metadata: { name: 'viewer' }, subjects, roleRef }));
  const { status } = await client
    .subresource('token')
    .create<{ status: { token: string } }>(ServiceAccount, { namespace, name: 'viewer' }, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: {},
      spec: { audiences: [] },
    } as never);
  writeFileSync(kubeconfigs.viewer, adminKubeconfig({ url, ca, token: status.token }));
  operator = await startOperator({ protected: true }, sandbox.server.config);
  await reconcileSite(operator, 'web');
  await until(async () =>
    (await client.get(Deployment, { namespace, name: 'my-operator' })).status.readyReplicas ? true : undefined,
  );
});
afterAll(async () => {
  await operator?.[Symbol.asyncDispose]();
  await sandbox?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

/** Runs the command until it is disposed, with the cookie of a browser that was let in. */
async function serve(...args: readonly string[]) {
  const stop = new AbortController();
  const io = memoryIo({ cwd: folder, signal: stop.signal });
  const given = ['dashboard', '-n', namespace, '--port', '0', ...args];
  const code = runRiata(given, io, { version: '0.0.0', commands });
  const ended = code.then((value) => {
    throw new Error(`exit code ${value}: ${io.read().notes}`);
  });
  ended.catch(() => {});
  const opened = await Promise.race([until(() => /http:\S+/.exec(io.read().out)?.[0]), ended]);
  const entered = await fetch(opened, { redirect: 'manual' });
  const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? '';
  const url = new URL(opened).origin;
  const ask = async (path: string, init: RequestInit = {}) => {
    const headers = { cookie, connection: 'close', ...(init.headers as Record<string, string>) };
    const response = await fetch(`${url}${path}`, { ...init, headers, redirect: 'manual' });
    const text = await response.text();
    return { status: response.status, text, headers: response.headers };
  };
  const act = (action: string) => {
    const body = JSON.stringify({ action, ...site });
    return ask('/debug/actions', { method: 'POST', body, headers: { 'x-riata-action': '1' } });
  };
  return {
    ...{ url, ask, act, notes: () => io.read().notes, setCookie: entered.headers.get('set-cookie') },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await code;
    },
  };
}

const site = { apiVersion: Site.apiVersion, kind: 'Site', namespace: 'default', name: 'web' };
const objectPath = `/debug/object?${new URLSearchParams(site)}`;

test('the token of the kubeconfig is passed on, and actions have the name of the viewer', async () => {
  await using served = await serve('--kubeconfig', kubeconfigs.admin);
  expect(served.notes()).toMatch(/^Pod my-operator\/my-operator-\S+/);
  const shown = await served.ask(objectPath);
  expect(JSON.parse(shown.text)).toMatchObject({ object: { metadata: { name: 'web' } }, actions: { allowed: true } });
  expect(await served.act('reconcile')).toMatchObject({ status: 200 });
  const { viewer } = JSON.parse(shown.text);
  await until(async () => {
    const { items } = await sandbox.client.list(Event, { namespace: 'default' });
    return items.find(({ message }) => message === `${viewer} requested a reconcile in the dashboard`);
  });
});

test('the stream comes through, event by event', async () => {
  await using served = await serve('--kubeconfig', kubeconfigs.admin);
  const stop = new AbortController();
  const entered = served.setCookie?.split(';')[0] ?? '';
  const response = await fetch(`${served.url}/debug/stream`, { headers: { cookie: entered }, signal: stop.signal });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  let text = '';
  for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += new TextDecoder().decode(part);
    if (text.includes('event: delta')) break;
  }
  expect(text).toContain('event: snapshot');
  stop.abort();
});

test('who may look and not patch is refused', async () => {
  await using served = await serve('--kubeconfig', kubeconfigs.viewer);
  expect(JSON.parse((await served.ask(objectPath)).text)).toMatchObject({ actions: { allowed: false } });
  const refused = await served.act('pause');
  expect(refused.status).toBe(403);
  expect(JSON.parse(refused.text).message).toContain('system:serviceaccount:my-operator:viewer may not patch sites.');
});

test('nothing without the key, from another site, or under another name', async () => {
  await using served = await serve('--kubeconfig', kubeconfigs.admin);
  expect(served.setCookie).toMatch(/; HttpOnly; SameSite=Strict$/);
  for (const path of ['/', '/debug/process', '/assets/index.js', '/?key=wrong']) {
    expect((await fetch(`${served.url}${path}`)).status).toBe(401);
  }
  const headers = { host: 'evil.example.com', cookie: served.setCookie?.split(';')[0] ?? '' };
  const status = await new Promise((done) =>
    get(`${served.url}/debug/process`, { headers }, (answer) => done(answer.statusCode)),
  );
  expect(status).toBe(421);
  const other = await served.ask('/debug/actions', {
    method: 'POST',
    body: JSON.stringify({ action: 'pause', ...site }),
    headers: { 'x-riata-action': '1', 'sec-fetch-site': 'cross-site' },
  });
  expect(other.status).toBe(403);
  expect((await served.ask('/anything', { method: 'PUT' })).status).toBe(405);
});

test('an operator that is gone for a while is reached again', async () => {
  await using served = await serve('--kubeconfig', kubeconfigs.admin);
  isServing = false;
  const lost = await served.ask('/debug/process');
  isServing = true;
  expect(lost.status).toBe(502);
  expect(JSON.parse(lost.text).message).toMatch(/connection refused/);
  await until(async () => ((await served.ask('/debug/process')).status === 200 ? true : undefined));
});

test('what cannot be shown', async () => {
  const run = (...args: string[]) =>
    runIn(folder, ['dashboard', '--kubeconfig', kubeconfigs.admin, '--port', '0', ...args], { commands });
  expect((await run('-n', 'default')).notes).toBe(
    "riata: no Deployment in namespace default; name the operator's namespace with -n",
  );
  expect((await run('-n', namespace, '--pod', 'other')).notes).toMatch(
    /^riata: --pod: "other" is not a running Pod of the operator; they are my-operator-/,
  );
  const wrong = await run('-n', namespace, '--pod-port', '9999');
  expect(wrong.code).toBe(1);
  expect(wrong.notes).toMatch(/serves no \/debug pages; set dashboard: true or metrics: .*\n.*port 9999: .*refused/);
  expect((await run('-n', namespace, '--pod-port', 'x')).notes).toBe(
    'riata: --pod-port must be an integer from 1 to 65535, got "x"',
  );
  const { items } = await sandbox.client.list(Pod, { namespace });
  expect(items).toHaveLength(1);
});
