import { ApiServer } from '@riata/apiserver';
import { createClient } from 'riata/client';
import { control } from 'riata/controller';
import { ConfigMap, Secret } from 'riata/kinds';
import { bucketRateLimiter, type RateLimiterContext } from 'riata/queue';
import { seededRandom } from 'riata/runtime';
import { expect, test } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import { inDefault } from './widget.fixture.js';

const predicates = [({ key }: { readonly key: string }) => key.startsWith('default/m')];
const clusters = 'added' as const;
const map = (name: string) => ConfigMap({ metadata: inDefault(name) });

/** A server that is the manager's own and, under another name, a cluster that is added. */
async function withNorth() {
  const env = await TestEnvironment.start({ server: 'in-process' });
  for (const name of ['m1', 'm2']) await env.client.create(map(name));
  const north = () => env.connect({ name: 'north' }).config;
  return { env, north };
}

test('keys of a cluster that is not synced yet wait, with what led to them, and are no reconciles until then', async () => {
  const { env, north } = await withNorth();
  await using _ = env;
  const slow = env.faults.add({ client: 'north', kind: Secret }, { stall: 'request' });
  const maps = control(ConfigMap, { clusters, predicates })
    .watches(Secret, () => [])
    .reconcile(() => {});
  const { manager } = await env.run(maps);
  manager.clusters.add('north', north());
  await env.advance('20s');
  // Once more, while they wait.
  await env.client.patch(ConfigMap, inDefault('m1'), { type: 'merge', body: { data: { a: 'b' } } });
  await env.advance('20s');
  expect([manager.explain, manager.controllers[0]?.waitingFor]).toEqual([[], ['cluster north']]);
  slow.remove();
  env.faults.dropConnections();
  await env.eventually(() => manager.explain.length >= 2, { within: '5m' });
  const reported = manager.explain.map(({ key, attempt, outcome, reasons }) => [
    ...[key.cluster, key.name, attempt, outcome],
    reasons.map(({ source, change }) => `${source} ${change}`),
  ]);
  expect(reported).toEqual([
    ['north', 'm1', 1, 'success', ['for ConfigMap Added', 'for ConfigMap Updated']],
    ['north', 'm2', 1, 'success', ['for ConfigMap Added']],
  ]);
  expect(manager.controllers[0]?.waitingFor).toEqual([]);
});

test('keys that are left of a cluster that was removed are no reconciles either', async () => {
  const { env, north } = await withNorth();
  await using _ = env;
  const maps = control(ConfigMap, { clusters, predicates }).reconcile(() => ({ requeueAfter: '10s' }));
  const { manager } = await env.run(maps);
  manager.clusters.add('north', north());
  await env.eventually(() => manager.explain.length === 2);
  await manager.clusters.remove('north');
  await env.advance('1m');
  expect(manager.explain).toHaveLength(2);
  expect(manager.controllers[0]).toMatchObject({ queued: 0, delayed: 0 });
});

test('a dead cluster is reported by probes and metrics, and stops no other; a removed one is no longer reported', async () => {
  const { env, north } = await withNorth();
  await using _ = env;
  const { manager } = await env.startManager({
    ...{ health: { host: '127.0.0.1', port: 0 }, metrics: { host: '127.0.0.1', port: 0, debug: true } },
    run: [control(ConfigMap, { clusters: 'all', predicates }).reconcile(() => {})],
  });
  const ask = async (path: string, server = 'health probes') => {
    // One connection each: the server closes idle ones in its own time.
    const response = await fetch(`${manager.urls[server]}${path}`, { headers: { connection: 'close' } });
    return { status: response.status, body: await response.text() };
  };
  const metrics = async () =>
    (await ask('/metrics', 'metrics')).body.split('\n').filter((line) => /cluster="[^"]/.test(line));
  const most = async () =>
    /max_concurrent_reconciles\{controller="configmap"\} (\d+)/.exec((await ask('/metrics', 'metrics')).body)?.[1];
  const lines = async () =>
    (await ask('/readyz?verbose')).body.split('\n').filter((line) => line.includes('informers/'));
  // The sockets are the machine's, and open in their own time.
  await expect
    .poll(() => Object.values(manager.urls).filter((url) => url !== undefined), { timeout: 60_000 })
    .toHaveLength(2);
  await env.eventually(() => manager.explain.length === 2);
  expect(await metrics()).toEqual([]);
  const dead = env.faults.add({ client: 'north' }, { refuse: true });
  manager.clusters.add('north sea', north());
  await env.advance('10m');
  const [healthz, readyz, alone] = [
    await ask('/healthz'),
    await ask('/readyz'),
    await ask('/readyz/informers/north%20sea'),
  ];
  expect([healthz, readyz]).toEqual([
    { status: 200, body: 'ok' },
    { status: 200, body: 'ok' },
  ]);
  expect(alone).toMatchObject({
    status: 503,
    body: expect.stringContaining('[-]informers/north sea failed: Error: not synced: configmaps: '),
  });
  expect(await lines()).toEqual([expect.stringContaining('[-]informers/north sea failed, which does not count: ')]);
  expect(() => manager.clusters.get('north sea')?.check()).toThrow('not synced: configmaps');
  expect(await metrics()).toEqual(
    expect.arrayContaining([
      'riata_cluster_healthy{cluster="north sea"} 0',
      'riata_informer_synced{cluster="north sea",informer="configmaps"} 0',
    ]),
  );
  dead.remove();
  await env.eventually(() => manager.explain.length === 4, { within: '5m' });
  expect(await lines()).toEqual(['[+]informers/north sea ok']);
  expect(await ask('/readyz/informers/north%20sea')).toEqual({ status: 200, body: 'ok' });
  expect(await metrics()).toContain('riata_cluster_healthy{cluster="north sea"} 1');
  expect(await most()).toBe('2');
  const informers = JSON.parse((await ask('/debug/informers', 'metrics')).body) as readonly object[];
  expect(informers).toMatchObject([{ synced: true }, { cluster: 'north sea', synced: true }]);
  await manager.clusters.remove('north sea');
  expect([await lines(), await metrics()]).toEqual([[], []]);
  expect(await most()).toBe('1');
  expect((await ask('/readyz/informers/north%20sea')).status).toBe(404);
});

