import { cached } from 'riata/cache';
import { control } from 'riata/controller';
import { ConfigMap, Pod, Secret } from 'riata/kinds';
import { Manager } from 'riata/manager';
import { isForbidden, isNotFound } from 'riata/rest';
import { isLostLease, silentLogger } from 'riata/runtime';
import { SharedCacheFactory, SharedClientFactory, SharedControllerFactory, sharedKind } from 'riata/shared';
import { expect, test } from 'vitest';
import { installKind } from './custom-kind.js';
import { describeServers, rejection, uniqueName, until } from './servers.js';
import { startShared, watchesOf } from './shared-play.js';

const runtime = { log: silentLogger };

describeServers('shared factories', (server) => {
  test('with a Manager, a kind is watched once, whichever style asks for it', async () => {
    const namespace = await server().namespace();
    await using connection = server().connect();
    const { config, requests } = connection;
    await using manager = await Manager.create({ config, runtime, cache: { namespaces: [namespace] } });
    const seen: string[] = [];
    manager.add(control(ConfigMap).reconcile(({ key }) => void seen.push(`reconciler ${key.name}`)));
    await using factory = SharedControllerFactory.fromManager(manager, { runtime });
    factory.forKind(ConfigMap).registerHandler('one', (key) => void seen.push(`handler ${key.split('/')[1]}`));
    factory.forKind(Secret).registerHandler('one', (key) => void seen.push(`secret ${key.split('/')[1]}`));
    manager.add(factory, { stage: 'leader' });
    const stop = new AbortController();
    const ended = manager.run({ signal: stop.signal });
    await manager.client.create(ConfigMap({ metadata: { namespace, name: 'a' } }));
    await manager.client.create(Secret({ metadata: { namespace, name: 'b' } }));
    await until('all have seen it', async () =>
      ['reconciler a', 'handler a', 'secret b'].every((line) => seen.includes(line)),
    );
    expect(watchesOf(requests, ConfigMap)).toBe(1);
    expect(watchesOf(requests, Secret)).toBe(1);
    stop.abort();
    expect(await ended).toEqual({ reason: 'stopped', unfinished: [] });
  });

  test('with a Manager, handlers write only while the replica leads', async () => {
    const namespace = await server().namespace();
    await using manager = await Manager.create({
      config: server().config,
      ...{ runtime, cache: { namespaces: [namespace] }, leaderElection: { namespace, name: 'lease', identity: 'me' } },
    });
    await using factory = SharedControllerFactory.fromManager(manager, { runtime });
    await using everywhere = SharedControllerFactory.fromManager(manager, { runtime, everywhere: true });
    const made = (name: string) => ConfigMap({ metadata: { namespace, name } });
    const early = await rejection(factory.clients.forKind(ConfigMap).create(made('early')));
    expect(isLostLease(early) || isLostLease(early.cause)).toBe(true);
    await everywhere.clients.forKind(ConfigMap).create(made('a'));
    factory.forKind(ConfigMap).registerHandler('one', async (key, map, { client }) => {
      const isMine = map !== undefined && key === `${namespace}/a` && map.data === undefined;
      return isMine ? client.update({ ...map, data: { by: 'leader' } }) : map;
    });
    manager.add(factory, { stage: 'leader' });
    const stop = new AbortController();
    const ended = manager.run({ signal: stop.signal });
    const { client } = server();
    const by = async () => (await client.get(ConfigMap, { namespace, name: 'a' })).data?.by;
    await until('the leader has written', async () => (await by()) === 'leader');
    // The fence has put the lease's signal in place of the handler's on the way.
    const writes = () =>
      factory.explain.flatMap(({ writes: own }) => own.map(({ verb, object }) => `${verb} ${object}`));
    await until('it is told', async () => writes().length > 0);
    expect(writes()).toEqual([`update ConfigMap ${namespace}/a`]);
    stop.abort();
    expect(await ended).toEqual({ reason: 'stopped', unfinished: [] });
  });

  test('clients: one for each kind; agents and bounds are copies', async () => {
    const namespace = await server().namespace();
    await using connection = server().connect();
    await using clients = SharedClientFactory.fromConfig(connection.config, { runtime });
    const maps = clients.forKind(ConfigMap);
    expect(clients.forKind(ConfigMap)).toBe(maps);
    const made = await maps.create(ConfigMap({ metadata: { namespace, name: 'a' }, data: { a: '1' } }));
    expect(made).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
    const updated = await maps.update({ ...made, data: { a: '2' } });
    expect((await maps.get({ namespace, name: 'a' })).data).toEqual({ a: '2' });
    const body = { metadata: { labels: { tier: 'web' } } };
    await maps.patch({ namespace, name: 'a' }, { type: 'merge', body });
    const { items } = await maps.list({ namespace, labelSelector: 'tier=web' });
    expect(items.map(({ kind, metadata }) => `${kind} ${metadata.uid}`)).toEqual([`ConfigMap ${updated.metadata.uid}`]);
    connection.requests.clear();
    await maps.withAgent('my-controller').get({ namespace, name: 'a' });
    await clients.withAgent('another').forKind(ConfigMap).get({ namespace, name: 'a' });
    const agents = connection.requests.all.map(({ headers }) => headers['user-agent']);
    expect(agents).toEqual(['my-controller', 'another']);
    const stop = new AbortController();
    const bound = maps.boundTo(stop.signal);
    const stream = await bound.watch({ namespace });
    const reading = (async () => {
      for await (const _event of stream) if (stop.signal.aborted) break;
    })();
    stop.abort(new Error('over'));
    await Promise.allSettled([reading]);
    expect((await rejection(bound.get({ namespace, name: 'a' }))).message).toBe('over');
    const other = new AbortController().signal;
    expect((await rejection(bound.list({ namespace, signal: other }))).message).toBe('over');
    await maps.delete({ namespace, name: 'a' });
    expect(await maps.find({ namespace, name: 'a' })).toBeUndefined();
  });

  test('clients: those that impersonate say so in every request; the others do not', async () => {
    const namespace = await server().namespace();
    await using connection = server().connect();
    await using clients = SharedClientFactory.fromConfig(connection.config, { runtime });
    const maps = clients.forKind(ConfigMap);
    const nobody = { user: 'nobody', groups: ['some', 'others'] };
    // The real server refuses it.
    await maps
      .withImpersonation(nobody)
      .list({ namespace })
      .catch(() => undefined);
    await clients
      .withImpersonation({ user: 'admin', groups: ['system:masters'] })
      .forKind(ConfigMap)
      .list({ namespace });
    await maps.list({ namespace });
    const who = connection.requests.all.map(({ headers }) => [
      headers['impersonate-user'],
      headers['impersonate-group'],
    ]);
    expect(who).toEqual([
      ['nobody', ['some', 'others']],
      ['admin', ['system:masters']],
      [undefined, undefined],
    ]);
  });

  test('clients: who is impersonated may do no more than they may', async () => {
    const namespace = await server().namespace();
    await using clients = SharedClientFactory.fromConfig(server().config, { runtime });
    const maps = clients.forKind(ConfigMap);
    const refused = await rejection(maps.withImpersonation({ user: 'nobody' }).list({ namespace }));
    expect(isForbidden(refused)).toBe(true);
    expect(refused.message).toContain('nobody');
    expect((await maps.list({ namespace })).kind).toBe('ConfigMapList');
  });

  test('clients: names, scope and health', async () => {
    const { config } = server();
    const Widget = await installKind(server());
    await using clients = SharedClientFactory.fromConfig(config, { runtime });
    expect(await clients.isNamespaced(Widget.gvk)).toBe(true);
    expect(await clients.isNamespaced({ group: '', version: 'v1', kind: 'Namespace' })).toBe(false);
    expect(await clients.resourceForGvk(Widget.gvk)).toEqual(Widget.gvr);
    const found = (await clients.forResource(Widget.gvr)).kind;
    expect([found.kind, found.scope]).toEqual(['Widget', 'Namespaced']);
    expect((await clients.forObject({ apiVersion: 'v1', kind: 'Pod' })).kind).toBe(Pod);
    expect(clients.forResourceKind(ConfigMap.gvr, 'ConfigMap', true).kind).toBe(ConfigMap);
    const missing = { group: uniqueName('no'), version: 'v1', kind: 'None' };
    expect((await rejection(clients.isNamespaced(missing))).name).toBe('NoMatchError');
    expect(await clients.isHealthy()).toBe(true);
    expect(await clients.isHealthy({ signal: AbortSignal.abort() })).toBe(false);
  });

  test('caches: kinds can be started one by one; each reports when it is synced', async () => {
    const namespace = await server().namespace();
    await using connection = server().connect();
    const { client, requests } = connection;
    const health: boolean[] = [];
    await using caches = new SharedCacheFactory(client, {
      ...{ defaults: { namespaces: [namespace] }, healthCallback: (healthy) => health.push(healthy), runtime },
      kinds: [cached(Secret, { labelSelector: 'app=web' })],
    });
    const { signal } = new AbortController();
    const [maps, secrets] = [caches.forKind(ConfigMap), caches.forKind(Secret)];
    expect(caches.forKind(ConfigMap)).toBe(maps);
    void maps.informer;
    await caches.startKind(Secret, { signal });
    await secrets.informer.synced({ signal });
    expect(health).toEqual([true]);
    expect(watchesOf(requests, ConfigMap)).toBe(0);
    await client.create(Secret({ metadata: { namespace, name: 'a', labels: { app: 'web' } } }));
    await client.create(Secret({ metadata: { namespace, name: 'b' } }));
    expect(await secrets.keys()).toEqual([`${namespace}/a`]);
    await caches.start({ signal });
    void caches.forResourceKind({ group: uniqueName('no'), version: 'v1', resource: 'nones' }, 'None', true).informer;
    const synced = [...(await caches.waitForCacheSync({ signal }))];
    expect(synced.filter(([, isSynced]) => isSynced).map(([name]) => name)).toEqual([
      '/v1, Kind=ConfigMap',
      '/v1, Kind=Secret',
    ]);
    expect(synced).toHaveLength(3);
    await caches.remove(Secret);
    expect(caches.cache.health.map(({ kind }) => kind.kind)).not.toContain('Secret');
  });

  test('the wait for a server that does not answer ends with the signal', async () => {
    const transport = {
      dispatch: (_: unknown, sink: { onError(error: unknown): void }) =>
        queueMicrotask(() => sink.onError(new Error('nobody there'))),
      close: async () => {},
      [Symbol.asyncDispose]: async () => {},
    };
    const stop = new AbortController();
    const health: boolean[] = [];
    await using factory = await SharedControllerFactory.fromConfig(
      { server: server().config.server, transport },
      {
        runtime,
        healthCallback: (healthy) => {
          health.push(healthy);
          if (health.length === 2) stop.abort(new Error('enough'));
        },
      },
    );
    factory.forKind(ConfigMap).registerHandler('one', () => {});
    expect((await rejection(factory.start({ signal: stop.signal }))).message).toBe('enough');
    expect(health).toEqual([false, false]);
  });

  test('rancher#37350: with syncOnlyChangedObjects, resyncs run no handlers', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    await client.create(ConfigMap({ metadata: { namespace, name: 'a' } }));
    await client.create(Secret({ metadata: { namespace, name: 'a' } }));
    await using shared = startShared(server(), namespace, {
      ...{ cacheDefaults: { namespaces: [namespace], resyncPeriod: '1s' }, syncOnlyChangedObjects: true },
      kinds: [sharedKind(Secret, { syncOnlyChangedObjects: false })],
    });
    const { factory, signal } = shared;
    const runs = { map: 0, secret: 0 };
    factory.forKind(ConfigMap).registerHandler('one', (key) => {
      if (key === `${namespace}/a`) runs.map += 1;
    });
    factory.forKind(Secret).registerHandler('one', (key) => {
      if (key === `${namespace}/a`) runs.secret += 1;
    });
    await factory.start({ signal });
    await until('the other kind was synced twice', async () => runs.secret >= 3);
    expect(runs.map).toBe(1);
  });

  test('rancher#50586: calls of a handler end with it', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    await client.create(ConfigMap({ metadata: { namespace, name: 'a' } }));
    await using shared = startShared(server(), namespace);
    const { factory, signal } = shared;
    const stop = new AbortController();
    const outcome = new Promise<unknown>((resolve) => {
      factory.forKind(ConfigMap).registerHandler(
        'watches',
        async (_, __, ctx) => {
          try {
            const stream = await ctx.client.watch({ namespace });
            stop.abort(new Error('removed'));
            for await (const _event of stream);
            await ctx.client.get({ namespace, name: 'a' });
            resolve('went on');
          } catch (error) {
            resolve(error);
          }
        },
        { signal: stop.signal },
      );
    });
    await factory.start({ signal });
    expect(await outcome).toMatchObject({ message: 'removed' });
    await expect(client.get(ConfigMap, { namespace, name: 'none' })).rejects.toSatisfy(isNotFound);
  });
});
