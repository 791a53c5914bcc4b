import type { TestEnvironment } from '@riata/testing';
import { Cache, cached, listWatch, SharedIndexInformer, type SharedIndexInformerOptions } from 'riata/cache';
import { createClient } from 'riata/client';
import { ConfigMap } from 'riata/kinds';
import { memoryMetrics, seededRandom, silentLogger, VirtualClock } from 'riata/runtime';
import { expect, test } from 'vitest';
import { startFaultyGateway } from '../soak/faulty-gateway.js';
import { HandlerHistory, stateOf } from '../soak/handler-history.js';
import { describeServers, until } from './servers.js';

const fieldSelector = 'metadata.name!=kube-root-ca.crt';
const configMap = (namespace: string, name: string, value: string) =>
  ConfigMap({ metadata: { namespace, name }, data: { value } });
const set = (value: string) => ({ type: 'merge', body: { data: { value } } }) as const;

/**
 * An informer and a cache behind a gateway that can swallow bytes. Real sockets, virtual time: what is not repaired when
 * the promised time has passed is never repaired.
 */
async function behindGateway(
  server: TestEnvironment,
  options: Pick<SharedIndexInformerOptions<ConfigMap>, 'silence'> = {},
) {
  const namespace = await server.namespace();
  for (const name of ['a', 'b', 'c']) await server.client.create(configMap(namespace, name, '1'));
  const random = seededRandom(1);
  const gateway = await startFaultyGateway({ config: server.config, random, share: 0 });
  const clock = new VirtualClock();
  const metrics = memoryMetrics();
  const errors: unknown[] = [];
  const runtime = { clock, random, metrics, log: silentLogger };
  const client = createClient({ server: gateway.url }, { runtime });
  const watchErrorHandler = (error: unknown) => void errors.push(error);
  const informer = new SharedIndexInformer(listWatch(client, ConfigMap, { namespace, fieldSelector }), {
    ...{ kind: ConfigMap, watchErrorHandler, runtime, ...options },
  });
  const cache = new Cache(client, {
    ...{
      kinds: [cached(ConfigMap, { namespaces: [namespace], fieldSelector, ...options })],
      watchErrorHandler,
      runtime,
    },
  });
  const reported: string[] = [];
  const history = new HandlerHistory({ name: 'handler', store: (key) => informer.getStore().getByKey(key) });
  informer.addEventHandler(
    history.handler(({ type, key, old, new: now }) => {
      reported.push(`${type} ${key.split('/')[1]} ${old?.data?.value ?? '-'} ${now?.data?.value ?? '-'}`);
    }),
  );
  const stop = new AbortController();
  const running: Promise<void>[] = [];
  return {
    ...{ namespace, gateway, clock, client, informer, cache, reported, history, errors, metrics },
    start() {
      running.push(informer.run({ signal: stop.signal }), cache.run({ signal: stop.signal }));
    },
    async synced() {
      await Promise.all([informer.synced(), cache.waitForCacheSync()]);
      const phases = () => [informer.health, ...cache.health.flatMap(({ informers }) => informers)].map((h) => h.phase);
      await until('both watch', async () => phases().every((phase) => phase === 'watching'));
    },
    /** Both know what the server has. */
    async agree() {
      const { items } = await server.client.list(ConfigMap, { namespace, fieldSelector });
      const expected = JSON.stringify(stateOf(items));
      await until('the informer knows', async () => JSON.stringify(stateOf(informer.getStore().list())) === expected);
      const shown = async () => stateOf((await cache.list(ConfigMap, { namespace })).items);
      await until('the cache knows', async () => JSON.stringify(await shown()) === expected);
      expect(history.state()).toEqual(stateOf(items));
      expect(history.problems).toEqual([]);
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.all(running);
      await client.close();
      await gateway[Symbol.asyncDispose]();
    },
  };
}

type World = Awaited<ReturnType<typeof behindGateway>>;

