import type { TestEnvironment } from '@riata/testing';
import {
  createStore,
  isReflectorError,
  type ListWatchOptions,
  listWatch,
  Reflector,
  type ReflectorOptions,
} from 'riata/cache';
import { ConfigMap } from 'riata/kinds';
import { makeKind } from 'riata/object';
import { isResourceExpired } from 'riata/rest';
import { memoryMetrics, silentLogger } from 'riata/runtime';
import { expect, test } from 'vitest';
import { describeServers, uniqueName, until } from './servers.js';

describeServers('Reflector', (server) => {
  test.each([true, false])('WatchList %s: all there is, then every change', async (useWatchList) => {
    const { client } = server();
    const namespace = await server().namespace();
    for (const name of ['a', 'b', 'c']) await client.create(configMap(namespace, name));
    await using r = reflect(server(), { namespace }, { useWatchList });
    await r.holds('a', 'b', 'c');
    // The one list was that of the kind asked for.
    expect(r.asked()).toEqual(useWatchList ? ['watch-list'] : ['list', 'watch']);
    await client.create(configMap(namespace, 'd'));
    await client.delete(ConfigMap, { namespace, name: 'a' });
    await client.update(configMap(namespace, 'b', { changed: 'yes' }));
    await r.equalsServer();
    expect(r.names()).toEqual(['b', 'c', 'd']);
    expect(r.store.getByKey(`${namespace}/b`)?.data).toEqual({ changed: 'yes' });
    expect(r.store.getByKey(`${namespace}/b`)?.metadata).not.toHaveProperty('managedFields');
    expect(r.replaced()).toBe(1);
    expect(r.reflector.health).toMatchObject({ phase: 'watching', listed: true, consecutiveFailures: 0 });
    expect(r.errors).toEqual([]);
  });

  test('a LIST in pages is one list', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const names = Array.from({ length: 7 }, (_, i) => `c-${i}`);
    for (const name of names) await client.create(configMap(namespace, name));
    await using r = reflect(server(), { namespace }, { useWatchList: false, pageSize: 3 });
    await r.holds(...names);
    expect(r.replaced()).toBe(1);
  });

  test('a LIST in pages after the server has forgotten what a watch would go on from: the newest state, not the same again', async () => {
    const { client, faults } = server();
    const namespace = await server().namespace();
    for (const name of ['a', 'b', 'c']) await client.create(configMap(namespace, name));
    await using r = reflect(server(), { namespace }, { useWatchList: false, pageSize: 2 });
    await r.holds('a', 'b', 'c');
    // A server that is back cannot go on from before its start, while its database still knows every state.
    await client.create(configMap(await server().namespace(), 'elsewhere'));
    await faults.suspend({ graceful: false });
    await faults.resume();
    await until('it takes writes', async () => {
      return client.create(configMap(namespace, 'd')).then(
        () => true,
        () => false,
      );
    });
    await r.holds('a', 'b', 'c', 'd');
    await r.equalsServer();
  });

  test('resume: watches that are replaced again and again, for silence, lose and repeat nothing', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    await using r = reflect(server(), { namespace }, { silence: '100ms' });
    await r.holds();
    const names = Array.from({ length: 12 }, (_, i) => `c-${String(i).padStart(2, '0')}`);
    for (const name of names) {
      await client.create(configMap(namespace, name));
      const before = r.watches();
      if (name.endsWith('3')) await until('the watch was replaced', async () => r.watches() > before);
    }
    await r.holds(...names);
    expect(r.added).toEqual(names);
    expect(r.replaced()).toBe(1);
    expect(r.errors).toEqual([]);
  });

  test('selectors: what leaves the selection is deleted', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    await client.create(configMap(namespace, 'a'));
    await client.create(configMap(namespace, 'b'));
    await using r = reflect(server(), { namespace, labelSelector: 'app in (a,b)' });
    await r.holds('a', 'b');
    const patch = { type: 'merge', body: { metadata: { labels: { app: 'x' } } } } as const;
    await client.patch(ConfigMap, { namespace, name: 'a' }, patch);
    await r.holds('b');
  });

  test('a kind that is not served is reported at once, by name', async () => {
    const kind = makeKind({
      ...{ group: 'nowhere.riata.dev', version: 'v1', kind: 'Nothing', plural: 'nothings', scope: 'Namespaced' },
    });
    const errors: unknown[] = [];
    const stop = new AbortController();
    const reflector = new Reflector(listWatch(server().client, kind), createStore(), {
      kind,
      onError: (error) => errors.push(error),
      runtime: { log: silentLogger },
    });
    const done = reflector.run({ signal: stop.signal });
    await until('it is told', async () => errors.length > 0);
    expect(errors[0]).toSatisfy(isReflectorError);
    expect((errors[0] as Error).message).toContain('install the CustomResourceDefinition "nothings.nowhere.riata.dev"');
    expect(reflector.health).toMatchObject({ listed: false, lastError: errors[0] });
    stop.abort();
    await done;
  });

  test('compaction: missed events have expired, so it relists', async () => {
    const { client, faults } = server();
    const namespace = await server().namespace();
    await client.create(configMap(namespace, 'a'));
    await client.create(configMap(namespace, 'b'));
    // It first runs, then does not while the past is forgotten, and then goes on from where it was.
    const r = reflect(server(), { namespace }, { useWatchList: false });
    await r.holds('a', 'b');
    await r.stop();
    await client.delete(ConfigMap, { namespace, name: 'a' });
    await client.create(configMap(namespace, 'c'));
    await faults.compact();
    await faults.restart();
    await until('the server answers', () =>
      client.list(ConfigMap, { namespace }).then(
        () => true,
        () => false,
      ),
    );
    // A source that knows no list newer than it has: the watch from there is 410.
    await using late = reflect(server(), { namespace }, { useWatchList: false }, r.position());
    await late.equalsServer();
    expect(late.names()).toEqual(['b', 'c']);
    expect(late.errors.some(isResourceExpired)).toBe(true);
    expect(late.replaced()).toBe(2);
  });

  test.each([true, false])(
    'server restart, in order (%s): goes on, and ends up equal to the server',
    async (graceful) => {
      const { client, faults } = server();
      const namespace = await server().namespace();
      await client.create(configMap(namespace, 'before'));
      await client.create(configMap(namespace, 'doomed'));
      await using r = reflect(server(), { namespace });
      await r.holds('before', 'doomed');
      await faults.restart({ graceful });
      await until('the server takes it', () =>
        client.create(configMap(namespace, 'after')).then(
          () => true,
          () => false,
        ),
      );
      await client.delete(ConfigMap, { namespace, name: 'doomed' });
      await r.equalsServer();
      expect(r.names()).toEqual(['after', 'before']);
    },
  );
});

