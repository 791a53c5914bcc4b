import { ConfigMap, CustomResourceDefinition, Deployment, Secret } from 'riata/kinds';
import { addFinalizer, isDeleting, keyOf, makeKind, removeFinalizer } from 'riata/object';
import { link, memoryMetrics, silentLogger, systemClock } from 'riata/runtime';
import {
  HandlerTransaction,
  IgnoreError,
  SharedControllerFactory,
  sharedControllerRateLimiter,
  sharedKind,
} from 'riata/shared';
import { expect, test } from 'vitest';
import { installKind } from './custom-kind.js';
import { describeServers, until } from './servers.js';
import { startShared, watchesOf } from './shared-play.js';

const quiet = { log: silentLogger };

describeServers('shared controllers', (server) => {
  test("lasso's way of use, step by step", async () => {
    const { client, config } = server();
    const namespace = await server().namespace();
    const stop = new AbortController();
    const cacheDefaults = { namespaces: [namespace] };
    await using factory = await SharedControllerFactory.fromConfig(config, { cacheDefaults, runtime: quiet });
    const deployments = factory.forKind(Deployment);
    expect(factory.forKind(Deployment)).toBe(deployments);
    const seen: string[] = [];
    deployments.registerHandler(
      'my-handler',
      async (key, deployment) => {
        seen.push(`${key} ${deployment === undefined ? 'gone' : deployment.spec?.replicas}`);
        return deployment;
      },
      { signal: stop.signal },
    );
    await factory.start({ workers: 5, signal: stop.signal });
    const labels = { app: 'web' };
    await client.create(
      Deployment({
        metadata: { namespace, name: 'web' },
        spec: {
          replicas: 2,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web' }] } },
        },
      }),
    );
    await until('it was seen', async () => seen.includes(`${namespace}/web 2`));
    await client.delete(Deployment, { namespace, name: 'web' });
    await until('its end was seen', async () => seen.includes(`${namespace}/web gone`));
    stop.abort();
  });

  test('nothing is listed or watched before the first handler, key or request for the informer', async () => {
    const namespace = await server().namespace();
    await using shared = startShared(server(), namespace);
    const { factory, requests, signal } = shared;
    const [maps, secrets] = [factory.forKind(ConfigMap), factory.forKind(Secret)];
    factory.forResourceKind(Deployment.gvr, 'Deployment', true);
    await factory.start({ signal });
    const before = requests.all.filter(({ path }) => !path.includes('/version'));
    expect(before).toEqual([]);
    maps.registerHandler('one', () => {});
    await until('it is watched', async () => watchesOf(requests, ConfigMap) === 1);
    expect(requests.all.some(({ path }) => path.includes('/secrets'))).toBe(false);
    secrets.enqueue({ namespace, name: 'none' });
    await until('it is watched', async () => watchesOf(requests, Secret) === 1);
    await factory.forKind(Deployment).informer.synced({ signal });
    maps.registerHandler('two', () => {});
    expect(watchesOf(requests, Deployment)).toBe(1);
    expect(watchesOf(requests, ConfigMap)).toBe(1);
  });

  test('handlers in order; a returned write is what the next sees, and it does not run into conflicts', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    await using shared = startShared(server(), namespace);
    const { factory, signal } = shared;
    const seen: string[] = [];
    const maps = factory.forKind(ConfigMap);
    for (const name of ['a', 'b', 'c']) {
      maps.registerHandler(name, async (_, map, ctx) => {
        if (map === undefined || map.data?.[name] !== undefined || map.metadata.name !== 'one') return map;
        seen.push(`${name}: ${Object.keys(map.data ?? {}).join('')}`);
        return ctx.client.update({ ...map, data: { ...map.data, [name]: 'done' } });
      });
    }
    await factory.start({ signal });
    await client.create(ConfigMap({ metadata: { namespace, name: 'one' } }));
    const done = await until('all are done', async () => {
      const map = await client.get(ConfigMap, { namespace, name: 'one' });
      return map.data?.c === undefined ? undefined : map;
    });
    expect(done.data).toEqual({ a: 'done', b: 'done', c: 'done' });
    expect(seen).toEqual(['a: ', 'b: a', 'c: ab']);
  });

  test('keys that are added before start are kept, delayed ones too', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    await client.create(ConfigMap({ metadata: { namespace, name: 'there' } }));
    await using shared = startShared(server(), namespace);
    const { factory, signal } = shared;
    const maps = factory.forKind(ConfigMap);
    const seen: string[] = [];
    maps.enqueueKey(`${namespace}/absent`);
    maps.enqueueAfter({ namespace, name: 'later' }, '200ms');
    maps.enqueue({ namespace, name: 'there' });
    maps.registerHandler('one', (key, map, { reasons }) => {
      for (const { source } of reasons) seen.push(`${key.slice(namespace.length + 1)} ${map !== undefined} ${source}`);
    });
    await factory.start({ signal });
    await until('all were seen', async () => seen.some((line) => line.startsWith('later')));
    expect(seen).toContain('absent false enqueue');
    expect(seen).toContain('there true enqueue');
    expect(seen).toContain('later false enqueueAfter');
  });

  test('a handler that comes late is called for every object; one whose signal aborts no more', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    for (const name of ['a', 'b', 'c']) await client.create(ConfigMap({ metadata: { namespace, name } }));
    await using shared = startShared(server(), namespace);
    const { factory, signal } = shared;
    const maps = factory.forKind(ConfigMap);
    const early = new AbortController();
    const seen = { early: new Set<string>(), late: new Set<string>() };
    maps.registerHandler('early', (key) => void seen.early.add(key), { signal: early.signal });
    await factory.start({ signal });
    await until('the first has seen them', async () => seen.early.size >= 3);
    maps.registerHandler('late', (key) => void seen.late.add(key));
    await until('the second has seen them', async () => seen.late.size >= 3);
    early.abort();
    expect(maps.handlers).toEqual(['late']);
    const made = await client.create(ConfigMap({ metadata: { namespace, name: 'd' } }));
    await until('the second has seen it', async () => seen.late.has(keyOf(made)));
    expect(seen.early.has(keyOf(made))).toBe(false);
  });

  test('registrations of a transaction come all at once, or not at all', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    await using shared = startShared(server(), namespace);
    const { factory, requests, signal } = shared;
    const [maps, secrets] = [factory.forKind(ConfigMap), factory.forKind(Secret)];
    const [kept, dropped] = [new HandlerTransaction(), new HandlerTransaction()];
    const seen: string[] = [];
    maps.registerHandler('kept', () => void seen.push('kept'), { transaction: kept });
    maps.registerHandler('dropped', () => void seen.push('dropped'), { transaction: dropped });
    secrets.registerHandler('dropped', () => void seen.push('dropped'), { transaction: dropped });
    await factory.start({ signal });
    expect(requests.all.filter(({ path }) => !path.includes('/version'))).toEqual([]);
    dropped.rollback();
    kept.commit();
    await client.create(ConfigMap({ metadata: { namespace, name: 'a' } }));
    await until('it was seen', async () => seen.includes('kept'));
    expect(maps.handlers).toEqual(['kept']);
    expect(secrets.isUsed).toBe(false);
    expect(seen).not.toContain('dropped');
    expect(() => dropped.commit()).toThrow('rolled back');
  });

  test('rancher#41887: two finalizers, each removed by its handler; then it is gone, and each has cleaned up once', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    await using shared = startShared(server(), namespace);
    const { factory, signal } = shared;
    const maps = factory.forKind(ConfigMap);
    const cleaned: string[] = [];
    let isGone = false;
    for (const name of ['example.com/one', 'example.com/two']) {
      maps.registerHandler(name, async (_, map, ctx) => {
        if (map?.metadata.name !== 'a') return map;
        if (!isDeleting(map)) return ctx.client.update(addFinalizer(map, name));
        if (!map.metadata.finalizers?.includes(name)) return map;
        cleaned.push(name);
        return ctx.client.update(removeFinalizer(map, name));
      });
    }
    maps.registerHandler('end', (key, map) => {
      if (key === `${namespace}/a` && map === undefined) isGone = true;
    });
    await factory.start({ signal });
    const key = { namespace, name: 'a' };
    await client.create(ConfigMap({ metadata: key }));
    await until('it has both', async () => (await client.get(ConfigMap, key)).metadata.finalizers?.length === 2);
    await client.delete(ConfigMap, key);
    await until('its end was told', async () => isGone);
    expect(await client.find(ConfigMap, key)).toBeUndefined();
    expect(cleaned).toEqual(['example.com/one', 'example.com/two']);
  });

  test('workers: as the kind says, otherwise as start says; limiters are created for each', async () => {
    const namespace = await server().namespace();
    let limiters = 0;
    await using shared = startShared(server(), namespace, {
      kinds: [sharedKind(Secret, { workers: 1 })],
      rateLimiter: (context) => {
        limiters += 1;
        return sharedControllerRateLimiter(context);
      },
    });
    const { factory, client, signal } = shared;
    const most = { ConfigMap: 0, Secret: 0 };
    const now = { ConfigMap: 0, Secret: 0 };
    // None ends before three have started: how long each takes to start does not matter.
    let together = () => {};
    const three = new Promise<void>((resolve) => {
      together = resolve;
    });
    const busy = (kind: 'ConfigMap' | 'Secret') => async (key: string) => {
      if (!key.includes('/busy-')) return;
      now[kind] += 1;
      most[kind] = Math.max(most[kind], now[kind]);
      if (now.ConfigMap === 3) together();
      await (kind === 'ConfigMap' ? three : systemClock.sleep(20));
      now[kind] -= 1;
    };
    factory.forKind(ConfigMap).registerHandler('busy', busy('ConfigMap'));
    factory.forKind(Secret).registerHandler('busy', busy('Secret'));
    for (let i = 0; i < 6; i += 1) {
      await client.create(ConfigMap({ metadata: { namespace, name: `busy-${i}` } }));
      await client.create(Secret({ metadata: { namespace, name: `busy-${i}` } }));
    }
    await factory.start({ workers: 3, signal });
    await until('all ran', async () => most.ConfigMap === 3 && most.Secret === 1 && now.Secret === 0);
    expect(limiters).toBe(2);
    const shares = sharedControllerRateLimiter();
    await using wrong = startShared(server(), namespace, { rateLimiter: () => shares });
    wrong.factory.forKind(ConfigMap).registerHandler('one', () => {});
    wrong.factory.forKind(Secret).registerHandler('one', () => {});
    await expect(wrong.factory.start({ signal })).rejects.toThrow('return a new one on each call');
  });

  test('lasso PR#5: enqueue at the start costs nothing; errors name the handler, and are retried', async () => {
    const namespace = await server().namespace();
    const metrics = memoryMetrics();
    await using shared = startShared(server(), namespace, { runtime: { metrics }, metricsContext: 'test' });
    const { factory, client, signal } = shared;
    const maps = factory.forKind(ConfigMap);
    const attempts: number[] = [];
    maps.registerHandler('ignores', () => {
      throw new IgnoreError();
    });
    maps.registerHandler('fails', (key, _, { attempt }) => {
      if (key !== `${namespace}/a`) return;
      attempts.push(attempt);
      if (attempt < 3) throw new Error('not yet');
    });
    for (let i = 0; i < 200; i += 1) maps.enqueue({ namespace, name: 'a' });
    await client.create(ConfigMap({ metadata: { namespace, name: 'a' } }));
    await factory.start({ signal });
    await until('it went well', async () => attempts.includes(3));
    expect(attempts.slice(0, 3)).toEqual([1, 2, 3]);
    await until('it is told', async () => maps.explain.filter(({ outcome }) => outcome === 'error').length === 2);
    expect(maps.explain.find(({ outcome }) => outcome === 'error')).toMatchObject({
      error: expect.stringContaining('handler fails: not yet'),
    });
    const { group, version, kind } = ConfigMap;
    const held = metrics.value('lasso_controller_total_cached_object', { ctx: 'test', group, version, kind });
    expect(held).toBe((await client.list(ConfigMap, { namespace })).items.length);
  });

  test('explain names the writes of handlers: with their client, and with their signal by any other', async () => {
    const namespace = await server().namespace();
    await using shared = startShared(server(), namespace);
    const { factory, client, signal } = shared;
    const maps = factory.forKind(ConfigMap);
    const isOurs = (name: string | undefined) => name === 'a';
    const key = { namespace, name: 'a' };
    maps.registerHandler('own', async (_, map, ctx) => {
      if (!isOurs(map?.metadata.name) || map?.data?.own === '1') return map;
      return ctx.client.patch(key, { type: 'merge', body: { data: { own: '1' } } });
    });
    maps.registerHandler('other', async (_, map, ctx) => {
      if (!isOurs(map?.metadata.name)) return;
      const secret = Secret({ metadata: { namespace, name: 's' } });
      // A handler may pass on another signal that follows its own.
      using linked = link(ctx.signal, signal);
      await client.apply(secret, { fieldManager: 'test', signal: ctx.signal });
      await client.delete(Secret, { namespace, name: 's' }, { signal: linked.signal });
      // A dry run stores nothing; a write without the signal may belong to any code.
      await client.apply(secret, { fieldManager: 'test', signal: ctx.signal, dryRun: true });
      await client.create(ConfigMap({ metadata: { namespace, generateName: 'x-' } }));
    });
    await factory.start({ signal });
    await client.create(ConfigMap({ metadata: key }));
    const record = await until('it ran', async () =>
      maps.explain.find(({ key: { name }, writes }) => isOurs(name) && writes.length > 0),
    );
    expect(record.writes).toEqual([
      { verb: 'patch', object: `ConfigMap ${namespace}/a`, resourceVersion: expect.stringMatching(/./) },
      { verb: 'patch', object: `Secret ${namespace}/s`, resourceVersion: expect.stringMatching(/./) },
      expect.objectContaining({ verb: 'delete', object: `Secret ${namespace}/s` }),
    ]);
  });

  test('a kind that is not served yet does not block the start, and is handled when it is installed', async () => {
    const namespace = await server().namespace();
    await using shared = startShared(server(), namespace);
    const { factory, client, signal } = shared;
    const seen: string[] = [];
    const Widget = await installKind(server());
    const names = { kind: 'Gadget', plural: 'gadgets', singular: 'gadget' };
    const Gadget = makeKind({ ...names, group: Widget.group, version: 'v1', scope: 'Namespaced' });
    factory.forKind(Gadget).registerHandler('one', (key) => void seen.push(`Gadget ${key}`));
    factory.forKind(Widget).registerHandler('one', (key) => void seen.push(`Widget ${key}`));
    await factory.start({ signal });
    await client.create(Widget({ metadata: { namespace, name: 'a' } }));
    await until('it was seen', async () => seen.includes(`Widget ${namespace}/a`));
    expect((await factory.forResource(Widget.gvr)).kind.kind).toBe('Widget');
    expect((await factory.forObject({ apiVersion: 'v1', kind: 'ConfigMap' })).kind).toBe(ConfigMap);
    const name = `widgets.${Widget.group}`;
    const { spec } = await client.get(CustomResourceDefinition, { name });
    const metadata = { name: `gadgets.${Widget.group}` };
    await client.create(CustomResourceDefinition({ metadata, spec: { ...spec, names } }));
    const made = Gadget({ metadata: { namespace, name: 'b' } });
    await until('the other is served', async () => client.create(made as never).catch(() => undefined));
    await until('it was seen', async () => seen.includes(`Gadget ${namespace}/b`));
  });

  test('a controller with a queue of its own stands on the same watch', async () => {
    const namespace = await server().namespace();
    await using shared = startShared(server(), namespace);
    const { factory, client, requests, signal } = shared;
    const seen: string[] = [];
    factory.forKind(ConfigMap).registerHandler('shared', (key) => void seen.push(`shared ${key}`));
    factory.dedicated('own', ConfigMap, (key) => void seen.push(`own ${key}`));
    await factory.start({ signal });
    await client.create(ConfigMap({ metadata: { namespace, name: 'a' } }));
    await until('both have seen it', async () =>
      ['shared', 'own'].every((name) => seen.includes(`${name} ${namespace}/a`)),
    );
    expect(watchesOf(requests, ConfigMap)).toBe(1);
  });
});
