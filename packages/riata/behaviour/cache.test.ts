import type { TestEnvironment } from '@riata/testing';
import { Cache, type CacheOptions, cached, isCacheSyncError } from 'riata/cache';
import { createClient } from 'riata/client';
import { ConfigMap, CustomResourceDefinition, Deployment, Namespace, Secret } from 'riata/kinds';
import { makeKind, metadataOnly } from 'riata/object';
import { isForbidden, isNotFound } from 'riata/rest';
import { memoryLogger, silentLogger } from 'riata/runtime';
import { expect, test } from 'vitest';
import { installKind } from './custom-kind.js';
import { describeServers, rejection, uniqueName, until } from './servers.js';

const configMap = (namespace: string, name: string, data: Record<string, string> = {}, app = 'a') =>
  ConfigMap({ metadata: { namespace, name, labels: { app } }, data });

/** A cache that runs until the block is left. */
function running({ client }: Pick<TestEnvironment, 'client'>, options: CacheOptions = {}): Cache {
  const cache = new Cache(client, { runtime: { log: silentLogger }, ...options });
  const stop = new AbortController();
  const run = cache.run({ signal: stop.signal });
  const close = cache.close.bind(cache);
  cache[Symbol.asyncDispose] = async () => {
    stop.abort();
    await run;
    await close();
  };
  return cache;
}

