import { TestEnvironment } from '@riata/testing';
import { control, createClient, defineKind, loadConfig, Manager, silentLogger } from 'riata';
import { ConfigMap, Namespace, Pod } from 'riata/kinds';
import { collectRbac, installCrds, objectsToYaml, rbacManifests } from 'riata/patterns';
import { resolveRuntime } from 'riata/runtime';
import {
  admit,
  allowed,
  authenticates,
  authorizes,
  concat,
  denied,
  policy,
  policyManifests,
  WebhookRouter,
  WebhookServer,
  webhookManifests,
  webhookRights,
} from 'riata/webhook';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';

const Site = defineKind({
  group: 'webhooks-guide.riata.dev',
  version: 'v1',
  kind: 'Site',
  spec: z.object({
    image: z.string(),
    replicas: z.int().default(1),
    zone: z.string().optional(),
    hosts: z.array(z.object({ name: z.string() })).default([]),
  }),
  status: z.object({ url: z.string() }),
});

const siteRules = admit(Site)
  .mutates((site) => {
    site.spec.zone ??= 'a';
  })
  .validates(({ object: site, old, deny, warn, path }) => {
    if (old && old.spec.zone !== site.spec.zone) deny(path.spec.zone, 'is immutable');
    if (site.spec.replicas > 10) warn('more than 10 replicas cost money');
  })
  .validates({ on: ['delete'] }, ({ old, user, deny }) => {
    const owner = old.metadata.annotations?.['example.com/owner'];
    if (owner !== undefined && owner !== user.name) deny(`only ${owner} may delete this Site`);
  });

const sites = control(Site).reconcile(() => {});
const log = silentLogger;

test('a first webhook', async () => {
  const config = await loadConfig();
  await using client = createClient(config);
  await installCrds(client, [Site]);
  await using manager = new Manager({ config, webhooks: { port: 0 }, runtime: { log } });
  manager.add(sites);
  manager.add(siteRules);
  const stop = new AbortController();
  const ended = manager.run({ signal: stop.signal });
  const namespace = 'default';
  const site = (name: string) => Site({ metadata: { namespace, name }, spec: { image: 'nginx' } });
  await vi.waitFor(async () => {
    const { spec } = await client.create(site('probe'), { dryRun: true });
    expect(spec.zone).toBe('a');
  }, 60_000);
  const { metadata } = await client.create(site('shop'));
  const moved = client.patch(Site, metadata, { type: 'merge', body: { spec: { zone: 'b' } } });
  await expect(moved).rejects.toThrow('spec.zone: Invalid value: "b": is immutable');
  stop.abort();
  expect((await ended).reason).toBe('stopped');
});

test('in a unit test', async () => {
  await using env = await TestEnvironment.start({ kinds: [Site] });
  await env.startManager({ run: [sites, siteRules] });
  const key = { namespace: await env.namespace(), name: 'shop' };

  const { spec } = await env.client.create(Site({ metadata: key, spec: { image: 'nginx' } }));
  expect(spec.zone).toBe('a');

  const moved = env.client.patch(Site, key, { type: 'merge', body: { spec: { zone: 'b' } } });
  await expect(moved).rejects.toThrow('spec.zone: Invalid value: "b": is immutable');
});

test('denials', async () => {
  const hostRules = admit(Site).validates(({ object: site, deny, path }) => {
    for (const [i, { name }] of site.spec.hosts.entries()) {
      if (!name.endsWith('.example.com')) deny(path.spec.hosts.index(i).name, 'must end in .example.com');
    }
    if (site.spec.hosts.length === 0) deny(path.spec.hosts, 'a Site needs a host', { reason: 'required' });
  });
  await using env = await TestEnvironment.start({ kinds: [Site] });
  await env.startManager({ run: [hostRules] });
  const namespace = await env.namespace();
  const hosts = [{ name: 'shop.example.org' }, { name: 'example.net' }];
  const created = env.client.create(Site({ metadata: { namespace, name: 'shop' }, spec: { image: 'nginx', hosts } }));
  await expect(created).rejects.toThrow(
    'is invalid: [spec.hosts[0].name: Invalid value: "shop.example.org": must end in .example.com, ' +
      'spec.hosts[1].name: Invalid value: "example.net": must end in .example.com]',
  );
});

