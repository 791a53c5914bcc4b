import { Cache, cached, listWatch, SharedIndexInformer } from 'riata/cache';
import { ConfigMap } from 'riata/kinds';
import { edit, equal, isFrozenDeep } from 'riata/object';
import { silentLogger } from 'riata/runtime';
import { expect, test } from 'vitest';
import { describeServers, until } from './servers.js';

const runtime = { log: silentLogger };
const configMap = (namespace: string, name: string, data: Record<string, string>) =>
  ConfigMap({ metadata: { namespace, name, labels: { app: 'memory' } }, data });

describeServers('the memory of caches', (server) => {
  for (const useWatchList of [true, false]) {
    test(`${useWatchList ? 'WatchList' : 'LIST'}: an informer holds what the server has`, async () => {
      const { client } = server();
      const namespace = await server().namespace();
      const labelSelector = 'app=memory';
      for (const name of ['a', 'b', 'c']) await client.create(configMap(namespace, name, { text: `"${name}" 日本` }));
      const stop = new AbortController();
      const source = listWatch(client, ConfigMap, { namespace, labelSelector });
      const informer = new SharedIndexInformer(source, { kind: ConfigMap, useWatchList, runtime });
      const kept: boolean[] = [];
      informer.addEventHandler({
        onUpdate: (old, now) => {
          kept.push(old.data === now.data);
          // Not the owner of the object: a cache must not mind.
          edit(now, (draft) => {
            draft.data = {};
          });
        },
      });
      const running = informer.run({ signal: stop.signal });
      await informer.synced();
      const a = await client.get(ConfigMap, { namespace, name: 'a' });
      const annotated = await client.update(
        edit(a, (draft) => {
          draft.metadata.annotations = { note: 'data stays' };
        }),
      );
      await client.update(
        edit(annotated, (draft) => {
          draft.data = { text: 'changed' };
        }),
      );
      await client.delete(ConfigMap, { namespace, name: 'b' });
      await client.create(configMap(namespace, 'd', { text: 'late' }));
      const expected = (await client.list(ConfigMap, { namespace, labelSelector, cutManagedFields: true })).items;
      const byName = () =>
        informer
          .getStore()
          .list()
          .sort((x, y) => (x.metadata.name < y.metadata.name ? -1 : 1));
      await until('the store equals the server', async () => equal(byName(), expected));
      expect(byName()).toEqual(expected);
      expect(byName().every(isFrozenDeep)).toBe(true);
      expect(kept).toEqual([true, false]);
      stop.abort();
      await running;
    });
  }

  test('what a cache gives can be edited and written back', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    await client.create(configMap(namespace, 'a', { count: '1' }));
    await using cache = new Cache(client, {
      runtime,
      kinds: [cached(ConfigMap, { namespaces: [namespace] })],
    });
    const stop = new AbortController();
    const running = cache.run({ signal: stop.signal });
    for (const count of ['2', '3']) {
      const known = await cache.get(ConfigMap, { namespace, name: 'a' });
      await client.update(
        edit(known, (draft) => {
          draft.data = { count };
        }),
      );
      expect((await cache.get(ConfigMap, { namespace, name: 'a' })).data).toEqual({ count });
    }
    stop.abort();
    await running;
  });
});
