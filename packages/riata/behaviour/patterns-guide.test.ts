import { readFile } from 'node:fs/promises';
import { environmentPerFile } from '@riata/testing';
import { type ConnectedClient, defineKind, type KindOf, Manager, type RestConfig, silentLogger } from 'riata';
import { ConfigMap, Deployment, Namespace, Secret, Service } from 'riata/kinds';
import {
  Apply,
  Cond,
  Controllers,
  collectRbac,
  computeStatus,
  crdsFromYaml,
  crdsToYaml,
  exportYaml,
  installCrds,
  objectsFromYaml,
  rbacManifests,
  registerGeneratingHandler,
  registerStatusHandler,
  relatedResource,
  summarize,
  typesFromCrds,
} from 'riata/patterns';
import { SharedControllerFactory } from 'riata/shared';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';

const Site = defineKind({
  group: 'patterns-guide.riata.dev',
  version: 'v1',
  kind: 'Site',
  spec: z.object({ title: z.string(), image: z.string().default('nginx') }),
  status: z.object({ pages: z.int(), state: z.string() }),
});
interface Site extends KindOf<typeof Site> {}

/** The real server where there is one (`npm run test:real`), else the embedded one. */
const env = environmentPerFile({ beforeAll, afterAll, afterEach }, { kinds: [Site], time: 'real', log: silentLogger });
const options = { runtime: { log: silentLogger } };
let client: ConnectedClient;
let config: RestConfig;
let namespace = '';

beforeAll(async () => {
  ({ client, config } = env());
  namespace = await env().namespace('patterns-guide');
  env().keep();
});

/** A signal that aborts when the block is left, and controllers that end then. */
async function start(signalled: (controllers: Controllers, signal: AbortSignal) => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const { signal } = stop;
  const cacheDefaults = { namespaces: [namespace] };
  await using controllers = await Controllers.fromConfig(config, { ...options, cacheDefaults });
  try {
    await signalled(controllers, signal);
  } finally {
    stop.abort();
  }
}

const soon = (expectation: () => Promise<void>) => env().eventually(expectation);

test('typed controllers', async () => {
  const log: string[] = [];
  await start(async (controllers, signal) => {
    const sites = controllers.for(Site); // nothing is listed or watched yet
    sites.onChange(
      'greet',
      (key, site) => {
        log.push(site === undefined ? `${key} is gone` : `hello ${site.spec.title}`);
      },
      { signal },
    );
    sites.cache.addIndexer('by-image', (site) => [site.spec.image]);
    await controllers.start({ workers: 5, signal });

    await sites.create(Site({ metadata: { namespace, name: 'blog' }, spec: { title: 'Blog' } }));
    const [blog] = await sites.cache.getByIndex('by-image', 'nginx'); // includes own writes at once
    sites.enqueueAfter({ namespace, name: 'blog' }, '5m');
    await sites.delete({ namespace, name: 'blog' });

    expect(blog?.spec.title).toBe('Blog');
    await soon(async () => expect(log).toContain(`${namespace}/blog is gone`));
  });
});

test('cleaning up', async () => {
  const bucket = { removed: [] as string[], remove: async (uid: string) => void bucket.removed.push(uid) };
  await start(async (controllers, signal) => {
    const sites = controllers.for(Site);
    sites.onRemove('bucket', (_, site) => bucket.remove(site.metadata.uid), { signal });
    await controllers.start({ signal });

    const site = await client.create(Site({ metadata: { namespace, name: 'shop' }, spec: { title: 'Shop' } }));
    const key = { namespace, name: 'shop' };
    await soon(async () => expect((await client.get(Site, key)).metadata.finalizers).toHaveLength(1));
    await client.delete(Site, key);
    await soon(async () => expect(await client.find(Site, key)).toBeUndefined());
    expect(bucket.removed).toEqual([site.metadata.uid]);
  });
  await client.create(
    Site({
      metadata: { namespace, name: 'old', finalizers: ['wrangler.cattle.io/bucket'] },
      spec: { title: 'Old' },
    }),
  );
  await start(async (controllers) => {
    controllers.for(Site).onRemove('bucket', () => {});
    const cleared = await controllers.clearFinalizers();
    expect(cleared.map(({ key }) => key)).toEqual([`${namespace}/old`]);
  });
  await client.delete(Site, { namespace, name: 'old' });
});