test('other objects', async () => {
  const quota = admit(Site)
    .reads(ConfigMap)
    .validates({ timeout: '5s' }, async ({ object: site, namespace, client, deny, path }) => {
      const limits = await client.find(ConfigMap, { namespace, name: 'limits' }); // from the cache
      const most = Number(limits?.data?.replicas ?? 10);
      if (site.spec.replicas > most) deny(path.spec.replicas, `this namespace has at most ${most}`);
    });
  await using env = await TestEnvironment.start({ kinds: [Site] });
  await env.startManager({ run: [quota] });
  const namespace = await env.namespace();
  await env.client.create(ConfigMap({ metadata: { namespace, name: 'limits' }, data: { replicas: '2' } }));
  await env.settle();
  const created = env.client.create(
    Site({ metadata: { namespace, name: 'a' }, spec: { image: 'nginx', replicas: 3 } }),
  );
  await expect(created).rejects.toThrow('spec.replicas: Invalid value: 3: this namespace has at most 2');
});

test('what calls a webhook', async () => {
  const podRules = admit(Pod, {
    failurePolicy: 'ignore',
    namespaceSelector: { matchLabels: { team: 'shop' } },
    matchConditions: { 'not-the-kubelet': "!request.userInfo.username.startsWith('system:node:')" },
  })
    .validates(({ object: pod, deny, path }) => {
      if (pod.spec.hostNetwork) deny(path.spec.hostNetwork, 'is not allowed', { reason: 'forbidden' });
    })
    .validates({ on: ['connect'], subresource: 'exec' }, ({ object, user, deny }) => {
      if (object.command?.includes('sh')) deny(`${user.name} may not open a shell`);
    });

  const owners = admit
    .any({ groups: ['', 'apps'], resources: ['configmaps', 'deployments'] }, { name: 'owners' })
    .validates(({ object, deny }) => {
      if (object.metadata.labels?.owner === undefined) deny('metadata.labels[owner]', '', { reason: 'required' });
    });

  await using env = await TestEnvironment.start();
  await env.startManager({ run: [podRules, owners] });
  const namespace = await env.namespace();
  const created = env.client.create(ConfigMap({ metadata: { namespace, name: 'mine' } }));
  await expect(created).rejects.toThrow('metadata.labels[owner]: Required value');
  await env.client.create(ConfigMap({ metadata: { namespace, name: 'mine', labels: { owner: 'me' } } }));
  await env.client.create(Namespace({ metadata: { name: `${namespace}-shop`, labels: { team: 'shop' } } }));
  const spec = { hostNetwork: true, containers: [{ name: 'web', image: 'nginx' }] };
  await env.client.create(Pod({ metadata: { namespace, name: 'web' }, spec }));
  await env.eventually(async () => {
    const guarded = env.client.create(Pod({ metadata: { namespace: `${namespace}-shop`, name: 'web' }, spec }));
    await expect(guarded).rejects.toThrow('spec.hostNetwork: Forbidden: is not allowed');
  });
});

test('by hand', async () => {
  const frozen = admit(ConfigMap).handles({ type: 'validating', on: ['update', 'delete'] }, ({ oldObject }) => {
    const { data } = oldObject as ConfigMap;
    return data?.frozen === 'true' ? denied('this ConfigMap is frozen') : allowed();
  });
  await using env = await TestEnvironment.start();
  await env.startManager({ run: [frozen] });
  const key = { namespace: await env.namespace(), name: 'ice' };
  await env.client.create(ConfigMap({ metadata: key, data: { frozen: 'true' } }));
  await expect(env.client.delete(ConfigMap, key)).rejects.toThrow('this ConfigMap is frozen');
});

test('a whole schema', async () => {
  const Window = defineKind({
    group: 'webhooks-guide.riata.dev',
    version: 'v1',
    kind: 'Window',
    spec: z
      .object({ from: z.int(), to: z.int(), createdAt: z.string().default(() => new Date().toISOString()) })
      .refine(({ from, to }) => from < to, { message: 'must be before to', path: ['from'] }),
    beyondCrd: 'webhook',
  });
  const windowRules = admit(Window, { schema: true });

  await using env = await TestEnvironment.start({ kinds: [Window] });
  await env.startManager({ run: [windowRules] });
  const metadata = { namespace: await env.namespace(), name: 'night' };
  const backwards = env.client.create(Window({ metadata, spec: { from: 22, to: 6 } }));
  await expect(backwards).rejects.toThrow('spec.from: Invalid value: 22: must be before to');
  const { spec } = await env.client.create(Window({ metadata, spec: { from: 1, to: 6 } }));
  expect(spec.createdAt).toMatch(/^\d{4}-/);
});

