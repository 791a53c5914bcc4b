import { Cache, Lister, SharedInformerFactory } from 'riata/cache';
import type { Reader } from 'riata/client';
import {
  allOf,
  Controller,
  channelSource,
  control,
  controllerFor,
  cronSource,
  enqueueRequestForObject,
  Finalizers,
  informerSource,
  intervalSource,
  pollerSource,
} from 'riata/controller';
import { ConfigMap } from 'riata/kinds';
import { ignoreNotFound } from 'riata/rest';
import { silentLogger, VirtualClock } from 'riata/runtime';
import { expect, test } from 'vitest';
import { describeServers, until } from './servers.js';

describeServers('sources', (server) => {
  test('a channel, an interval and a poller lead to reconciles, which say why', async () => {
    const runtime = { log: silentLogger };
    await using connection = server().connect();
    const { client } = connection;
    const namespace = await server().namespace();
    // Servers put a ConfigMap of their own into every namespace.
    const labels = { kind: 'cart' };
    for (const name of ['a', 'b', 'c']) await client.create(ConfigMap({ metadata: { namespace, name, labels } }));
    await using cache = new Cache(client, { namespaces: [namespace], runtime });
    const received: string[] = [];
    async function* messages() {
      yield { namespace, name: 'a' };
      yield { namespace, name: 'a' };
      yield { namespace, name: 'gone' };
    }
    const all = (reader: Reader) => allOf(reader, ConfigMap, { namespace, labelSelector: 'kind=cart' });
    const carts = control(ConfigMap, { predicates: [() => false] })
      .source(() => channelSource(messages(), { name: 'channel' }))
      .source(({ reader }) => intervalSource('1h', all(reader), { atStart: true }))
      .source(() =>
        pollerSource({
          name: 'poller',
          poll: async () => [{ id: 'x', cart: 'c' }],
          id: ({ id }) => id,
          keys: ({ cart }) => ({ namespace, name: cart }),
        }),
      )
      .evenWhenGone()
      .reconcile(({ key, object, reasons }) => {
        for (const { source } of reasons) received.push(`${source} ${key.name}${object === undefined ? ' gone' : ''}`);
      });
    const controller = await controllerFor(carts, { client, cache, runtime });
    const stop = new AbortController();
    const runs = [cache.run({ signal: stop.signal }), controller.run({ signal: stop.signal })];
    const expected = ['channel a', 'channel gone gone', 'every 1h a', 'every 1h b', 'every 1h c', 'poller c'];
    await until('all were heard', async () => expected.every((each) => received.includes(each)));
    expect([...new Set(received)].sort()).toEqual(expected);
    stop.abort();
    await Promise.all(runs);
  });

  test('a poll that fails does not fail the later ones', async () => {
    const log = silentLogger;
    await using connection = server().connect();
    const { client } = connection;
    const namespace = await server().namespace();
    await using cache = new Cache(client, { namespaces: [namespace], runtime: { log } });
    const clock = new VirtualClock();
    const received: string[] = [];
    const failures: unknown[] = [];
    let polls = 0;
    const poll = async () => {
      polls += 1;
      if (polls === 1) throw new Error('not yet');
      return [{ id: 'x', version: `poll-${polls}` }];
    };
    const carts = control(ConfigMap, { predicates: [() => false] })
      .source(() =>
        pollerSource({
          every: '1m',
          poll,
          id: ({ id }) => id,
          keys: ({ version }) => ({ namespace, name: version }),
          runtime: { clock, log: { ...log, error: (_, fields) => void failures.push(fields) } },
        }),
      )
      .evenWhenGone()
      .reconcile(({ key }) => void received.push(key.name));
    const controller = await controllerFor(carts, { client, cache, runtime: { log } });
    const stop = new AbortController();
    const runs = [cache.run({ signal: stop.signal }), controller.run({ signal: stop.signal })];
    for (const count of [1, 2, 3]) {
      await until(`poll ${count}`, async () => polls === count && clock.pending > 0);
      await clock.advance(70_000);
    }
    await until('what the later polls found was heard', async () => received.includes('poll-3'));
    expect(received).toContain('poll-2');
    expect(failures).toHaveLength(1);
    stop.abort();
    await Promise.all(runs);
  });

  test('a cron expression: objects are looked at when the time has come, and again the next time', async () => {
    const runtime = { log: silentLogger };
    await using connection = server().connect();
    const { client } = connection;
    const namespace = await server().namespace();
    for (const name of ['a', 'b'])
      await client.create(ConfigMap({ metadata: { namespace, name, labels: { x: 'y' } } }));
    await using cache = new Cache(client, { namespaces: [namespace], runtime });
    const clock = new VirtualClock({ start: Date.UTC(2026, 0, 5, 5, 59) });
    const received: string[] = [];
    const reports = control(ConfigMap, { predicates: [() => false] })
      .source(({ reader }) => {
        const keys = allOf(reader, ConfigMap, { namespace, labelSelector: { x: 'y' } });
        return cronSource('0 6 * * *', keys, { runtime: { clock } });
      })
      .reconcile(({ key, reasons }) => void received.push(`${reasons[0]?.source} ${key.name}`));
    const controller = await controllerFor(reports, { client, cache, runtime });
    const stop = new AbortController();
    const runs = [cache.run({ signal: stop.signal }), controller.run({ signal: stop.signal })];
    await until('it runs', async () => controller.health.phase === 'running');
    expect(received).toEqual([]);
    for (const times of [1, 2]) {
      await clock.advance(times === 1 ? 60_000 : 86_400_000);
      await until('both were looked at', async () => received.length === 2 * times);
    }
    expect([...new Set(received)].sort()).toEqual(['cron 0 6 * * * a', 'cron 0 6 * * * b']);
    stop.abort();
    await Promise.all(runs);
  });

  test('an informer of a factory, and finalizers of several parts: each cleans up before the object goes', async () => {
    const runtime = { log: silentLogger };
    await using connection = server().connect();
    const { client } = connection;
    const namespace = await server().namespace();
    const factory = new SharedInformerFactory(client, { namespace, runtime });
    const informer = factory.forKind(ConfigMap, { labelSelector: 'kind=cart' });
    const lister = new Lister(informer.getIndexer(), ConfigMap);
    const done: string[] = [];
    let refusals = 1;
    const finalizers = new Finalizers<ConfigMap>()
      .register('example.com/stock', () => void done.push('stock'))
      .register('example.com/money', () => {
        if (refusals-- > 0) throw new Error('the bank is closed');
        done.push('money');
      });
    const controller = new Controller('carts', {
      runtime,
      backoff: () => '10ms',
      reconcile: async ({ key, signal }) => {
        const cart = lister.namespace(namespace).find(key.name);
        if (cart === undefined) return;
        const { object, updated, error } = await finalizers.finalize(cart, { signal });
        if (updated) await client.update(object, { signal }).catch(ignoreNotFound);
        if (error) throw error;
      },
    });
    await controller.watch(informerSource(informer, enqueueRequestForObject()));
    const stop = new AbortController();
    factory.start({ signal: stop.signal });
    const run = controller.run({ signal: stop.signal });
    const key = { namespace, name: 'a' };
    await client.create(ConfigMap({ metadata: { ...key, labels: { kind: 'cart' } } }));
    await until('both are set', async () => (await client.get(ConfigMap, key)).metadata.finalizers?.length === 2);
    await client.delete(ConfigMap, key);
    await until('it is gone', async () => (await client.find(ConfigMap, key)) === undefined);
    // What has succeeded may be asked again by a cache that is behind; what has failed was tried again.
    expect([...new Set(done)]).toEqual(['stock', 'money']);
    stop.abort();
    await run;
  });
});
