import { allOf, control, intervalSource } from 'riata/controller';
import { ConfigMap, Event, Secret } from 'riata/kinds';
import { isLostLease } from 'riata/runtime';
import { expect, test } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import { inDefault } from './widget.fixture.js';

const map = (name: string) => ConfigMap({ metadata: inDefault(name) });

/** A server that is the manager's own and, under another name, a cluster that is added. */
async function start() {
  const env = await TestEnvironment.start({ server: 'in-process' });
  await env.client.create(map('a'));
  const north = () => env.connect({ name: 'north' }).config;
  return { env, north };
}

const clusters = 'added' as const;
/** Of the ConfigMaps that there are, the test's own. */
const predicates = [({ key }: { readonly key: string }) => key === 'default/a'];

test('what happens in an added cluster is told there, and what is written is the added cluster’s', async () => {
  const { env, north } = await start();
  await using _ = env;
  const maps = control(ConfigMap, { clusters, predicates }).reconcile(({ event }) => {
    event({ type: 'Normal', reason: 'Seen', message: 'once' });
  });
  const { manager } = await env.run(maps);
  manager.clusters.add('north', north());
  await env.settle();
  await manager.clusters.remove('north');
  const { items } = await env.client.list(Event, { namespace: 'default' });
  expect(items).toMatchObject([{ reason: 'Seen', source: { component: 'configmap' }, involvedObject: { name: 'a' } }]);
  expect(env.requests.select({ kind: Event }).map(({ client }) => client)).toEqual(['north']);
});

test('sources of an added cluster go by the manager’s clock and log, and end with the cluster', async () => {
  const { env, north } = await start();
  await using _ = env;
  let asked = 0;
  const maps = control(ConfigMap, { clusters, predicates })
    .source(({ reader }) => {
      const all = allOf(reader, ConfigMap) as (options: { signal: AbortSignal }) => never;
      return intervalSource('1h', (options) => {
        asked += 1;
        return all(options);
      });
    })
    .reconcile(() => {});
  const { manager } = await env.run(maps);
  manager.clusters.add('north', north());
  await env.settle();
  await env.advance('3h');
  expect(asked).toBeGreaterThan(1);
  expect(manager.explain.flatMap(({ reasons }) => reasons.map(({ source }) => source))).toContain('every 1h');
  await manager.clusters.remove('north');
  const before = asked;
  await env.advance('3h');
  expect(asked).toBe(before);
});

test('a cluster that is removed: what runs for it is aborted', async () => {
  const { env, north } = await start();
  await using _ = env;
  const maps = control(ConfigMap, { clusters, predicates }).reconcile(({ signal, clock }) =>
    clock.sleep(3_600_000, { signal }),
  );
  const { manager } = await env.run(maps);
  manager.clusters.add('north', north());
  await env.eventually(() => manager.controllers[0]?.active.length === 1);
  await manager.clusters.remove('north');
  await env.settle();
  expect(manager.explain.at(-1)).toMatchObject({ outcome: 'stopped', key: { cluster: 'north', name: 'a' } });
});

test('a cluster that does not let us in yet is told once, and worked on when it does', async () => {
  const { env, north } = await start();
  await using _ = env;
  const seen: string[] = [];
  const maps = control(ConfigMap, { clusters, predicates }).reconcile(
    ({ key }) => void seen.push(`${key.cluster}/${key.name}`),
  );
  const { manager } = await env.run(maps);
  const answer = { code: 403, reason: 'Forbidden' };
  const refusal = env.faults.add({ client: 'north', kind: ConfigMap }, { fail: answer });
  manager.clusters.add('north', north());
  await env.advance('5m');
  const told = env.log.records.filter(({ level, message }) => level === 'error' && message.startsWith('a cluster'));
  expect([seen, told.length]).toEqual([[], 1]);
  refusal.remove();
  await env.eventually(() => seen.length > 0, { within: '10m' });
  expect(seen).toEqual(['north/a']);
});

test('a leader that has lost its lease writes nothing to added clusters either', async () => {
  const { env, north } = await start();
  await using _ = env;
  const leaderElection = { namespace: 'default', name: 'maps' };
  let write: Promise<unknown> | undefined;
  const maps = control(ConfigMap, { clusters, predicates }).reconcile(async ({ client, signal }) => {
    // Not bound to the signal of the reconcile: all that holds it back is the fence.
    const unbound = { signal: new AbortController().signal };
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    write = client.create(Secret({ metadata: inDefault('late') }), unbound);
    await write;
  });
  const run = await env.startManager({ leaderElection, run: [maps] });
  run.manager.clusters.add('north', north());
  await env.eventually(() => run.controllers[0]?.active.length === 1);
  env.faults.add({ client: run.name }, { refuse: true });
  await env.eventually(() => write !== undefined);
  await expect(write).rejects.toSatisfy(isLostLease);
  expect(await run.ended).toMatchObject({ reason: 'lost-lease' });
  expect(env.requests.lines({ client: 'north', verb: 'write' })).toEqual([]);
});

test('nothing is added to a manager that has stopped', async () => {
  const { env, north } = await start();
  await using _ = env;
  const run = await env.startManager();
  await run.stop();
  expect(() => run.manager.clusters.add('north', north())).toThrow('cluster "north": the manager has stopped');
});