/** An environment, and a server beside its own. */
async function withAnother() {
  const env = await TestEnvironment.start({ server: 'in-process' });
  const { clock, log } = env;
  const server = await ApiServer.start({ clock, log, random: seededRandom(2) });
  const client = createClient(server.config, { runtime: { clock, log } });
  return { env, server, client };
}

test('settle waits for what happens in added clusters, on any server', async () => {
  const { env, server, client } = await withAnother();
  await using _ = env;
  const seen: string[] = [];
  const maps = control(ConfigMap, { clusters: 'added', predicates }).reconcile(
    ({ key, object }) => void seen.push(`${key.cluster} ${key.name} ${object.data?.a}`),
  );
  const { manager } = await env.run(maps);
  await client.create(map('m1'));
  await env.client.create(map('m2'));
  manager.clusters.add('here', env.connect({ name: 'here' }).config);
  manager.clusters.add('there', server.config);
  await env.settle();
  expect(seen.sort()).toEqual(['here m2 undefined', 'there m1 undefined']);
  // Events come late.
  env.faults.delayEvents('20s', { client: 'here' });
  env.faults.dropConnections();
  await env.settle();
  await env.client.patch(ConfigMap, inDefault('m2'), { type: 'merge', body: { data: { a: 'b' } } });
  await client.patch(ConfigMap, inDefault('m1'), { type: 'merge', body: { data: { a: 'c' } } });
  await env.settle();
  expect(seen.slice(2).sort()).toEqual(['here m2 b', 'there m1 c']);
  // A look at a cluster is no request of it.
  expect(env.requests.select({ client: 'here', verb: 'get' })).toEqual([]);
});

test('settle names the cluster that keeps it waiting', async () => {
  const { env } = await withAnother();
  await using _ = env;
  const maps = control(ConfigMap, { clusters: 'added', predicates }).reconcile(() => {});
  const { manager } = await env.run(maps);
  await env.settle();
  env.faults.add({ client: 'north' }, { refuse: true });
  manager.clusters.add('north', env.connect({ name: 'north' }).config);
  await expect(env.settle()).rejects.toThrow(
    /still not settled after 10m.*cluster north: the informer of configmaps is .*controller "configmap" waits for: cluster north/,
  );
  await manager.clusters.remove('north');
  await env.settle();
});

