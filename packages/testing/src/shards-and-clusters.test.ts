import { control } from 'riata/controller';
import { ConfigMap } from 'riata/kinds';
import { expect, test } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import { inDefault } from './widget.fixture.js';

const names = Array.from({ length: 30 }, (_, at) => `m${at}`);

/** Replicas that share the ConfigMaps of the test, and what each of them was called for. */
async function replicas(env: TestEnvironment) {
  const seen: string[] = [];
  const start = async (identity: string) => {
    const maps = control(ConfigMap, { sharded: true, predicates: [({ key }) => key.startsWith('default/m')] })
      .evenWhenGone()
      .reconcile(({ object, key: { name } }) => void seen.push(`${identity} ${object ? 'has' : 'misses'} ${name}`));
    const sharding = { namespace: 'default', name: 'ring', identity };
    const run = await env.startManager({ name: identity, sharding, run: [maps] });
    const owned = () => run.manager.shards?.owned.length ?? 0;
    const owns = (name: string) => run.manager.shards?.owns(inDefault(name)) ?? false;
    return { run, owned, owns };
  };
  for (const name of names) await env.client.create(ConfigMap({ metadata: inDefault(name) }));
  return { seen, start };
}

test('an object that is deleted while its replica is dead is reported by the next one, which did not own it before', async () => {
  await using env = await TestEnvironment.start({ server: 'in-process' });
  const { seen, start } = await replicas(env);
  const [a, b] = [await start('a'), await start('b')];
  await env.eventually(() => a.owned() === 32 && b.owned() === 32 && seen.length >= names.length, { within: '2m' });
  const orphan = names.find((name) => a.owns(name)) ?? expect.fail('a has none');
  const kept = names.find((name) => b.owns(name)) ?? expect.fail('b has none');
  // As a process that has crashed: nothing of it arrives any more.
  env.faults.add({ client: 'a' }, { refuse: true });
  await env.eventually(() => a.owned() === 0, { within: '1m' });
  seen.length = 0;
  await env.client.delete(ConfigMap, inDefault(orphan));
  await env.client.delete(ConfigMap, inDefault(kept));
  await env.eventually(() => b.owned() === 64, { within: '1m' });
  await env.settle();
  expect(seen.filter((line) => line.includes('misses')).sort()).toEqual(
    [`b misses ${orphan}`, `b misses ${kept}`].sort(),
  );
});

test('a predicate that fails for one object of slots that were gained: the others are reconciled, it is when it can be', async () => {
  await using env = await TestEnvironment.start({ server: 'in-process' });
  let poison = '';
  const seen: string[] = [];
  const start = async (identity: string) => {
    const passes = ({ key }: { readonly key: string }) => {
      if (identity === 'b' && key === `default/${poison}`) throw new Error('cannot decide');
      return key.startsWith('default/m');
    };
    const maps = control(ConfigMap, { name: 'maps', sharded: true, predicates: [passes] }).reconcile(
      ({ key: { name } }) => void seen.push(`${identity} ${name}`),
    );
    const sharding = { namespace: 'default', name: 'ring', identity };
    return env.startManager({ name: identity, sharding, run: [maps] });
  };
  for (const name of names) await env.client.create(ConfigMap({ metadata: inDefault(name) }));
  const [a, b] = [await start('a'), await start('b')];
  const owned = ({ manager }: typeof a) => names.filter((name) => manager.shards?.owns(inDefault(name)));
  await env.eventually(() => seen.length >= names.length && owned(b).length > 0, { within: '2m' });
  // The watch of b has let it through before, and the key was not b's.
  poison = owned(a)[0] ?? expect.fail('a owns no object');
  const moved = owned(a).filter((name) => name !== poison);
  seen.length = 0;
  await a.stop();
  await env.eventually(() => moved.every((name) => seen.includes(`b ${name}`)), { within: '2m' });
  const failing = () => b.controllers.flatMap((controller) => controller.failing);
  expect(failing()).toMatchObject([{ source: 'for ConfigMap', function: 'predicate', key: `default/${poison}` }]);
  expect(seen).not.toContain(`b ${poison}`);
  await env.advance('10m');
  expect(failing()).toHaveLength(1);
  poison = '';
  const late = failing()[0]?.key.replace('default/', '');
  await env.eventually(() => seen.includes(`b ${late}`), { within: '2m' });
  expect(failing()).toEqual([]);
});

