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
