import { createClient } from 'riata';
import { ConfigMap, CustomResourceDefinition, ServiceAccount } from 'riata/kinds';
import { type KubeObject, makeKind, type NamespacedMeta } from 'riata/object';
import { configFromKubeconfig } from 'riata/rest';
import { memoryLogger, seededRandom, silentLogger, VirtualClock } from 'riata/runtime';
import { describe, expect, test } from 'vitest';
import { ApiServer } from './api-server.js';
import { adminKubeconfig } from './http/admin-kubeconfig.js';
import { MemoryStorage } from './storage/memory-storage.js';

const log = silentLogger;
const thing = (name: string) => ConfigMap({ metadata: { namespace: 'default', name } });

describe('an API server', () => {
  test('serves clients in its process, on a virtual clock', async () => {
    const clock = new VirtualClock();
    await using server = await ApiServer.start({ clock, log, random: seededRandom(1), cuts: seededRandom(2) });
    const client = createClient(server.config, { runtime: { clock, log } });
    const made = client.create(ConfigMap({ metadata: { namespace: 'default', name: 'x' }, data: { a: '1' } }));
    await clock.settle();
    expect((await made).data).toEqual({ a: '1' });
    expect((await made).metadata.creationTimestamp).toBe('2026-01-01T00:00:00Z');
  });

  test('serves clients over HTTPS, and shows them the same objects', async () => {
    await using server = await ApiServer.start({ log });
    await createClient(server.config, { runtime: { log } }).create(thing('x'));
    const { url, ca } = await server.listen();
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    const config = await configFromKubeconfig(adminKubeconfig({ url, token: server.token, ca }));
    const client = createClient(config, { runtime: { log } });
    expect((await client.get(ConfigMap, { namespace: 'default', name: 'x' })).metadata.name).toBe('x');
    await client.close();
  });

  test('serves plain HTTP if requested, to clients with the token', async () => {
    await using server = await ApiServer.start({ log });
    const { url, ca } = await server.listen({ tls: false });
    expect(ca).toBeUndefined();
    const get = async (headers: Record<string, string>) => (await fetch(`${url}/api/v1/nodes`, { headers })).status;
    expect(await get({})).toBe(403);
    expect(await get({ authorization: 'Bearer other' })).toBe(401);
    expect(await get({ authorization: `Bearer ${server.token}` })).toBe(200);
  });

  test('that listens everywhere is reached on the loopback address, and warns', async () => {
    const warnings = memoryLogger();
    await using server = await ApiServer.start({ log: warnings });
    const { url, ca } = await server.listen({ host: '0.0.0.0' });
    await server.listen({ host: '127.0.0.1' });
    await server.listen({ host: 'localhost', tls: false });
    expect(warnings.records.map(({ level, message, fields }) => [level, message, fields.address])).toEqual([
      ['warn', 'the API server listens beyond loopback: every host that reaches the port can send requests', '0.0.0.0'],
    ]);
    expect(JSON.stringify(warnings.records)).not.toContain(server.token);
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:/);
    const config = await configFromKubeconfig(adminKubeconfig({ url, token: server.token, ca }));
    const client = createClient(config, { runtime: { log } });
    expect((await client.list(ConfigMap, { namespace: 'kube-system' })).kind).toBe('ConfigMapList');
    await client.close();
  });

  test('ends watches when it stops, and can be stopped twice', async () => {
    const server = await ApiServer.start({ log });
    const { url, ca } = await server.listen();
    const config = await configFromKubeconfig(adminKubeconfig({ url, token: server.token, ca }));
    const client = createClient(config, { runtime: { log } });
    const watch = await client.watch(ConfigMap, { namespace: 'default' });
    const types: string[] = [];
    const watching = (async () => {
      for await (const event of watch) types.push(event.type);
    })();
    await client.create(thing('x'));
    await Promise.all([server.stop(), server.stop()]);
    await watching;
    expect(types).toContain('ADDED');
    expect(types).not.toContain('ERROR');
    await client.close();
    await expect(server.listen()).rejects.toThrow('was stopped');
  });

  test('has what every namespace has from the start', async () => {
    await using server = await ApiServer.start({ log });
    const client = createClient(server.config, { runtime: { log } });
    for (const namespace of ['default', 'kube-system', 'kube-public', 'kube-node-lease']) {
      expect((await client.list(ServiceAccount, { namespace })).items.map(({ metadata }) => metadata.name)).toEqual([
        'default',
      ]);
      expect(await client.find(ConfigMap, { namespace, name: 'kube-root-ca.crt' })).toBeDefined();
    }
  });

  test('continues with a storage that another one has used', async () => {
    const clock = new VirtualClock();
    const storage = new MemoryStorage({ clock });
    const names = { kind: 'Widget', plural: 'widgets' };
    const Widget = makeKind<KubeObject & { metadata: NamespacedMeta }>({
      ...{ group: 'riata.dev', version: 'v1', scope: 'Namespaced' },
      ...names,
    });
    const first = await ApiServer.start({ clock, log, storage });
    const before = createClient(first.config, { runtime: { clock, log } });
    const versions = [
      { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' as const } } },
    ];
    const spec = { group: 'riata.dev', scope: 'Namespaced' as const, names, versions };
    await before.create(CustomResourceDefinition({ metadata: { name: 'widgets.riata.dev' }, spec }));
    const widget = await before.create(Widget({ metadata: { namespace: 'default', name: 'w' } }));
    const { apiVersion, kind, metadata } = widget;
    const ownerReferences = [{ apiVersion, kind, name: metadata.name, uid: metadata.uid }];
    await before.create(ConfigMap({ metadata: { namespace: 'default', name: 'child', ownerReferences } }));
    await first.stop();
    const { revision } = storage;

    await using second = await ApiServer.start({ clock, log, storage });
    const after = createClient(second.config, { runtime: { clock, log } });
    const root = (await after.get(ConfigMap, { namespace: 'default', name: 'kube-root-ca.crt' })).data?.['ca.crt'];
    expect(root).toContain('BEGIN CERTIFICATE');
    expect((await after.get(Widget, { namespace: 'default', name: 'w' })).metadata.uid).toBe(metadata.uid);
    // Its own certificate is new, so what is published of it in the four namespaces is too; and nothing else.
    expect(storage.revision).toBe(revision + 4);
    await after.delete(Widget, { namespace: 'default', name: 'w' });
    await second.idle();
    expect(await after.find(ConfigMap, { namespace: 'default', name: 'child' })).toBeUndefined();
  });

  test('has a token of its own, unless it is given one', async () => {
    await using one = await ApiServer.start({ log });
    await using two = await ApiServer.start({ log });
    await using three = await ApiServer.start({ log, token: 'mine' });
    expect(one.token).toMatch(/^[0-9a-f]{32}$/);
    expect(one.token).not.toBe(two.token);
    expect(three.token).toBe('mine');
  });
});
