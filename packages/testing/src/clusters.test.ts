import { control } from 'riata/controller';
import { ConfigMap, Secret } from 'riata/kinds';
import { expect, test } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import { inDefault } from './widget.fixture.js';

const predicates = [({ key }: { readonly key: string }) => key.startsWith('default/m')];
const clusters = 'added' as const;

/** A server that is the manager's own and, under another name, a cluster that is added. */
async function withNorth() {
  const env = await TestEnvironment.start({ server: 'in-process' });
  for (const name of ['m1', 'm2']) await env.client.create(ConfigMap({ metadata: inDefault(name) }));
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
  expect(manager.explain).toEqual([]);
  slow.remove();
  env.faults.dropConnections();
  await env.eventually(() => manager.explain.length >= 2, { within: '5m' });
  const told = manager.explain.map(({ key, attempt, outcome, reasons }) => [
    ...[key.cluster, key.name, attempt, outcome],
    reasons.map(({ source, change }) => `${source} ${change}`),
  ]);
  expect(told).toEqual([
    ['north', 'm1', 1, 'success', ['for ConfigMap Added', 'for ConfigMap Updated']],
    ['north', 'm2', 1, 'success', ['for ConfigMap Added']],
  ]);
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

test('a cluster that is dead is told by probes and metrics, and takes nobody down; what is removed is told no more', async () => {
  const { env, north } = await withNorth();
  await using _ = env;
  const { manager } = await env.startManager({
    ...{ health: { host: '127.0.0.1', port: 0 }, metrics: { host: '127.0.0.1', port: 0, debug: true } },
    run: [control(ConfigMap, { clusters: 'all', predicates }).reconcile(() => {})],
  });
  const ask = async (path: string, server = 'health probes') => {
    const response = await fetch(`${manager.urls[server]}${path}`);
    return { status: response.status, body: await response.text() };
  };
  const metrics = async () =>
    (await ask('/metrics', 'metrics')).body.split('\n').filter((line) => /cluster="[^"]/.test(line));
  const lines = async () => (await ask('/readyz?verbose')).body.split('\n').filter((line) => line.includes('/'));
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
  const informers = JSON.parse((await ask('/debug/informers', 'metrics')).body) as readonly object[];
  expect(informers).toMatchObject([{ synced: true }, { cluster: 'north sea', synced: true }]);
  await manager.clusters.remove('north sea');
  expect([await lines(), await metrics()]).toEqual([[], []]);
  expect((await ask('/readyz/informers/north%20sea')).status).toBe(404);
});
