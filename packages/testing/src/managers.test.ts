import process from 'node:process';
import { run } from 'riata';
import { allOf, control, intervalSource } from 'riata/controller';
import { ConfigMap, Event, Secret } from 'riata/kinds';
import { isConflict } from 'riata/rest';
import { isLostLease } from 'riata/runtime';
import { describe, expect, test } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import type { TestManagerOptions } from './test-manager.js';
import { inDefault, Widget } from './widget.fixture.js';

describe('added clusters', () => {
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

  test('events of an added cluster are recorded there, and writes go to the added cluster', async () => {
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
    expect(items).toMatchObject([
      { reason: 'Seen', source: { component: 'configmap' }, involvedObject: { name: 'a' } },
    ]);
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

  test('a cluster that refuses access is logged once, and reconciled when it grants it', async () => {
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
    const logged = env.log.records.filter(
      ({ level, message }) => level === 'error' && message.startsWith('cannot sync a cluster'),
    );
    expect([seen, logged.length]).toEqual([[], 1]);
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
});

describe('warm-up', () => {
  const leaderElection = { namespace: 'default', name: 'lease' };

  test('a kind that is not served yet keeps no replica from leading, nor the other controllers from work', async () => {
    await using env = await TestEnvironment.start({ server: 'in-process' });
    const seen: string[] = [];
    const widgets = control(Widget, { warmUp: true }).reconcile(() => {});
    const secrets = control(Secret).reconcile(({ key }) => void seen.push(key.name));
    const run = await env.startManager({ leaderElection, run: [widgets, secrets] });
    await env.client.create(Secret({ metadata: inDefault('s') }));
    await env.eventually(() => seen.includes('s'));
    expect(run.controllers.map(({ name, phase }) => `${name} ${phase}`)).toEqual(['widget syncing', 'secret running']);
  });

  test('what a replica that never led has warmed up ends with it, and with the controller', async () => {
    await using env = await TestEnvironment.start({ server: 'in-process' });
    const asked: string[] = [];
    const maps = (name: string) =>
      control(ConfigMap, { name, warmUp: true })
        .source(() =>
          intervalSource('1m', () => {
            asked.push(name);
            return [];
          }),
        )
        .reconcile(() => {});
    await env.startManager({ leaderElection });
    const second = await env.startManager({ leaderElection, run: [maps('one')] });
    await env.settle();
    const two = second.add(maps('two'));
    await env.advance('5m');
    expect(new Set(asked)).toEqual(new Set(['one', 'two']));
    expect(second.exit).toBe(undefined);
    await two.remove();
    asked.length = 0;
    await env.advance('5m');
    expect(new Set(asked)).toEqual(new Set(['one']));
    expect(second.controllers.map(({ name, phase }) => `${name} ${phase}`)).toEqual(['one warm']);
    expect(await second.stop()).toEqual({ reason: 'stopped', unfinished: [] });
    asked.length = 0;
    await env.advance('5m');
    expect(asked).toEqual([]);
  });
});

describe('preconditions', () => {
  const key = inDefault('s');
  const secret = Secret({ metadata: key });
  const place = { namespace: 'default', name: 'lease' };

  describe.each<[string, TestManagerOptions, { readonly sharded?: boolean }]>([
    ['a leader', { leaderElection: place }, {}],
    ['a replica that shares the work', { sharding: place }, { sharded: true }],
  ])('%s', (_, options, how) => {
    test('deletes the object that it knows, or none: not one that was recreated meanwhile; patches get along', async () => {
      await using env = await TestEnvironment.start({ server: 'in-process' });
      await env.client.create(secret);
      const outcomes: unknown[] = [];
      const maps = control(ConfigMap, { ...how, predicates: [(change) => change.key === 'default/a'] })
        .reads(Secret)
        .reconcile(async ({ client }) => {
          const body = { metadata: { labels: { by: 'me' } } };
          // Two at once get along.
          await Promise.all([1, 2].map(() => client.patch(Secret, key, { type: 'merge', body })));
          // The cache does not hear of it in time.
          using _late = env.faults.delayEvents('1m', { kind: Secret });
          await env.client.delete(Secret, key);
          await env.client.create(secret);
          outcomes.push(await client.delete(Secret, key).catch(isConflict));
        });
      await env.startManager({ ...options, run: [maps] });
      await env.eventually(() => env.managers[0]?.controllers[0]?.phase === 'running');
      await env.client.create(ConfigMap({ metadata: inDefault('a') }));
      await env.eventually(() => outcomes.length > 0);
      expect(outcomes).toEqual([true]);
      expect((await env.client.get(Secret, key)).metadata.labels).toBe(undefined);
    });
  });
});

describe('references', () => {
  const map = (name: string, data: Record<string, string>) => ConfigMap({ metadata: inDefault(name), data });
  const secret = (name: string) => Secret({ metadata: inDefault(name) });

  /** A controller of ConfigMaps that refer to Secrets by one of their entries, and what Secrets have led to. */
  function refersBy(entry: string, name = entry) {
    const seen: string[] = [];
    const definition = control(ConfigMap, { name })
      .watches(Secret, { referencedBy: (object) => object.data?.[entry] })
      .reconcile(({ reasons, key }) => {
        for (const { source, object } of reasons) if (source === 'watches Secret') seen.push(`${key.name}: ${object}`);
      });
    return { definition, seen };
  }

  test('controllers of one kind that each have references of their own', async () => {
    await using env = await TestEnvironment.start({ server: 'in-process' });
    const [one, two] = [refersBy('one'), refersBy('two')];
    await env.run(one.definition, two.definition);
    await env.client.create(map('a', { one: 'x', two: 'y' }));
    await env.settle();
    await env.client.create(secret('x'));
    await env.client.create(secret('y'));
    await env.settle();
    expect([one.seen, two.seen]).toEqual([['a: Secret default/x'], ['a: Secret default/y']]);
  });

  test('a controller with references is removed and another one added in its place; what it watched ends with it', async () => {
    await using env = await TestEnvironment.start({ server: 'in-process' });
    const [before, after] = [refersBy('one', 'maps'), refersBy('two', 'maps')];
    const manager = await env.startManager();
    await env.client.create(map('a', { one: 'x', two: 'y' }));
    const added = manager.add(before.definition);
    await env.settle();
    await added.remove();
    expect(manager.manager.cache.health).toEqual([]);
    manager.add(after.definition);
    await env.settle();
    await env.client.create(secret('x'));
    await env.client.create(secret('y'));
    await env.settle();
    expect([before.seen, after.seen]).toEqual([[], ['a: Secret default/y']]);
  });
});

describe('run()', () => {
  async function start() {
    const env = await TestEnvironment.start({ server: 'in-process' });
    const { config } = env.connect({ name: 'program' });
    return { env, options: { config, loopMonitor: false, runtime: { clock: env.clock, log: env.log } } };
  }

  test('run ends with a signal, in order, and reports it', async () => {
    const { env, options } = await start();
    await using _ = env;
    const before = process.exitCode;
    const steps: string[] = [];
    const maps = control(ConfigMap, { predicates: [({ key }) => key === 'default/a'] }).reconcile(async ({ clock }) => {
      steps.push('begun');
      // It is stopped in the middle of the work, which is not cut in half.
      process.emit('SIGTERM', 'SIGTERM');
      await clock.sleep(1_000);
      steps.push('done');
    });
    const ended = run(maps, options);
    await env.client.create(ConfigMap({ metadata: inDefault('a') }));
    expect(await env.eventually(() => ended)).toEqual({ reason: 'stopped', unfinished: [] });
    expect(steps).toEqual(['begun', 'done']);
    expect(process.exitCode).toBe(before);
  });

  test('run that ends for another reason sets the exit code', async () => {
    const { env, options } = await start();
    await using _ = env;
    const before = process.exitCode;
    env.faults.add({ client: 'program', kind: ConfigMap }, { fail: { code: 403, reason: 'Forbidden' } });
    const exit = await env.eventually(() =>
      run(
        control(ConfigMap).reconcile(() => {}),
        options,
      ),
    );
    const code = process.exitCode;
    process.exitCode = before;
    expect(exit).toMatchObject({ reason: 'failed', runnable: 'controller configmap' });
    expect(code).toBe(1);
  });
});