test('expectConverged covers added clusters, and keeps their writes and failures apart', async () => {
  const { env, server, client } = await withAnother();
  await using _ = env;
  const passes: string[] = [];
  let restless = '';
  let failing = '';
  const maps = control(ConfigMap, { clusters: 'all', predicates, name: 'maps' }).reconcile(
    async ({ key, client: own }) => {
      const where = key.cluster ?? 'own';
      passes.push(`${where} ${key.name}`);
      if (where === failing && key.name === 'm1') throw new Error('not today');
      if (where !== restless || key.name !== 'm1') return;
      const data = { count: String(passes.length) };
      await own.patch(ConfigMap, inDefault('c'), { type: 'merge', body: { data } });
    },
  );
  const { manager } = await env.run(maps);
  for (const each of [client, env.client]) {
    await each.create(map('m1'));
    await each.create(map('c'));
  }
  manager.clusters.add('here', env.connect({ name: 'here' }).config);
  manager.clusters.add('there', server.config);
  await env.expectConverged();
  const ofMaps = (name: string) => passes.filter((line) => line.endsWith(name)).sort();
  expect(ofMaps(' m1')).toEqual(['here m1', 'here m1', 'own m1', 'own m1', 'there m1', 'there m1']);
  for (const cluster of ['here', 'there']) {
    restless = cluster;
    await expect(env.expectConverged()).rejects.toThrow(
      `1 writes, and should make none:\n  patch ConfigMap default/c, by controller "maps" reconciling ${cluster}//default/m1`,
    );
    await env.expectConverged({ ignore: ({ verb, object }) => verb === 'patch' && object === 'ConfigMap default/c' });
  }
  restless = '';
  failing = 'here';
  await client.patch(ConfigMap, inDefault('m1'), { type: 'merge', body: { data: { a: 'b' } } });
  await env.client.patch(ConfigMap, inDefault('m1'), { type: 'merge', body: { data: { a: 'b' } } });
  await expect(env.expectConverged({ horizon: '0s' })).rejects.toThrow(
    /maps here\/\/default\/m1, attempt \d+: .*not today/,
  );
});

test('a controller that never comes to rest in an added cluster is found', async () => {
  const { env } = await withAnother();
  await using _ = env;
  await env.client.create(map('m1'));
  const maps = control(ConfigMap, { clusters: 'added', predicates, name: 'maps' }).reconcile(
    async ({ object, client }) => {
      const count = Number(object.data?.count ?? 0) + 1;
      await client.patch(ConfigMap, inDefault('m1'), { type: 'merge', body: { data: { count: String(count) } } });
    },
  );
  const { manager } = await env.run(maps);
  manager.clusters.add('north', env.connect({ name: 'north' }).config);
  await expect(env.settle({ maxRequests: 200 })).rejects.toThrow('patch ConfigMap default/m1');
});

test('a cluster that does not answer takes its own turns alone, and continues when it does', async () => {
  const { env, north } = await withNorth();
  await using _ = env;
  const ended: string[] = [];
  const maps = control(ConfigMap, { clusters: 'all', predicates, concurrency: 1, drain: '0s' }).reconcile(
    async ({ key, client }) => {
      await client.list(Secret, { namespace: 'default' });
      ended.push(key.cluster ?? 'own');
      return { requeueAfter: '10s' };
    },
  );
  const run = await env.run(maps);
  const { manager } = run;
  const hanging = env.faults.add({ client: 'north', kind: Secret }, { stall: 'request' });
  manager.clusters.add('north', north());
  manager.clusters.add('south', env.connect({ name: 'south' }).config);
  await env.advance('1m');
  // Two objects in each.
  const count = (cluster: string) => ended.filter((each) => each === cluster).length;
  expect([count('own'), count('south'), count('north')]).toEqual([14, 14, 0]);
  expect(manager.controllers[0]).toMatchObject({ queued: 1, active: [{ key: { cluster: 'north' } }] });
  hanging.remove();
  env.faults.dropConnections();
  await env.eventually(() => count('north') >= 2, { within: '5m' });
  expect(manager.explain.filter(({ key }) => key.cluster === 'north').at(-1)?.reasons).not.toEqual([]);
  await manager.clusters.remove('south');
  await manager.clusters.remove('north');
  ended.length = 0;
  await env.advance('1m');
  expect([ended.length, new Set(ended)]).toEqual([12, new Set(['own'])]);
  expect(await run.stop()).toEqual({ reason: 'stopped', unfinished: [] });
});

test('what fails in one cluster has no retries of others wait', async () => {
  const { env, north } = await withNorth();
  await using _ = env;
  const rateLimiter = ({ clock }: RateLimiterContext) => bucketRateLimiter({ clock, qps: 0.001, burst: 1 });
  const maps = control(ConfigMap, {
    ...{ clusters, rateLimiter },
    predicates: [({ key }) => key === 'default/m1'],
  }).reconcile(({ attempt }) => {
    if (attempt === 1) throw new Error('not at once');
  });
  const { manager } = await env.run(maps);
  manager.clusters.add('north', north());
  manager.clusters.add('south', env.connect({ name: 'south' }).config);
  await env.advance('1s');
  const reported = manager.explain.map(({ key, outcome }) => `${key.cluster} ${outcome}`).sort();
  expect(reported).toEqual(['north error', 'north success', 'south error', 'south success']);
});