test('status and generated objects', async () => {
  await start(async (controllers, signal) => {
    const sites = controllers.for(Site);
    const deployments = controllers.for(Deployment);
    const apply = new Apply(controllers.factory.clients.client);

    registerGeneratingHandler(sites, apply, { name: 'site', condition: 'Deployed', signal }, (site) => ({
      objects: objectsFor(site),
    }));
    registerStatusHandler(sites, { name: 'state', signal }, async (site, status) => {
      const deployment = await deployments.cache.find(site.metadata);
      return { ...status, state: deployment === undefined ? 'none' : summarize(deployment).state };
    });
    relatedResource.watch('site', relatedResource.ownerResolver(Site), sites, [deployments], { signal });

    await controllers.start({ signal });
    const key = { namespace, name: 'docs' };
    await client.create(Site({ metadata: key, spec: { title: 'Docs' } }));
    const Deployed = new Cond('Deployed');
    await soon(async () => expect(Deployed.isTrue(await client.get(Site, key))).toBe(true));
    await soon(async () => expect((await client.get(Site, key)).status?.state).toBe('in-progress'));

    const deployment = await client.get(Deployment, key);
    const { state, message } = summarize(deployment); // 'in-progress', ['0 of 1 replicas are created']
    const { status, reason } = computeStatus(deployment); // 'InProgress', 'LessReplicas'
    expect([state, message, status]).toEqual(['in-progress', ['0 of 1 replicas are created'], 'InProgress']);
    expect(reason).toBe('LessReplicas');

    const owner = await client.get(Site, key);
    const plan = await apply.dryRun([], { owner, setId: 'site' });
    expect(plan.delete).toHaveLength(2);
    expect(String(plan)).toContain(`delete Deployment.apps ${namespace}/docs`);

    await client.delete(Site, key);
    await soon(async () => expect(await client.find(Deployment, key)).toBeUndefined());
  });
});

function objectsFor(site: Site) {
  const labels = { site: site.metadata.name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: site.spec.image }] } };
  return [
    Service({ metadata: { name: site.metadata.name }, spec: { selector: labels, ports: [{ port: 80 }] } }),
    Deployment({ metadata: { name: site.metadata.name }, spec: { selector: { matchLabels: labels }, template } }),
  ];
}

test('with a Manager', async () => {
  const stop = new AbortController();
  const { signal } = stop;
  await using manager = await Manager.create({ config, ...options, cache: { namespaces: [namespace] } });

  const factory = SharedControllerFactory.fromManager(manager, options);
  const sites = new Controllers(factory).for(Site);
  const apply = new Apply(manager.leaderClient); // fenced: writes only while this replica leads
  registerGeneratingHandler(sites, apply, { name: 'site', signal }, (site) => ({ objects: objectsFor(site) }));
  manager.add(factory, { stage: 'leader' }); // each kind is still watched only once
  const ended = manager.run({ signal });

  const key = { namespace, name: 'led' };
  await client.create(Site({ metadata: key, spec: { title: 'Led' } }));
  await soon(async () => expect((await client.get(Deployment, key)).spec?.replicas).toBe(1));
  await client.delete(Site, key);
  await soon(async () => expect(await client.find(Deployment, key)).toBeUndefined());
  stop.abort();
  expect((await ended).reason).toBe('stopped');
  await factory[Symbol.asyncDispose]();
});

test('desired sets', async () => {
  const log: string[] = [];

  const shop = new Apply(client, { setId: 'shop', defaultNamespace: namespace });
  const cart = (currency: string) => ConfigMap({ metadata: { name: 'cart' }, data: { currency } });
  const keys = Secret({ metadata: { name: 'keys' }, stringData: { token: 'secret' } });

  const { created } = await shop.apply([cart('EUR'), keys]);
  const { unchanged } = await shop.apply([cart('EUR'), keys]); // no writes

  const changes = await shop.dryRun([cart('USD')]);
  log.push(String(changes));

  const { updated, deleted } = await shop.apply([cart('USD')]);
  await shop.apply([]); // deletes the whole set

  expect([created.length, unchanged.length, updated.length, deleted.length]).toEqual([2, 2, 1, 1]);
  const guide = await readFile(new URL('../../../docs/patterns.md', import.meta.url), 'utf8');
  const shown = /```text\n([\s\S]*?)\n```/.exec(guide)?.[1];
  expect(log).toEqual([shown?.replaceAll(' shop/', ` ${namespace}/`)]);
  expect(await client.find(ConfigMap, { namespace, name: 'cart' })).toBeUndefined();
});

test('definitions, files, rights', async () => {
  await start(async (controllers) => {
    controllers.for(Site);
    await installCrds(client, [Site]);

    const text = await crdsToYaml([Site]); // for files and charts
    const types = typesFromCrds(await crdsFromYaml(text)); // a TypeScript module: types and a Kind
    const objects = await objectsFromYaml(await exportYaml([await client.get(Namespace, { name: namespace })]));

    const rules = collectRbac([controllers.factory], { writes: [Deployment] });
    const manifests = rbacManifests(rules, { name: 'site-controller', namespace });

    expect(types).toContain("export const Site: Kind<Site, SiteWrite, 'Namespaced'> = makeKind({");
    expect(objects.map(({ metadata }) => metadata.name)).toEqual([namespace]);
    expect(manifests.map(({ kind }) => kind)).toEqual([
      ...['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
    ]);
  });
});