/** Changes that no watch delivers. */
async function changeInSilence({ client }: TestEnvironment, { namespace, gateway, reported }: World): Promise<void> {
  reported.length = 0;
  gateway.swallowWatches();
  await client.patch(ConfigMap, { namespace, name: 'a' }, set('2'));
  await client.create(configMap(namespace, 'd', '1'));
  await client.delete(ConfigMap, { namespace, name: 'b' });
  await client.delete(ConfigMap, { namespace, name: 'c' });
  await client.create(configMap(namespace, 'c', '2'));
}

const missed = ['Updated a 1 2', 'Added d - 1', 'Deleted b 1 -', 'Deleted c 1 -', 'Added c - 2'];

describeServers(
  'silent death',
  (server) => {
    test('bytes are swallowed with no FIN: noticed in the promised time, resumed without a list, nothing lost or twice', async () => {
      await using world = await behindGateway(server(), { silence: '2s' });
      const { namespace, gateway, clock, client, cache, reported } = world;
      world.start();
      await world.synced();
      const before = gateway.requests.length;
      const version = world.informer.lastSyncResourceVersion();
      await changeInSilence(server(), world);
      // What the process itself writes is seen all the same.
      await client.patch(ConfigMap, { namespace, name: 'd' }, set('own'));
      expect((await cache.get(ConfigMap, { namespace, name: 'd' })).data).toEqual({ value: 'own' });
      await clock.advance(1_999);
      expect(gateway.requests.slice(before).map(({ verb }) => verb)).toEqual(['other']);
      expect(reported).toEqual([]);
      await clock.advance(401);
      await world.agree();
      expect(reported).toEqual([...missed, 'Updated d 1 own']);
      const asked = gateway.requests.slice(before + 1);
      expect(asked.map(({ verb }) => verb)).toEqual(['watch', 'watch']);
      expect(asked.map(({ query }) => query.get('sendInitialEvents'))).toEqual([null, null]);
      expect(asked.some(({ query }) => query.get('resourceVersion') === version)).toBe(true);
      expect(world.errors).toEqual([]);
      await until('the dead ones are closed', async () => gateway.open === 2);
    });

    test('again and again: each silence is noticed', async () => {
      await using world = await behindGateway(server(), { silence: '1s' });
      const { namespace, gateway, clock } = world;
      world.start();
      await world.synced();
      for (const value of ['2', '3', '4', '5']) {
        gateway.swallowWatches();
        await server().client.patch(ConfigMap, { namespace, name: 'a' }, set(value));
        await clock.advance(1_200);
        await world.agree();
      }
      expect(world.reported.slice(3)).toEqual(['1 2', '2 3', '3 4', '4 5'].map((step) => `Updated a ${step}`));
      expect(
        gateway.requests.filter(({ verb, query }) => verb === 'list' || query.has('sendInitialEvents')),
      ).toHaveLength(2);
    });

    test('the machine slept, and connections died meanwhile: resumed within seconds after it woke', async () => {
      await using world = await behindGateway(server());
      const { gateway, clock, reported } = world;
      world.start();
      await world.synced();
      const before = gateway.requests.length;
      await changeInSilence(server(), world);
      await clock.advance(30_000);
      expect(gateway.requests).toHaveLength(before);
      clock.setWall(clock.now() + 8 * 3_600_000);
      await clock.advance(7_000);
      await world.agree();
      expect(reported).toEqual(missed);
      expect(gateway.requests.slice(before).map(({ verb }) => verb)).toEqual(['watch', 'watch']);
      expect(world.errors).toEqual([]);
    });

    test('the first list falls silent in the middle: noticed in the same time, and started over', async () => {
      await using world = await behindGateway(server(), { silence: '2s' });
      const { gateway, clock, informer } = world;
      gateway.swallowNext(400);
      world.start();
      await until('one of them hangs', async () => gateway.requests.length >= 2 && gateway.open >= 1);
      await until('the other one is synced', async () => informer.hasSynced() || world.cache.health[0]?.synced);
      // The time counts from the last byte that has come, which may be a while after it was sent.
      await until('it was noticed', async () => {
        await clock.advance(2_400);
        return gateway.requests.some(({ verb }) => verb === 'list');
      });
      await world.synced();
      await world.agree();
      expect(gateway.requests.map(({ verb }) => verb)).toContain('list');
    });
  },
  ['https', 'kube-apiserver'],
);