/** Of the ConfigMaps that there are, the test's own. */
const predicates = [({ key }: { readonly key: string }) => key === 'default/a'];
const clusters = 'added' as const;

/** A server that is the manager's own and, under another name, a cluster that is added. */
async function withNorth() {
  const env = await TestEnvironment.start({ server: 'in-process' });
  await env.client.create(ConfigMap({ metadata: inDefault('a') }));
  const north = () => env.connect({ name: 'north' }).config;
  return { env, north };
}

test('a cluster that comes back at once under the same name waits for what still runs for the old one', async () => {
  const { env, north } = await withNorth();
  await using _ = env;
  const reported: string[] = [];
  let goOn = () => {};
  const maps = control(ConfigMap, { clusters, predicates, concurrency: 4 }).reconcile(async ({ client, signal }) => {
    reported.push('begins');
    // The first one does not listen to its signal.
    if (reported.length === 1) {
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
    }
    const read = await client.get(ConfigMap, inDefault('a')).catch(() => undefined);
    reported.push(`${read ? 'reads' : 'cannot read'}, ${signal.aborted ? 'aborted' : 'wanted'}`);
  });
  const { manager } = await env.run(maps);
  manager.clusters.add('north', north());
  await env.eventually(() => reported.length === 1);
  const removed = manager.clusters.remove('north');
  manager.clusters.add('north', north());
  await env.advance('1m');
  expect(reported).toEqual(['begins']);
  goOn();
  await removed;
  await env.settle();
  expect(reported).toEqual(['begins', 'cannot read, aborted', 'begins', 'reads, wanted']);
});

test('clusters that come and go, synced or not, are worked on while they are there; without any a test settles', async () => {
  const { env, north } = await withNorth();
  await using _ = env;
  let runs = 0;
  const maps = control(ConfigMap, { clusters, predicates }).reconcile(() => {
    runs += 1;
  });
  const { manager } = await env.run(maps);
  await env.settle();
  for (let round = 1; round <= 3; round += 1) {
    manager.clusters.add('north', north());
    await manager.clusters.remove('north');
    manager.clusters.add('north', north());
    await env.eventually(() => runs === round);
    await manager.clusters.remove('north');
  }
  await env.settle();
  expect([runs, manager.clusters.names, manager.clusters.get('north')]).toEqual([3, [], undefined]);
  const records = env.log.records.filter(({ level }) => level === 'warn' || level === 'error');
  expect(records).toEqual([]);
});

test('after an added cluster has gone, a second pass still goes over the manager’s own', async () => {
  const { env, north } = await withNorth();
  await using _ = env;
  const seen: string[] = [];
  const maps = control(ConfigMap, { clusters: 'all', predicates }).reconcile(
    ({ key }) => void seen.push(`${key.cluster ?? 'own'} ${key.name}`),
  );
  const { manager } = await env.run(maps);
  manager.clusters.add('north', north());
  await env.eventually(() => seen.length === 2);
  await manager.clusters.remove('north');
  expect(seen.sort()).toEqual(['north a', 'own a']);
  await env.expectConverged();
  expect(seen.filter((line) => line === 'own a')).toHaveLength(2);
});