describeServers('cache', (server) => {
  test('shows what there is, frozen, by key, namespace, labels and fields', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    for (const name of ['x', 'y', 'z']) await client.create(configMap(namespace, name, {}, name === 'z' ? 'b' : 'a'));
    await using cache = running(server(), { kinds: [cached(ConfigMap, { namespaces: [namespace] })] });
    const x = await cache.get(ConfigMap, { namespace, name: 'x' });
    expect(x).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } });
    expect(Object.isFrozen(x.metadata.labels)).toBe(true);
    expect(x.metadata.managedFields).toBeUndefined();
    const names = async (options: object) =>
      (await cache.list(ConfigMap, { namespace, ...options })).items.map((item) => item.metadata.name).sort();
    expect(await names({ fieldSelector: 'metadata.name!=kube-root-ca.crt' })).toEqual(['x', 'y', 'z']);
    expect(await names({ labelSelector: 'app=a' })).toEqual(['x', 'y']);
    expect(await names({ labelSelector: 'app', fieldSelector: 'metadata.name!=x' })).toEqual(['y', 'z']);
    expect(await names({ labelSelector: 'app', limit: 2 })).toHaveLength(2);
    expect(isNotFound(await rejection(cache.get(ConfigMap, { namespace, name: 'none' })))).toBe(true);
    expect(await cache.find(ConfigMap, { namespace, name: 'none' })).toBeUndefined();
  });

  test('read your writes: creations, updates, patches and deletions are seen at once, by key, selector and index', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    await using cache = running(server(), { kinds: [cached(ConfigMap)] });
    await cache.indexField(ConfigMap, 'data.colour', (object) => [object.data?.colour ?? '']);
    await cache.waitForCacheSync();
    const ofColour = async (colour: string) =>
      (await cache.list(ConfigMap, { namespace, fieldSelector: { 'data.colour': colour } })).items.map(
        (item) => item.metadata.name,
      );
    for (let round = 0; round < 20; round += 1) {
      const name = `c-${round}`;
      const made = await client.create(configMap(namespace, name, { colour: 'red' }));
      expect(await cache.get(ConfigMap, { namespace, name })).toMatchObject({ data: { colour: 'red' } });
      expect(await ofColour('red')).toEqual([name]);
      const updated = await client.update({ ...made, data: { colour: 'green' } });
      expect((await cache.get(ConfigMap, { namespace, name })).metadata.resourceVersion).toBe(
        updated.metadata.resourceVersion,
      );
      expect([await ofColour('red'), await ofColour('green')]).toEqual([[], [name]]);
      await client.patch(ConfigMap, { namespace, name }, { type: 'merge', body: { data: { colour: 'blue' } } });
      expect(await ofColour('blue')).toEqual([name]);
      await client.delete(ConfigMap, { namespace, name });
      expect(await cache.find(ConfigMap, { namespace, name })).toBeUndefined();
      expect(await ofColour('blue')).toEqual([]);
      if (round % 2 === 0) continue;
      const again = await client.create(configMap(namespace, name, { colour: 'blue' }));
      expect((await cache.get(ConfigMap, { namespace, name })).metadata.uid).toBe(again.metadata.uid);
      await client.delete(ConfigMap, { namespace, name });
    }
  });

  test('read your writes: what loses its last finalizer is gone at once, a namespace that is deleted is not', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const leaving = await client.create(Namespace({ metadata: { generateName: 'leaving-' } }));
    await using cache = running(server(), {
      kinds: [cached(ConfigMap, { namespaces: [namespace] }), cached(Namespace)],
    });
    await cache.waitForCacheSync();
    for (let round = 0; round < 10; round += 1) {
      const key = { namespace, name: `f-${round}` };
      await client.create(ConfigMap({ metadata: { ...key, finalizers: ['riata.dev/test'] } }));
      await client.delete(ConfigMap, key);
      expect((await cache.get(ConfigMap, key)).metadata.deletionTimestamp).toBeDefined();
      await client.patch(ConfigMap, key, { type: 'json', body: [{ op: 'remove', path: '/metadata/finalizers' }] });
      expect(await cache.find(ConfigMap, key)).toBeUndefined();
    }
    await client.delete(Namespace, leaving.metadata);
    const deleted = await client.get(Namespace, leaving.metadata);
    expect((await cache.get(Namespace, leaving.metadata)).metadata.deletionTimestamp).toBe(
      deleted.metadata.deletionTimestamp,
    );
  });

  test('handlers follow the watch alone: an own write reaches them with the old state', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    await client.create(configMap(namespace, 'a', { step: '1' }));
    await using cache = running(server(), { kinds: [cached(ConfigMap, { namespaces: [namespace] })] });
    const informer = await cache.getInformer(ConfigMap);
    const reported: string[] = [];
    informer.addEventHandler({
      onUpdate: (old, now) => void reported.push(`${old.data?.step}→${now.data?.step}`),
    });
    for (const step of ['2', '3']) {
      await client.patch(ConfigMap, { namespace, name: 'a' }, { type: 'merge', body: { data: { step } } });
      expect((await cache.get(ConfigMap, { namespace, name: 'a' })).data).toEqual({ step });
    }
    await until('both changes are told', async () => reported.length >= 2);
    expect(reported).toEqual(['1→2', '2→3']);
  });

  test('where an answer does not show the object, a read waits for the watch or asks the server', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    await using cache = running(server(), { kinds: [cached(Deployment), cached(ConfigMap)] });
    const labels = { app: 'cart' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'a' }] } };
    const spec = { replicas: 1, selector: { matchLabels: labels }, template };
    const deployment = await client.create(Deployment({ metadata: { namespace, name: 'cart' }, spec }));
    await client.subresource('scale').patch(Deployment, deployment.metadata, {
      type: 'merge',
      body: { spec: { replicas: 5 } } as never,
    });
    expect((await cache.get(Deployment, { namespace, name: 'cart' })).spec?.replicas).toBe(5);
    for (const name of ['x', 'y', 'z']) await client.create(configMap(namespace, name));
    await client.deleteCollection(ConfigMap, { namespace, labelSelector: 'app=a' });
    expect((await cache.list(ConfigMap, { namespace, labelSelector: 'app=a' })).items).toEqual([]);
  });

  test('a kind that was not declared is read from the server, and logged once', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const log = memoryLogger();
    await client.create(Secret({ metadata: { namespace, name: 's' } }));
    await using cache = running(server(), { runtime: { log } });
    expect((await cache.get(Secret, { namespace, name: 's' })).metadata.name).toBe('s');
    expect((await cache.list(Secret, { namespace })).items).toHaveLength(1);
    expect(log.records.filter(({ message }) => message === 'not in the cache, reading from the server')).toHaveLength(
      1,
    );
    expect(cache.holds(Secret)).toBe(false);
    await using strict = running(server(), { undeclared: 'fail' });
    await expect(strict.get(Secret, { namespace, name: 's' })).rejects.toThrow(
      'secrets is not in the cache; declare it',
    );
  });

  test('a kind that the server does not serve is reported at once, by name; a patient reader gets it when it is installed', async () => {
    const group = `${uniqueName('late')}.riata.dev`;
    const names = { kind: 'Late', plural: 'lates', singular: 'late' };
    const Late = makeKind({ group, version: 'v1', scope: 'Namespaced', ...names });
    await using cache = running(server(), { kinds: [cached(Late)] });
    const error = await rejection(cache.waitForCacheSync());
    expect(isCacheSyncError(error)).toBe(true);
    expect(isNotFound(error)).toBe(true);
    expect(error.message).toContain(`CustomResourceDefinition "lates.${group}"`);
    await expect(cache.list(Late)).rejects.toThrow('install the CustomResourceDefinition');
    const informer = await cache.getInformer(Late, { blockUntilSynced: false });
    const synced = informer.synced({ patient: true });
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } as const;
    const spec = { group, scope: 'Namespaced', names, versions: [{ name: 'v1', served: true, storage: true, schema }] };
    await server().install(CustomResourceDefinition({ metadata: { name: `lates.${group}` }, spec }));
    await synced;
    expect((await cache.list(Late)).items).toEqual([]);
  });

  test('namespaces can be changed while it runs; handlers get additions and deletions', async () => {
    const { client } = server();
    const [one, two] = [await server().namespace(), await server().namespace()];
    for (const namespace of [one, two]) await client.create(configMap(namespace, 'c'));
    const onlyOurs = { labelSelector: 'app=a' };
    await using cache = running(server(), { kinds: [cached(ConfigMap, { ...onlyOurs, namespaces: [one] })] });
    const informer = await cache.getInformer(ConfigMap);
    const reported: string[] = [];
    const registration = informer.addEventHandler({
      onChange: ({ type, key }) => void reported.push(`${type} ${key}`),
    });
    await registration.synced();
    expect((await cache.list(ConfigMap)).items.map((item) => item.metadata.namespace)).toEqual([one]);
    await cache.setNamespaces(ConfigMap, [one, two]);
    expect((await cache.list(ConfigMap)).items.map((item) => item.metadata.namespace).sort()).toEqual(
      [one, two].sort(),
    );
    await registration.synced();
    expect(cache.health[0]?.selections).toEqual([
      { ...onlyOurs, namespace: one },
      { ...onlyOurs, namespace: two },
    ]);
    await cache.setNamespaces(ConfigMap, [two]);
    expect((await cache.list(ConfigMap)).items.map((item) => item.metadata.namespace)).toEqual([two]);
    expect(reported).toEqual([`Added ${one}/c`, `Added ${two}/c`, `Deleted ${one}/c`]);
  });

  test('a kind is held while it has users, with one set of options', async () => {
    await using cache = running(server());
    const first = cache.use(ConfigMap, { labelSelector: 'app=a' });
    const second = cache.use(ConfigMap);
    expect(() => cache.use(ConfigMap, { labelSelector: 'app=b' })).toThrow('with different labelSelector');
    await first.informer.synced();
    await first.release();
    expect(cache.holds(ConfigMap)).toBe(true);
    await second.release();
    expect([cache.holds(ConfigMap), second.informer.isStopped]).toEqual([false, true]);
    expect(() => second.informer.addEventHandler({})).toThrow('get its informer again');
  });

  test('a kind that waits for its first use is listed when it is read, or a handler comes', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    await client.create(configMap(namespace, 'c'));
    const lazy = { start: 'first-use', namespaces: [namespace], labelSelector: 'app=a' } as const;
    await using cache = running(server(), { kinds: [cached(ConfigMap, lazy), cached(Secret, lazy)] });
    expect(cache.health.flatMap(({ informers }) => informers.map(({ phase }) => phase))).toEqual(['idle', 'idle']);
    expect((await cache.list(ConfigMap)).items).toHaveLength(1);
    const use = cache.use(Secret);
    const registration = use.informer.addEventHandler({});
    await registration.synced();
    expect(cache.health.map(({ synced }) => synced)).toEqual([true, true]);
  });

  test('metadata alone: less to hold, and what is held whole answers for it, too', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const Widget = await installKind(server());
    const made = await client.create(Widget({ metadata: { namespace, name: 'w' }, spec: { size: 3 } }));
    await using cache = running(server(), { kinds: [cached(metadataOnly(Widget))] });
    const part = await cache.get(metadataOnly(Widget), { namespace, name: 'w' });
    expect(part).toMatchObject({ apiVersion: Widget.apiVersion, kind: 'Widget', metadata: { uid: made.metadata.uid } });
    expect(part).not.toHaveProperty('spec');
    await client.patch(Widget, { namespace, name: 'w' }, { type: 'merge', body: { metadata: { labels: { a: 'b' } } } });
    const now = await cache.get(metadataOnly(Widget), { namespace, name: 'w' });
    expect(now.metadata.labels).toEqual({ a: 'b' });
    expect(now).not.toHaveProperty('spec');
    await using whole = running(server(), { kinds: [cached(Widget)] });
    expect(whole.holds(metadataOnly(Widget))).toBe(true);
    expect((await whole.get(metadataOnly(Widget), { namespace, name: 'w' })).metadata.labels).toEqual({ a: 'b' });
  });
});

describeServers(
  'cache of a user with few rights',
  (server) => {
    test('a forbidden list is reported at once, by name and with the remedy', async () => {
      const { config } = server();
      await using client = createClient(
        { ...config, impersonate: { user: 'nobody-in-particular' } },
        { runtime: { log: silentLogger } },
      );
      await using cache = running({ client }, { kinds: [cached(Secret)] });
      const error = await rejection(cache.waitForCacheSync());
      expect(isForbidden(error)).toBe(true);
      expect(error.message).toMatch(/cannot cache secrets: .*may not (list|watch) secrets; grant list and watch/);
    });
  },
  ['kube-apiserver'],
);
