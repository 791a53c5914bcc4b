import { TestEnvironment } from '@riata/testing';
import { control } from 'riata/controller';
import { ClusterRole, ClusterRoleBinding, ServiceAccount } from 'riata/kinds';
import { defineKind } from 'riata/object';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { objectPath, violations, WatchedBrowser } from './browser.fixture.js';
import { until } from './until.fixture.js';

const Shop = defineKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Shop',
  spec: z.object({ size: z.int().default(1) }),
  status: z.object({}),
});
const namespace = 'market';
let env: TestEnvironment;
let chrome: WatchedBrowser;
let base: string;
let token: string;

beforeAll(async () => {
  env = await TestEnvironment.start({ server: 'in-process', time: 'real', kinds: [Shop] });
  const { client } = env;
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } } as never).catch(() => {});
  await client.create(Shop({ metadata: { namespace, name: 'apples' }, spec: {} }));
  await client.create(ServiceAccount({ metadata: { namespace, name: 'viewer' } }));
  const rules = [
    { nonResourceURLs: ['/debug/*'], verbs: ['get'] },
    { apiGroups: [Shop.group], resources: ['shops'], verbs: ['get', 'list'] },
  ];
  await client.create(ClusterRole({ metadata: { name: 'viewer' }, rules }));
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'viewer' };
  const subjects = [{ kind: 'ServiceAccount', namespace, name: 'viewer' }];
  await client.create(ClusterRoleBinding({ metadata: { name: 'viewer' }, subjects, roleRef }));
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, spec: { audiences: [] } };
  const answer = await client
    .subresource('token')
    .create<{ status: { token: string } }>(ServiceAccount, { namespace, name: 'viewer' }, body as never);
  token = answer.status.token;
  const { manager } = await env.startManager({
    run: [control(Shop, { name: 'guarded' }).reconcile(() => {})],
    dashboard: { port: 0, protected: true },
  });
  base = await until(async () => manager.urls.dashboard);
  chrome = await WatchedBrowser.start();
});
afterAll(async () => {
  await chrome?.[Symbol.asyncDispose]();
  await env?.[Symbol.asyncDispose]();
});

test('no page, file or payload without a token; every page has a policy without inline code', async () => {
  for (const path of ['/', '/assets/index.js', '/debug/stream', '/debug/reconciles', '/debug/objects?q=a', '/any']) {
    const answer = await fetch(`${base}${path}`);
    expect([path, answer.status]).toEqual([path, 401]);
    const policy = answer.headers.get('content-security-policy');
    if (!path.startsWith('/debug/')) {
      expect(policy).toMatch(/default-src 'none'; script-src 'self'; style-src 'self'/);
      expect(policy).not.toContain('unsafe');
    }
  }
  const action = await fetch(`${base}/debug/actions`, {
    method: 'POST',
    headers: { 'x-riata-action': '1' },
    body: '{}',
  });
  expect(action.status).toBe(401);
});

test('a viewer signs in, looks, and is refused actions', async () => {
  const page = await chrome.context.newPage();
  await page.goto(base);
  await page.getByLabel('Bearer token').fill('wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').filter({ hasText: 'the token is not known' }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByLabel('Bearer token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  await page.goto(`${base}/${objectPath(Shop, namespace, 'apples')}`);
  await page.getByText('may not patch shops.example.com "apples"').waitFor();
  expect(await page.getByRole('button', { name: 'Pause' }).isDisabled()).toBe(true);
  // Past the page: the server refuses, too.
  const status = await page.evaluate(
    async (asked) => {
      const headers = { 'x-riata-action': '1', 'content-type': 'application/json' };
      return (await fetch('/debug/actions', { method: 'POST', headers, body: JSON.stringify(asked) })).status;
    },
    { action: 'pause', apiVersion: Shop.apiVersion, kind: 'Shop', namespace, name: 'apples' },
  );
  expect(status).toBe(403);
  expect((await env.client.get(Shop, { namespace, name: 'apples' })).metadata.annotations).toBeUndefined();
  await page.close();
});
