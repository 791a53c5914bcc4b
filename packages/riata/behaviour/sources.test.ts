import { expect, test } from 'vitest';
import { Cache } from '../src/cache/index.js';
import { createClient, type Reader } from '../src/client/index.js';
import { allOf, channelSource, control, controllerFor, intervalSource, pollerSource } from '../src/controller/index.js';
import { ConfigMap } from '../src/kinds/index.js';
import { silentLogger } from '../src/runtime/index.js';
import { describeServers, until } from './servers.js';

describeServers('sources', (server) => {
  test('a channel, an interval and a poller lead to reconciles, which say why', async () => {
    const runtime = { log: silentLogger };
    await using client = createClient(server().config, { runtime });
    const namespace = await server().newNamespace();
    // Servers put a ConfigMap of their own into every namespace.
    const labels = { kind: 'cart' };
    for (const name of ['a', 'b', 'c']) await client.create(ConfigMap({ metadata: { namespace, name, labels } }));
    await using cache = new Cache(client, { namespaces: [namespace], runtime });
    const heard: string[] = [];
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
        for (const { source } of reasons) heard.push(`${source} ${key.name}${object === undefined ? ' gone' : ''}`);
      });
    const controller = await controllerFor(carts, { client, cache, runtime });
    const stop = new AbortController();
    const runs = [cache.run({ signal: stop.signal }), controller.run({ signal: stop.signal })];
    const expected = ['channel a', 'channel gone gone', 'every 1h a', 'every 1h b', 'every 1h c', 'poller c'];
    await until('all were heard', async () => expected.every((each) => heard.includes(each)));
    expect([...new Set(heard)].sort()).toEqual(expected);
    stop.abort();
    await Promise.all(runs);
  });
});
