import { control } from 'riata/controller';
import { ConfigMap, Event, Lease } from 'riata/kinds';
import type { ClusterProvider, Runnable } from 'riata/manager';
import { defineKind, findCondition } from 'riata/object';
import { systemClock } from 'riata/runtime';
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { describeServers, uniqueName, until } from './servers.js';

/** For all tests: real servers take seconds until they serve a new one. */
const Widget = defineKind({
  group: `${uniqueName('m')}.riata.dev`,
  version: 'v1',
  kind: 'Widget',
  spec: z.object({ size: z.int().default(1) }),
  status: z.object({ by: z.string() }),
});

describeServers('manager', (server) => {
  beforeAll(async () => {
    await server().install(Widget);
    server().keep();
  });

  test('runs controllers; they can be added and removed while it runs', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const seen: string[] = [];
    const named = (name: string) =>
      control(Widget, { name }).reconcile(({ object }) => void seen.push(`${name} ${object.metadata.name}`));
    await using run = await server().run(named('one'));
    await run.manager.elected;
    await client.create(Widget({ metadata: { namespace, name: 'a' }, spec: {} }));
    await until('one has seen it', async () => seen.includes('one a'));
    expect(() => run.manager.add(named('one'))).toThrow('controller "one" already exists');
    const two = run.manager.add(named('two'));
    await until('two has seen it', async () => seen.includes('two a'));
    await two.remove();
    expect(run.manager.controllers.map(({ name }) => name)).toEqual(['one']);
    await client.create(Widget({ metadata: { namespace, name: 'b' }, spec: {} }));
    await until('one has seen that, too', async () => seen.includes('one b'));
    expect(seen).not.toContain('two b');
    expect(run.manager.explain.map(({ controller }) => controller)).toContain('one');
    expect(await run.stop()).toEqual({ reason: 'stopped', unfinished: [] });
  });

  test('its client reads from the cache what is declared, own writes included', async () => {
    const namespace = await server().namespace();
    const widgets = control(Widget).reconcile(() => {});
    await using run = await server().run(widgets);
    const { manager } = run;
    await until('the kind is cached', async () => manager.cache.holds(Widget));
    const { client } = manager;
    const made = await client.create(Widget({ metadata: { namespace, name: 'a' }, spec: {} }));
    const read = await client.get(Widget, { namespace, name: 'a' });
    expect(read.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
    expect(Object.isFrozen(read.spec)).toBe(true);
    expect(await manager.apiReader.get(Widget, { namespace, name: 'a' })).toMatchObject({ spec: { size: 1 } });
  });

  test('a reconciler records events, in its own name, and nothing is lost on stop', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const widgets = control(Widget).reconcile(({ event, object }) => {
      event({ type: 'Normal', reason: 'Seen', message: `size ${object.spec.size}` });
    });
    const options = { events: { flushTimeout: '1m' }, gracefulTimeout: 'never' } as const;
    await using run = await server().startManager({ ...options, run: [widgets] });
    await client.create(Widget({ metadata: { namespace, name: 'a' }, spec: { size: 7 } }));
    await until('it was reconciled', async () => run.manager.explain.length > 0);
    await run.stop();
    const { items } = await client.list(Event, { namespace });
    expect(items).toMatchObject([
      {
        reason: 'Seen',
        message: 'size 7',
        source: { component: 'widget' },
        involvedObject: { kind: 'Widget', name: 'a' },
      },
    ]);
  });

  test('clusters come and go; keys carry their names', async () => {
    const { client, config } = server();
    const namespace = await server().namespace();
    const seen: string[] = [];
    const widgets = control(Widget, { clusters: 'all' }).reconcile(async ({ key, object, client: reader }) => {
      const again = await reader.get(Widget, { namespace, name: key.name });
      seen.push(`${key.cluster ?? 'own'} ${object.metadata.name} ${again.spec.size}`);
    });
    const clusterProvider: ClusterProvider = {
      name: 'test',
      async run({ clusters, signal }) {
        // The same server under another name will do.
        clusters.add('north', config);
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      },
    };
    await client.create(Widget({ metadata: { namespace, name: 'a' }, spec: { size: 1 } }));
    await using run = await server().startManager({ clusterProvider, run: [widgets] });
    await until('both have seen it', async () => seen.includes('own a 1') && seen.includes('north a 1'));
    run.manager.clusters.add('south', config);
    await until('the new one has seen it', async () => seen.includes('south a 1'));
    expect(() => run.manager.clusters.add('south', config)).toThrow('cluster "south" already exists');
    await run.manager.clusters.remove('north');
    await client.create(Widget({ metadata: { namespace, name: 'b' }, spec: { size: 2 } }));
    await until('those that are left have seen it', async () => seen.includes('own b 2') && seen.includes('south b 2'));
    expect(seen).not.toContain('north b 2');
    expect(run.manager.clusters.names).toEqual(['south']);
    expect(await run.stop()).toEqual({ reason: 'stopped', unfinished: [] });
    expect(run.manager.clusters.names).toEqual([]);
  });

  test('what fails stops it, in order, and is named', async () => {
    const order: string[] = [];
    const wait = (name: string): Runnable => ({
      name,
      async run({ signal }) {
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        order.push(name);
      },
    });
    const broken: Runnable = {
      name: 'broken',
      run: async () => {
        throw new Error('no luck');
      },
    };
    await using run = await server().startManager();
    run.manager.add(wait('other'));
    run.manager.add(wait('server'), { stage: 'servers' });
    run.manager.add(wait('leader'), { stage: 'leader' });
    await run.manager.elected;
    run.manager.add(broken);
    expect(await run.ended).toMatchObject({ reason: 'failed', runnable: 'broken', error: { message: 'no luck' } });
    expect(order).toEqual(['leader', 'other', 'server']);
    expect(() => run.manager.add(wait('late'))).toThrow('has stopped');
  });

  test('shutdown under load: no reconcile is cut in half, the lease is given up last', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const started = new Set<string>();
    const finished = new Set<string>();
    const widgets = control(Widget, { concurrency: 4 })
      .owns(ConfigMap)
      .reconcile(async ({ object, apply, status, reconcileID }) => {
        started.add(reconcileID);
        await apply(ConfigMap({ metadata: { name: object.metadata.name } }));
        await status({ by: 'me' });
        finished.add(reconcileID);
      });
    for (let i = 0; i < 40; i += 1) await client.create(Widget({ metadata: { namespace, name: `w-${i}` }, spec: {} }));
    const leaderElection = { namespace, name: 'lease', identity: 'first' };
    await using run = await server().startManager({ leaderElection, run: [widgets] });
    await until('it is at work', async () => finished.size >= 3);
    expect(await run.stop()).toEqual({ reason: 'stopped', unfinished: [] });
    expect([...started].filter((id) => !finished.has(id))).toEqual([]);
    expect(run.manager.explain.every(({ outcome }) => outcome === 'success')).toBe(true);
    const lease = await client.get(Lease, { namespace, name: 'lease' });
    expect(lease.spec?.holderIdentity ?? '').toBe('');
  });

  test('of two replicas one works; when it goes, the other takes over', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const widgets = (by: string) =>
      control(Widget, { warmUp: true }).reconcile(async ({ status }) => void (await status({ by })));
    const election = (identity: string) => ({
      leaderElection: {
        namespace,
        name: 'lease',
        identity,
        // Long, as a machine may stand still for seconds; who goes gives it up, and the other one looks often.
        leaseDuration: '2m',
        renewDeadline: '1m',
        retryPeriod: '500ms',
      } as const,
    });
    await using first = await server().startManager({ ...election('first'), run: [widgets('first')] });
    await first.manager.elected;
    await using second = await server().startManager({ ...election('second'), run: [widgets('second')] });
    const by = async (name: string) => (await client.get(Widget, { namespace, name })).status?.by;
    await client.create(Widget({ metadata: { namespace, name: 'a' }, spec: {} }));
    await until('the first has done it', async () => (await by('a')) === 'first');
    await until('the second is warm', async () => second.manager.controllers[0]?.waitingFor.length === 0);
    expect(await first.stop()).toMatchObject({ reason: 'stopped' });
    await second.manager.elected;
    await client.create(Widget({ metadata: { namespace, name: 'b' }, spec: {} }));
    await until('the second has done it', async () => (await by('b')) === 'second');
    const done = await client.get(Widget, { namespace, name: 'b' });
    expect(findCondition(done.status?.conditions, 'Ready')?.status).toBe('True');
  });

  test('a lost lease ends it, and nothing more is written', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const widgets = control(Widget).reconcile(async ({ status }) => void (await status({ by: 'me' })));
    const leaderElection = { namespace, name: 'lease', identity: 'first' } as const;
    await using run = await server().startManager({ leaderElection, run: [widgets] });
    await run.manager.elected;
    const thief = { holderIdentity: 'thief', leaseDurationSeconds: 60, renewTime: '2026-01-01T00:00:00.000000Z' };
    await client.patch(Lease, { namespace, name: 'lease' }, { type: 'merge', body: { spec: thief } });
    expect(await run.ended).toMatchObject({ reason: 'lost-lease', unfinished: [] });
    await client.create(Widget({ metadata: { namespace, name: 'late' }, spec: {} }));
    expect((await client.get(Widget, { namespace, name: 'late' })).status).toBeUndefined();
    expect((await client.get(Lease, { namespace, name: 'lease' })).spec?.holderIdentity).toBe('thief');
  });

  test('probes and metrics are served, and nothing is left listening', async () => {
    const namespace = await server().namespace();
    const { client } = server();
    const widgets = control(Widget).reconcile(() => {});
    const options = {
      health: { host: '127.0.0.1', port: 0 },
      metrics: { host: '127.0.0.1', port: 0, debug: true, profiling: true },
    };
    await using run = await server().startManager({ ...options, run: [widgets] });
    const { manager } = run;
    manager.addReadyzCheck('mine', () => {
      throw new Error('not yet');
    });
    await manager.elected;
    await client.create(Widget({ metadata: { namespace, name: 'a' }, spec: {} }));
    await until('it was reconciled', async () => manager.explain.length > 0);
    await until('it listens', async () => Object.values(manager.urls).filter((url) => url !== undefined).length === 2);
    const ask = async (name: string, path: string) => {
      // One connection each: the server closes idle ones in its own time.
      const response = await fetch(`${manager.urls[name]}${path}`, { headers: { connection: 'close' } });
      return { status: response.status, body: await response.text() };
    };
    expect(await ask('health probes', '/healthz')).toEqual({ status: 200, body: 'ok' });
    expect(await ask('health probes', '/readyz')).toMatchObject({
      status: 503,
      body: expect.stringContaining('mine failed'),
    });
    expect(await ask('health probes', '/readyz/informers')).toEqual({ status: 200, body: 'ok' });
    expect((await ask('health probes', '/nothing')).status).toBe(404);
    const { body } = await ask('metrics', '/metrics');
    expect(body).toMatch(/controller_runtime_reconcile_total\{controller="widget",result="success"\} [1-9]/);
    expect(body).toContain('workqueue_adds_total{');
    expect(body).toMatch(/riata_informer_objects\{cluster="",informer="widgets\..*"\} 1/);
    expect(body).toMatch(/riata_informer_synced\{cluster="",informer="widgets\..*"\} 1/);
    expect(JSON.parse((await ask('metrics', '/debug/reconciles?controller=widget')).body)).toMatchObject([
      { controller: 'widget', outcome: 'success' },
    ]);
    expect(JSON.parse((await ask('metrics', '/debug/reconciles?since=9999999999999')).body)).toEqual([]);
    expect(JSON.parse((await ask('metrics', '/debug/controllers')).body)).toMatchObject([
      { name: 'widget', phase: 'running', kind: { kind: 'Widget' } },
    ]);
    expect(JSON.parse((await ask('metrics', '/debug/process')).body)).toMatchObject({
      memory: { rssBytes: expect.any(Number) },
      upMs: expect.any(Number),
    });
    expect(JSON.parse((await ask('metrics', '/debug/profile?seconds=0.05')).body)).toHaveProperty('nodes');
    expect((await ask('metrics', '/debug/profile?seconds=forever')).status).toBe(400);
    const urls = Object.values(manager.urls);
    await run.stop();
    for (const url of urls) await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });

  test('what does not end in time is named, and not waited for', async () => {
    const stubborn: Runnable = { name: 'stubborn', run: () => systemClock.sleep(3_600_000, { background: true }) };
    await using run = await server().startManager({ gracefulTimeout: '50ms', run: [stubborn] });
    await run.manager.elected;
    expect(await run.stop()).toEqual({ reason: 'stopped', unfinished: ['stubborn'] });
  });
});
