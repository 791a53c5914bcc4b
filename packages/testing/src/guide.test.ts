import { admissionWebhook, type ServerSnapshot } from '@riata/apiserver';
import { environmentPerFile, expectRightsSuffice, TestEnvironment, usedRights } from '@riata/testing';
import { defineKind, findCondition, isForbidden } from 'riata';
import { control } from 'riata/controller';
import { ConfigMap, ValidatingWebhookConfiguration } from 'riata/kinds';
import { admit } from 'riata/webhook';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';

const Site = defineKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Site',
  spec: z.object({ title: z.string() }),
  status: z.object({ published: z.boolean() }),
});

const sites = control(Site)
  .owns(ConfigMap)
  .reconcile(async ({ object: site, apply, status }) => {
    await apply(ConfigMap({ metadata: { name: site.metadata.name }, data: { 'index.html': site.spec.title } }));
    await status({ published: true });
    return { requeueAfter: '1m' };
  });

const site = Site({ metadata: { namespace: 'default', name: 'blog' }, spec: { title: 'Hello' } });
const key = { namespace: 'default', name: 'blog' };

test('a site is published', async () => {
  await using env = await TestEnvironment.start({ kinds: [Site] });
  await env.run(sites);
  await env.client.create(site);
  await env.settle();

  const page = await env.client.get(ConfigMap, key);
  expect(page.data).toEqual({ 'index.html': 'Hello' });
  const { status } = await env.client.get(Site, key);
  expect(findCondition(status?.conditions, 'Ready')?.status).toBe('True');

  await env.expectConverged();
  expect(env.requests.lines({ verb: 'write' })).toEqual([
    'patch ConfigMap default/blog',
    'patch Site default/blog/status',
  ]);
});

test('a deleted page is restored', async () => {
  await using env = await TestEnvironment.start({ kinds: [Site] });
  await env.run(sites);
  await env.client.create(site);
  await env.settle();
  await env.client.delete(ConfigMap, key);
  await env.eventually(() => env.client.get(ConfigMap, key));
});

test('the operator works with the permissions that it has used', async () => {
  await using env = await TestEnvironment.start({ kinds: [Site] });
  await env.run(sites);
  await env.client.create(site);
  await env.settle();

  const rights = usedRights(env.requests);
  expect(rights.clusterRules).toContainEqual({
    apiGroups: ['example.com'],
    resources: ['sites'],
    verbs: ['list', 'watch'],
  });

  await env.reset();
  await expectRightsSuffice(env, rights, async (operator) => {
    await operator.run(sites);
    await env.client.create(site);
  });
});

test('others may not read pages', async () => {
  await using env = await TestEnvironment.start({ kinds: [Site] });
  const robot = env.as({ serviceAccount: 'robot', namespace: 'default' });
  await expect(robot.client.get(ConfigMap, key)).rejects.toSatisfy(isForbidden);
});

test('sites are reconciled every minute', async () => {
  await using env = await TestEnvironment.start({ kinds: [Site] });
  const manager = await env.run(sites);
  await env.client.create(site);
  await env.settle();
  const before = manager.explain.length;
  await env.advance('10m');
  expect(manager.explain.length - before).toBe(10);
});

test('a site is published despite failed writes, broken connections and a restart', async () => {
  await using env = await TestEnvironment.start({ kinds: [Site] });
  await env.run(sites);
  env.faults.failWrite(2, { code: 500 }); // the second write from now
  env.faults.add({ verb: 'patch', kind: ConfigMap }, { cut: 'answer' }, { times: 1 }); // executed, but the answer is lost
  env.faults.delayEvents('3s', { kind: Site }); // informers receive Sites late
  await env.client.create(site);
  await env.settle();
  env.faults.dropConnections();
  await env.faults.compact();
  await env.faults.restart({ down: '20s' });
  await env.expectConverged();
  expect((await env.client.get(Site, key)).status?.published).toBe(true);
});

test('a shared handler publishes a site, too', async () => {
  await using env = await TestEnvironment.start({ kinds: [Site] });
  await env.runHandlers((factory, { signal }) => {
    const pages = factory.clients.forKind(ConfigMap);
    factory.forKind(Site).registerHandler(
      'publish',
      async (_, changed) => {
        const isThere = (await pages.find(key)) !== undefined;
        if (changed === undefined || isThere) return;
        await pages.create(ConfigMap({ metadata: key, data: { 'index.html': changed.spec.title } }));
      },
      { signal },
    );
  });
  await env.client.create(site);
  await env.expectConverged();
  expect(env.requests.lines({ verb: 'write' })).toEqual(['create ConfigMap default/blog']);
});

