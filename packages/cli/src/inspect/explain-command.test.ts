import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runIn } from '../command/command-io.fixture.js';
import { conditions, makeProject, siteOperator } from '../config/project.fixture.js';
import { explainCommand } from './explain-command.js';
import { type RunningOperator, reconcileSite, startOperator, until } from './running-operator.fixture.js';

const commands = [explainCommand];
let operator: RunningOperator;
beforeAll(async () => {
  operator = await startOperator();
  await reconcileSite(operator, 'web');
  await reconcileSite(operator, 'bad', 'broken');
  await until(() => operator.manager.explain.find(({ reasons }) => reasons.some(({ source }) => source === 'retry')));
});
afterAll(() => operator[Symbol.asyncDispose]());

const explain = (...args: readonly string[]) => runIn('/', ['explain', ...args, '--url', operator.url], { commands });

describe('riata explain by URL', () => {
  test('why it ran, and what it wrote', async () => {
    const { code, out } = await explain('Site/web');
    expect(code).toBe(0);
    expect(out).toMatch(/^\d\d:\d\d:\d\dZ {3}site, \S+ after \S+ in the queue \(\S+ ago\)$/m);
    expect(out).toContain('why: for Site: Added Site default/web');
    expect(out).toMatch(/ConfigMap default\/web → \d+$/m);
    expect(out).toMatch(/Site default\/web\/status → \d+$/m);
    expect(out).not.toContain('bad');
  });

  test('an error, its line and the next retry', async () => {
    const { out } = await explain('sites/bad', '-n', 'default');
    expect(out).toContain('Error: the title is broken');
    expect(out).toMatch(/at .*running-operator\.fixture\.ts:\d+:\d+/);
    expect(out).toMatch(/retry (?:in|after) \S+$/m);
    expect(out).toContain('why: retry');
  });

  test('an object that the operator wrote', async () => {
    const { out } = await explain('configmap/web');
    expect(out).toContain('site for default/web, which wrote it');
  });

  test('JSON, and the last ones only', async () => {
    const { out, notes } = await explain('Site/bad', '--last', '1', '--json');
    const found = JSON.parse(out);
    expect(found).toMatchObject({
      object: { kind: 'Site', name: 'bad' },
      controllers: ['site'],
      reconciles: [{ relation: 'reconciled', outcome: 'error', errorAt: expect.any(String) }],
    });
    expect(notes).toBe('');
    expect((await explain('Site/bad', '--last', '1')).notes).toMatch(/^\d+ earlier reconciles are left out/);
  });

  test.each([
    [['Site/other'], 1, 'controller site would reconcile it: does the object exist'],
    [['Site/web', '-n', 'shop'], 1, 'nothing about Site/web among the'],
    [['Gadget/web'], 1, 'no controller is for this kind; they are site'],
    [['web'], 2, 'must be given as KIND/NAME, got "web"'],
    [['Site/web', '--last', '0'], 2, '--last must be an integer ≥ 1, got "0"'],
    [['Site/web', '--token-file', 'nope'], 1, '--token-file: ENOENT'],
  ])('%j is refused', async (args, code, message) => {
    const run = await explain(...args);
    expect(run).toMatchObject({ code, out: '' });
    expect(run.notes).toContain(message);
  });

  test('a URL that leads elsewhere', async () => {
    const at = (url: string) => runIn('/', ['explain', 'Site/web', '--url', url], { commands });
    expect((await at('ftp://x')).notes).toContain('--url must be an http or https URL, got "ftp://x"');
    expect((await at(`${operator.url}/elsewhere`)).notes).toContain('not found; start the operator');
    expect((await at('http://127.0.0.1:1')).notes).toContain(
      'connection refused by 127.0.0.1:1; is the operator running',
    );
  });
});