const configMap = (namespace: string, name: string, data?: Record<string, string>) =>
  ConfigMap({ metadata: { namespace, name, labels: { app: name } }, data });

/** Runs a Reflector of ConfigMaps into a store. Given `from`, its first list is this version with nothing in it. */
function reflect(
  { client }: TestEnvironment,
  selection: ListWatchOptions & { readonly metadataOnly?: false; readonly namespace: string },
  options: ReflectorOptions<ConfigMap> = {},
  from?: string,
) {
  const store = createStore<ConfigMap>();
  const metrics = memoryMetrics();
  const errors: unknown[] = [];
  const added: string[] = [];
  const asked: string[] = [];
  const name = uniqueName('r');
  const add = store.add.bind(store);
  store.add = (object) => {
    added.push(object.metadata.name);
    add(object);
  };
  const inner = listWatch(client, ConfigMap, selection);
  const reflector = new Reflector<ConfigMap>(
    {
      list: async (call) => {
        asked.push('list');
        if (from === undefined || asked.length > 1) return inner.list(call);
        return { apiVersion: 'v1', kind: 'ConfigMapList', metadata: { resourceVersion: from }, items: [] };
      },
      watch: (call) => {
        asked.push(call.sendInitialEvents ? 'watch-list' : 'watch');
        return inner.watch(call);
      },
    },
    store,
    {
      ...{ name, kind: ConfigMap, onError: (error: unknown) => errors.push(error) },
      ...options,
      runtime: { log: silentLogger, metrics },
    },
  );
  const controller = new AbortController();
  const done = reflector.run({ signal: controller.signal });
  const stop = async () => {
    controller.abort();
    await done;
  };
  const names = () =>
    store
      .list()
      .map((object) => object.metadata.name)
      .filter((each) => each !== 'kube-root-ca.crt')
      .sort();
  return {
    ...{ reflector, store, errors, added, names, stop },
    asked: () => asked,
    position: () => reflector.lastSyncResourceVersion(),
    replaced: () => metrics.value('reflector_lists_total', { name }) ?? 0,
    watches: () => metrics.value('reflector_watches_total', { name }) ?? 0,
    holds: (...expected: string[]) =>
      until(`it holds ${expected.join(', ') || 'nothing'}`, async () => {
        return reflector.health.listed && String(names()) === String(expected.sort());
      }),
    equalsServer: () =>
      until('it equals the server', async () => {
        const { items } = await client.list(ConfigMap, { namespace: selection.namespace });
        const versions = (all: readonly ConfigMap[]) =>
          String(all.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`).sort());
        return versions(items) === versions(store.list());
      }),
    [Symbol.asyncDispose]: stop,
  };
}