test('when the leader crashes, the other replica takes over', async () => {
  await using env = await TestEnvironment.start({ kinds: [Site] });
  const leaderElection = { namespace: 'default', name: 'sites' };
  const first = await env.startManager({ name: 'first', run: [sites], leaderElection });
  await env.startManager({ name: 'second', run: [sites], leaderElection });
  await env.settle();
  await first.kill();
  await env.client.create(site);
  await env.eventually(() => env.client.get(ConfigMap, key));
  expect(env.requests.select({ kind: ConfigMap, verb: 'write' })[0]?.client).toBe('second');
});

test('a site without a title is refused, and no site is accepted while the webhook is down', async () => {
  await using env = await TestEnvironment.start({ kinds: [Site] });
  const rules = admit(Site, { name: 'sites' }).validates(({ object, deny, path }) => {
    if (object.spec.title === '') deny(path.spec.title, 'must not be empty');
  });
  await env.startManager({ run: [sites, rules] }); // installed, and known to be reached
  const untitled = Site({ metadata: { namespace: 'default', name: 'empty' }, spec: { title: '' } });
  await expect(env.client.create(untitled)).rejects.toThrow('spec.title: Invalid value: "": must not be empty');
  env.faults.addWebhook({ webhook: 'sites' }, { cut: true }, { times: 1 });
  await expect(env.client.create(site)).rejects.toThrow('failed calling webhook');
  await env.client.create(site);
});

describe('sites', () => {
  const env = environmentPerFile({ beforeAll, afterAll, afterEach }, { kinds: [Site] });

  test('start out unpublished', async () => {
    await env().client.create(site);
    expect((await env().client.get(Site, key)).status).toBe(undefined);
  });

  test('are gone after each test', async () => {
    expect((await env().client.list(Site)).items).toEqual([]);
  });
});

describe('a blog', () => {
  const env = environmentPerFile({ beforeAll, afterAll, afterEach });

  beforeAll(async () => {
    await env().install(Site);
    await env().client.create(site);
    env().keep();
  });

  test('is there from the start', async () => {
    await env().client.create(ConfigMap({ metadata: key }));
    expect((await env().client.get(Site, key)).spec.title).toBe('Hello');
  });

  test('is there for the next test, without what that test created', async () => {
    expect((await env().client.get(Site, key)).spec.title).toBe('Hello');
    expect(await env().client.find(ConfigMap, key)).toBe(undefined);
  });
});

test('an importer is cut off and creates the page on its second attempt', async () => {
  await using env = await TestEnvironment.start();
  await using connection = env.connect({ name: 'importer' });
  env.faults.add({ client: 'importer', verb: 'write' }, { cut: 'request' }, { times: 1 });
  const page = ConfigMap({ metadata: key, data: { 'index.html': 'Hello' } });
  await expect(connection.client.create(page)).rejects.toThrow('cut off');
  await connection.client.create(page);
  expect(connection.requests.lines()).toEqual(['create ConfigMap default/blog', 'create ConfigMap default/blog']);
});

test('a site needs a title', async () => {
  await using env = await TestEnvironment.start({ kinds: [Site] });
  const review = admissionWebhook<{ spec: { title: string } }>(({ object }) => ({
    allowed: object?.spec.title !== '',
    status: { message: 'a site needs a title' },
  }));
  env.handle('https://hooks.default.svc/sites', review);
  const rules = [{ operations: ['CREATE'], apiGroups: ['example.com'], apiVersions: ['v1'], resources: ['sites'] }];
  const clientConfig = { service: { namespace: 'default', name: 'hooks', path: '/sites' } };
  const webhook = { name: 'sites.example.com', clientConfig, rules, admissionReviewVersions: ['v1'] };
  await env.client.create(
    ValidatingWebhookConfiguration({ metadata: { name: 'sites' }, webhooks: [{ ...webhook, sideEffects: 'None' }] }),
  );

  await expect(env.client.create(Site({ ...site, spec: { title: '' } }))).rejects.toThrow('a site needs a title');
  await env.client.create(site);
});

describe('a large blog', () => {
  let prepared: ServerSnapshot;

  beforeAll(async () => {
    await using env = await TestEnvironment.start({ kinds: [Site] });
    for (const name of ['a', 'b', 'c']) await env.client.create(Site({ ...site, metadata: { ...key, name } }));
    prepared = await env.snapshot();
  });

  test('loses a page', async () => {
    await using env = await TestEnvironment.start({ kinds: [Site], embedded: { from: prepared } });
    await env.client.delete(Site, { ...key, name: 'a' });
    expect((await env.client.list(Site)).items).toHaveLength(2);
  });

  test('still has all of them', async () => {
    await using env = await TestEnvironment.start({ kinds: [Site], embedded: { from: prepared } });
    expect((await env.client.list(Site)).items).toHaveLength(3);
  });
});