test('clusters that were added before a controller are handled as soon as it runs, without an alarm', async () => {
  const { env, north } = await withNorth();
  await using _ = env;
  const at: number[] = [];
  const maps = control(ConfigMap, { clusters, predicates }).reconcile(() => void at.push(env.clock.monotonic()));
  const leaderElection = { namespace: 'default', name: 'lead' };
  await using first = await env.startManager({ leaderElection });
  const { manager } = await env.startManager({ leaderElection });
  manager.add(maps);
  manager.clusters.add('north', north());
  await env.advance('10s');
  expect(at).toEqual([]);
  let electedAt: number | undefined;
  void manager.elected.then(() => {
    electedAt = env.clock.monotonic();
  });
  await first.stop();
  await env.eventually(() => at.length > 0);
  expect(at).toEqual([electedAt]);
  expect(env.log.records.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
});

test('replicas share the keys of added clusters; one that is refused or goes while slots come is no alarm', async () => {
  const { env, north } = await withNorth();
  await using _ = env;
  const few = names.slice(0, 8);
  for (const name of few) await env.client.create(ConfigMap({ metadata: inDefault(name) }));
  const seen: string[] = [];
  const maps = (identity: string) =>
    control(ConfigMap, {
      clusters: 'all',
      sharded: true,
      predicates: [({ key }) => key.startsWith('default/m')],
    }).reconcile(({ key }) => void seen.push(`${identity} ${key.cluster ?? 'own'} ${key.name}`));
  const start = (identity: string) => {
    const sharding = { namespace: 'default', name: 'ring', identity };
    return env.startManager({ name: identity, sharding, run: [maps(identity)] });
  };
  const runs = [await start('a'), await start('b')];
  const refusal = env.faults.add({ client: 'north', kind: ConfigMap }, { fail: { code: 403 } });
  env.faults.add({ client: 'south' }, { stall: 'request' });
  for (const { manager } of runs) {
    manager.clusters.add('north', north());
    manager.clusters.add('south', env.connect({ name: 'south' }).config);
  }
  await env.eventually(() => runs.every(({ manager }) => (manager.shards?.owned.length ?? 0) > 0), { within: '2m' });
  for (const { manager } of runs) await manager.clusters.remove('south');
  await env.advance('10s');
  refusal.remove();
  await env.settle();
  const shared = [...new Set(seen.map((line) => line.slice(2)))].sort();
  expect(shared).toEqual([...few.map((name) => `north ${name}`), ...few.map((name) => `own ${name}`)]);
  expect(new Set(seen.map((line) => line.slice(0, 1)))).toEqual(new Set(['a', 'b']));
  expect(env.log.messages('error').filter((message) => message.includes('newly acquired slots'))).toEqual([]);
});

test('a controller that is removed is done with clusters that it could not work on', async () => {
  const { env, north } = await withNorth();
  await using _ = env;
  const run = await env.startManager();
  const added = run.add(control(ConfigMap, { clusters, predicates }).reconcile(() => {}));
  env.faults.add({ client: 'north' }, { refuse: true });
  run.manager.clusters.add('north', north());
  await env.advance('1m');
  // An operator who reads this at night needs to know which one.
  const reported = env.log.records.filter(({ level }) => level === 'warn' || level === 'error');
  expect(reported).not.toEqual([]);
  expect(reported.filter(({ fields }) => fields?.cluster !== 'north')).toEqual([]);
  await added.remove();
  env.log.clear();
  await env.advance('10m');
  expect(env.log.records).toEqual([]);
});

test('what names no cluster is refused with the remedy', async () => {
  await using env = await TestEnvironment.start({ server: 'in-process' });
  const { manager } = await env.startManager();
  const add = (...args: readonly unknown[]) =>
    manager.clusters.add(...(args as Parameters<typeof manager.clusters.add>));
  expect(() => add('a/b', {})).toThrow('name must be a non-empty string without a slash, got "a/b"');
  expect(() => add(undefined)).toThrow('name must be a non-empty string without a slash');
  expect(() => add('north')).toThrow('cluster "north": config must have the URL of a server');
});
