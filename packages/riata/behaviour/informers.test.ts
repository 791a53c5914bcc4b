import type { TestEnvironment } from '@riata/testing';
import {
  type Change,
  FilteringResourceEventHandler,
  isDeletedFinalStateUnknown,
  Lister,
  listWatch,
  type ResourceEventHandler,
  SharedIndexInformer,
  type SharedIndexInformerOptions,
  SharedInformerFactory,
  waitForCacheSync,
} from 'riata/cache';
import { ConfigMap, Namespace } from 'riata/kinds';
import { edit, isFrozenDeep } from 'riata/object';
import { silentLogger } from 'riata/runtime';
import { expect, test } from 'vitest';
import { describeServers, until } from './servers.js';

const runtime = { log: silentLogger };
const configMap = (namespace: string, name: string, value = '1', labels = {}) =>
  ConfigMap({ metadata: { namespace, name, labels }, data: { value } });

/** An informer of the ConfigMaps that tests make, which runs until it is disposed. */
function informing(server: TestEnvironment, namespace: string, options: SharedIndexInformerOptions<ConfigMap> = {}) {
  const stop = new AbortController();
  const source = listWatch(server.client, ConfigMap, { namespace, fieldSelector: 'metadata.name!=kube-root-ca.crt' });
  const informer = new SharedIndexInformer(source, { kind: ConfigMap, runtime, ...options });
  let running: Promise<void> | undefined;
  return {
    informer,
    async start() {
      running = informer.run({ signal: stop.signal });
      await informer.synced();
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

function noting(seen: string[]): ResourceEventHandler<ConfigMap> {
  const reported = (obj: ConfigMap) => `${obj.metadata.name}=${obj.data?.value}`;
  return {
    onAdd: (obj, isInInitialList) => seen.push(`add ${reported(obj)}${isInInitialList ? '!' : ''}`),
    onUpdate: (old, obj) => seen.push(`update ${reported(old)} ${reported(obj)}`),
    onDelete: (obj) => seen.push(isDeletedFinalStateUnknown(obj) ? `delete ${obj.key}?` : `delete ${reported(obj)}`),
  };
}

const set = (value: string) => (obj: ConfigMap) =>
  edit(obj, (draft) => {
    draft.data = { value };
  });

describeServers('informers', (server) => {
  for (const useWatchList of [true, false]) {
    test(`keep a store and report changes (${useWatchList ? 'WatchList' : 'LIST and watch'})`, async () => {
      const { client } = server();
      const namespace = await server().namespace();
      const a = await client.create(configMap(namespace, 'a'));
      await client.create(configMap(namespace, 'b'));
      await using run = informing(server(), namespace, { useWatchList });
      const seen: string[] = [];
      const registration = run.informer.addEventHandler(noting(seen));
      await run.start();
      await registration.synced();
      expect(seen.sort()).toEqual(['add a=1!', 'add b=1!']);
      seen.length = 0;
      await client.update(set('2')(a));
      await client.create(configMap(namespace, 'c'));
      await client.delete(ConfigMap, { namespace, name: 'b' });
      await until('all is told', async () => seen.length >= 3);
      expect(seen).toEqual(['update a=1 a=2', 'add c=1', 'delete b=1']);
      const lister = new Lister(run.informer.getIndexer(), ConfigMap).namespace(namespace);
      expect(
        lister
          .list()
          .map(({ metadata }) => metadata.name)
          .sort(),
      ).toEqual(['a', 'c']);
      expect(isFrozenDeep(lister.get('a'))).toBe(true);
      expect(lister.get('a').metadata.managedFields).toBeUndefined();
    });
  }

  test('unchanged parts are those of the version before', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const a = await client.create(configMap(namespace, 'a', '1', { app: 'a' }));
    await using run = informing(server(), namespace);
    const updates: [ConfigMap, ConfigMap][] = [];
    run.informer.addEventHandler({ onUpdate: (old, obj) => updates.push([old, obj]) });
    await run.start();
    await client.update(set('2')(a));
    const [old, obj] = await until('the update is told', async () => updates[0]);
    expect(obj.metadata.labels).toBe(old.metadata.labels);
    expect([old.data, obj.data]).toEqual([{ value: '1' }, { value: '2' }]);
  });

  test('a handler that comes late, one that goes, and one that filters', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const a = await client.create(configMap(namespace, 'a'));
    await using run = informing(server(), namespace);
    const [first, late, even]: [string[], string[], string[]] = [[], [], []];
    const registration = run.informer.addEventHandler(noting(first));
    const filter = (obj: ConfigMap) => Number(obj.data?.value) % 2 === 0;
    run.informer.addEventHandler(new FilteringResourceEventHandler({ filter, handler: noting(even) }));
    await run.start();
    await registration.synced();
    await registration.remove();
    const lateRegistration = run.informer.addEventHandler(noting(late));
    await waitForCacheSync([run.informer, lateRegistration]);
    expect(late).toEqual(['add a=1!']);
    const a2 = await client.update(set('2')(a));
    await client.update(set('3')(a2));
    await client.delete(ConfigMap, { namespace, name: 'a' });
    await until('the deletion is told', async () => late.at(-1) === 'delete a=3');
    expect(first).toEqual(['add a=1!']);
    expect(late).toEqual(['add a=1!', 'update a=1 a=2', 'update a=2 a=3', 'delete a=3']);
    expect(even).toEqual(['add a=2', 'delete a=2']);
  });

  test('changes can be iterated; a recreated object is another one', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    await client.create(configMap(namespace, 'a'));
    await using run = informing(server(), namespace);
    await run.start();
    const changes: Change<ConfigMap>[] = [];
    const reading = (async () => {
      for await (const change of run.informer.changes()) {
        changes.push(change);
        if (change.new?.data?.value === '9') break;
      }
    })();
    await client.delete(ConfigMap, { namespace, name: 'a' });
    await client.create(configMap(namespace, 'a', '9'));
    await reading;
    expect(changes.map(({ type, key }) => `${type} ${key}`)).toEqual(
      ['Added', 'Deleted', 'Added'].map((type) => `${type} ${namespace}/a`),
    );
    expect(changes[0]?.metadata.uid).toBe(changes[1]?.metadata.uid);
    expect(changes[1]?.metadata.uid).not.toBe(changes[2]?.metadata.uid);
  });

  test('a handler that is too slow gets first and last', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    let current: ConfigMap = await client.create(configMap(namespace, 'a'));
    await using run = informing(server(), namespace);
    const seen: string[] = [];
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { onAdd, onUpdate } = noting(seen);
    run.informer.addEventHandler(
      {
        onAdd: async (obj, isInInitialList) => {
          onAdd?.(obj, isInInitialList);
          await released;
        },
        onUpdate,
      },
      { bufferSize: 1 },
    );
    await run.start();
    for (const value of ['2', '3', '4', '5']) current = await client.update(set(value)(current));
    await until('the last is stored', async () => run.informer.getStore().list()[0]?.data?.value === '5');
    release();
    await until('the last is told', async () => seen.length >= 3);
    expect(seen).toEqual(['add a=1!', 'update a=1 a=2', 'update a=2 a=5']);
  });

  test('a factory runs one informer for each kind and selection, metadata-only ones too', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    await client.create(configMap(namespace, 'a', '1', { app: 'a' }));
    await client.create(configMap(namespace, 'b'));
    await using factory = new SharedInformerFactory(client, { runtime });
    const maps = factory.forKind(ConfigMap, { namespace, labelSelector: 'app=a' });
    const namespaces = factory.forKind(Namespace, { metadataOnly: true });
    factory.start();
    await factory.waitForCacheSync();
    expect(maps.getIndexer().listKeys()).toEqual([`${namespace}/a`]);
    expect(Object.keys(namespaces.getIndexer().getByKey(namespace) ?? {})).toEqual(['apiVersion', 'kind', 'metadata']);
    await factory.shutdown();
    expect([maps.isStopped, namespaces.isStopped]).toEqual([true, true]);
  });

  test('go on when the server is restarted and has forgotten the past', async () => {
    const { client, faults } = server();
    const namespace = await server().namespace();
    const a = await client.create(configMap(namespace, 'a'));
    await client.create(configMap(namespace, 'b'));
    await using run = informing(server(), namespace);
    const seen: string[] = [];
    run.informer.addEventHandler(noting(seen));
    await run.start();
    await faults.restart();
    await until('the server is back', async () => client.update(set('2')(a)).catch(() => undefined));
    await client.delete(ConfigMap, { namespace, name: 'b' });
    await faults.compact();
    await until('the store is right', async () => {
      const [only, ...others] = run.informer.getStore().list();
      return only?.data?.value === '2' && others.length === 0;
    });
    await until('all is told', async () => seen.length >= 4);
    expect(seen.slice(0, 2).sort()).toEqual(['add a=1!', 'add b=1!']);
    expect(seen.slice(2).sort()).toEqual([expect.stringMatching(/^delete .*b/), 'update a=1 a=2']);
  });
});