/** An API server that knows a Deployment with one Pod, refuses port-forwards, and proxies to the operator; like kube-apiserver without Authorization. */
async function proxyingServer(target: string) {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const url = request.url ?? '';
    asked.push(url);
    const answer = (body: object) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    const metadata = { namespace: 'site-operator', name: 'site-operator' };
    if (url.includes('/portforward')) {
      response.statusCode = 403;
      const message = 'pods "site-operator-1" is forbidden: User "ann" cannot create resource "pods/portforward"';
      answer({ apiVersion: 'v1', kind: 'Status', status: 'Failure', reason: 'Forbidden', code: 403, message });
    } else if (url.includes('/proxy/')) {
      const token = request.headers['x-riata-authorization'];
      const page = await fetch(`${target}${url.split('/proxy')[1]}`, {
        headers: { connection: 'close', ...(typeof token === 'string' && { 'x-riata-authorization': token }) },
      });
      response.writeHead(page.status).end(await page.text());
    } else if (url.endsWith('/serviceaccounts/site-operator/token')) {
      response.statusCode = 201;
      answer({
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        metadata,
        status: { token: 'short-lived' },
      });
    } else if (url.includes('/deployments/')) {
      const template = { metadata: {}, spec: { serviceAccountName: 'site-operator', containers: [] } };
      const spec = { selector: { matchLabels: { app: 'sites' } }, template };
      answer({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { ...metadata, uid: 'u' }, spec });
    } else {
      const pod = { metadata: { ...metadata, name: 'site-operator-1', uid: 'p' }, status: { phase: 'Running' } };
      answer({ apiVersion: 'v1', kind: 'PodList', metadata: { resourceVersion: '1' }, items: [pod] });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    asked,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('riata explain by the Pods of the operator', () => {
  const main = (metrics: string) => `import { sites } from './sites.js';
export const definitions = [sites];
export const options = { metrics: ${metrics} };`;
  const kubeconfig = (server: string) =>
    JSON.stringify({
      ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'c' },
      clusters: [{ name: 'c', cluster: { server } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      users: [{ name: 'u', user: {} }],
    });

  test('through the proxy of the API server where ports cannot be forwarded, with a token of the operator', async () => {
    await using server = await proxyingServer(operator.url);
    using project = makeProject({
      ...siteOperator,
      'src/main.ts': main('{ port: 8080, debug: true, protected: true }'),
    });
    writeFileSync(join(project.folder, 'kubeconfig'), kubeconfig(server.url));
    const args = [
      'explain',
      'Site/web',
      '--conditions',
      ...conditions,
      '--kubeconfig',
      join(project.folder, 'kubeconfig'),
    ];
    const { code, out, notes } = await runIn(project.folder, args, { commands });
    expect({ code, notes }).toEqual({ code: 0, notes: '' });
    expect(out).toContain('why: for Site: Added Site default/web');
    const proxied = server.asked.filter((url) => url.includes('/proxy'));
    expect(proxied.map((url) => url.split('?')[0])).toContain(
      '/api/v1/namespaces/site-operator/pods/site-operator-1:8080/proxy/debug/reconciles',
    );
    expect(server.asked.filter((url) => url.includes('/pods?'))).toEqual([expect.stringContaining('app%3Dsites')]);
    expect(server.asked.filter((url) => url.endsWith('/token'))).toHaveLength(1);
  });

  test('neither by a port-forward nor by the proxy', async () => {
    await using server = await proxyingServer(`${operator.url}/elsewhere`);
    using project = makeProject({ ...siteOperator, 'src/main.ts': main('{ port: 8080, debug: true }') });
    writeFileSync(join(project.folder, 'kubeconfig'), kubeconfig(server.url));
    const kube = ['--kubeconfig', join(project.folder, 'kubeconfig')];
    const { code, notes } = await runIn(
      project.folder,
      ['explain', 'Site/web', '--conditions', ...conditions, ...kube],
      {
        commands,
      },
    );
    expect(code).toBe(1);
    expect(notes).toMatch(/^riata: Pod site-operator\/site-operator-1: \/debug\/\S+: not found; start the operator/);
    expect(notes).toMatch(/\nread through the proxy of the API server, since a port-forward failed: .*cannot create/);
  });

  test.each([
    ['undefined', 'serves no metrics; set metrics: {'],
    ['{ port: 8080 }', 'serves no /debug pages; set metrics: {'],
    ['{ port: 0, debug: true }', 'serves its metrics on any free port; set metrics: {'],
  ])('metrics: %s', async (metrics, message) => {
    using project = makeProject({ ...siteOperator, 'src/main.ts': main(metrics) });
    const { code, notes } = await runIn(project.folder, ['explain', 'Site/web', '--conditions', ...conditions], {
      commands,
    });
    expect(code).toBe(1);
    expect(notes).toContain(message);
  });
});