test('a router', async () => {
  const router = new WebhookRouter();
  router
    .kind('ConfigMap')
    .operation('delete')
    .namespace('kube-system')
    .handle(() => denied('not here'));
  router.handle(() => allowed());

  const routes = admit
    .any({ groups: [''], resources: ['configmaps', 'secrets'] }, { name: 'router' })
    .handles({ type: 'validating', on: ['create', 'update', 'delete'] }, router.handler);

  await using env = await TestEnvironment.start();
  await env.startManager({ run: [routes] });
  const metadata = { namespace: 'kube-system', name: 'settings' };
  await env.client.create(ConfigMap({ metadata }));
  await expect(env.client.delete(ConfigMap, metadata)).rejects.toThrow('not here');
});

test('tokens and access', async () => {
  const accounts = new Map([['a-token', { email: 'ada@example.com', teams: ['shop'] }]]);
  const teamOf = (user: string) => (user === 'ada@example.com' ? 'shop' : undefined);

  const tokens = authenticates(
    async ({ token }) => {
      const account = accounts.get(token);
      return account ? { name: account.email, groups: account.teams } : 'unknown token';
    },
    { cache: '2m' },
  );
  const access = authorizes(({ user, namespace }) => (namespace === teamOf(user) ? 'allow' : 'no opinion'));

  const asked = async (webhook: typeof tokens, spec: object, kind: string) => {
    const group = kind === 'TokenReview' ? 'authentication.k8s.io' : 'authorization.k8s.io';
    const [route] = webhook.bind({ client: {} as never, runtime: resolveRuntime({ log }), record: () => {} });
    const answer = await route?.answer({
      path: route.path,
      query: new URLSearchParams(),
      contentType: 'application/json',
      body: new TextEncoder().encode(JSON.stringify({ apiVersion: `${group}/v1`, kind, spec })),
      signal: new AbortController().signal,
    });
    return JSON.parse(answer?.body as string).status;
  };
  const user = { username: 'ada@example.com', groups: ['shop'] };
  expect(await asked(tokens, { token: 'a-token' }, 'TokenReview')).toMatchObject({ authenticated: true, user });
  const resourceAttributes = { verb: 'get', resource: 'pods', namespace: 'shop' };
  const review = { user: 'ada@example.com', resourceAttributes };
  expect(await asked(access, review, 'SubjectAccessReview')).toMatchObject({ allowed: true });
});

test('manifests', async () => {
  const at = { name: 'site-operator', namespace: 'site-operator' };
  const objects = webhookManifests([siteRules], { ...at, selector: { app: 'site-operator' } });
  const rules = collectRbac([sites, webhookRights([siteRules], at)]);
  const manifests = await objectsToYaml([...objects, ...rbacManifests(rules, at)]);
  for (const kind of ['Service', 'MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration', 'ClusterRole']) {
    expect(manifests).toContain(`kind: ${kind}\n`);
  }
});

test('alone', async () => {
  const client = createClient(await loadConfig());
  const stop = new AbortController();
  const { signal } = stop;
  const port = 0;
  const runtime = { log };
  const server = new WebhookServer({ webhooks: [siteRules], client, port, runtime });
  const ended = server.run({ signal });
  await server.listening;
  expect(server.url).toMatch(/^https:/);
  stop.abort();
  await ended;
});

const smallSites = policy(Site, { name: 'small-sites' })
  .require(({ object }) => object.spec.replicas.lte(10), { message: 'at most 10 replicas' })
  .require(({ object }) => object.spec.hosts.all((host) => host.name.endsWith('.example.com')), {
    messageExpression: ({ object }) => concat(object.metadata.name, ' has a host outside of example.com'),
  });

test('policies', async () => {
  const site = Site({ metadata: { namespace: 'shop', name: 'cart' }, spec: { image: 'nginx', replicas: 11 } });
  const [violation] = await smallSites.check(site); // { policy: 'small-sites', message: 'at most 10 replicas', … }
  const manifests = await policyManifests(smallSites);
  expect(violation).toMatchObject({ policy: 'small-sites', message: 'at most 10 replicas', actions: ['deny'] });
  expect(manifests.map(({ kind }) => kind)).toEqual(['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding']);
  const elsewhere = {
    ...site,
    spec: { image: 'nginx', hosts: [{ name: 'a.example.com' }, { name: 'b.example.org' }] },
  };
  expect(await smallSites.check(elsewhere)).toMatchObject([{ message: 'cart has a host outside of example.com' }]);
});
