import { ConfigMap, Event, Namespace, PriorityClass, ServiceAccount } from 'riata/kinds';
import { Event as EventsV1Event } from 'riata/kinds/events.k8s.io/v1';
import { EventBroadcaster, type EventBroadcasterOptions, type EventClient } from 'riata/manager';
import { memoryLogger } from 'riata/runtime';
import { expect, test } from 'vitest';
import { describeServers, uniqueName, until } from './servers.js';

/** Records while the block runs; the line is flushed when it is left. */
async function recording(
  client: EventClient,
  options: EventBroadcasterOptions,
  say: (broadcaster: EventBroadcaster) => void | Promise<void>,
) {
  const log = memoryLogger('info');
  // However slow the machine is: what is not written by then is lost.
  const always = { instance: 'host-1', flushTimeout: '1m', runtime: { log } } as const;
  const broadcaster = new EventBroadcaster(client, { ...always, ...options });
  const stop = new AbortController();
  const running = broadcaster.run({ signal: stop.signal });
  await say(broadcaster);
  stop.abort();
  await running;
  return log.messages();
}

describeServers('events', (server) => {
  test('of core/v1: counted, combined, beside their object', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const cart = await client.create(ConfigMap({ metadata: { namespace, name: 'cart' } }));
    const logged = await recording(client, {}, (broadcaster) => {
      const recorder = broadcaster.recorder('carts');
      for (let n = 0; n < 3; n += 1) recorder.event(cart, { type: 'Normal', reason: 'Filled', message: 'filled' });
      for (let n = 0; n < 12; n += 1) {
        recorder.event(cart, { type: 'Warning', reason: 'Heavy', message: `${n} kg`, action: 'Weigh', related: cart });
      }
    });
    expect(logged).toEqual([]);
    const { items } = await client.list(Event, { namespace });
    const filled = items.filter(({ reason }) => reason === 'Filled');
    expect(filled).toMatchObject([
      {
        ...{ type: 'Normal', message: 'filled', count: 3, reportingComponent: 'carts', reportingInstance: 'host-1' },
        source: { component: 'carts', host: 'host-1' },
        involvedObject: { kind: 'ConfigMap', namespace, name: 'cart', uid: cart.metadata.uid },
      },
    ]);
    const heavy = items.filter(({ reason }) => reason === 'Heavy');
    expect(heavy.map(({ message }) => message).sort()).toEqual(
      [...Array.from({ length: 9 }, (_, n) => `${n} kg`), '(combined from similar events): 11 kg'].sort(),
    );
    expect(heavy.find(({ message }) => message?.startsWith('(combined'))).toMatchObject({ count: 3, action: 'Weigh' });
    const selected = await client.list(Event, { namespace, fieldSelector: { 'involvedObject.name': 'cart' } });
    expect(selected.items).toHaveLength(items.length);
  });

  test('of events.k8s.io/v1: a series', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const cart = await client.create(ConfigMap({ metadata: { namespace, name: 'cart' } }));
    const logged = await recording(client, { api: 'events.k8s.io/v1' }, (broadcaster) => {
      const recorder = broadcaster.recorder('example.com/carts');
      for (let n = 0; n < 5; n += 1) {
        recorder.event(cart, { type: 'Normal', reason: 'Filled', message: `filled ${n} ${'x'.repeat(2_000)}` });
      }
    });
    expect(logged).toEqual([]);
    const { items } = await client.list(EventsV1Event, { namespace });
    expect(items).toMatchObject([
      {
        ...{ type: 'Normal', reason: 'Filled', action: 'Filled', reportingController: 'example.com/carts' },
        regarding: { name: 'cart', uid: cart.metadata.uid },
        series: { count: 5 },
      },
    ]);
    expect(items[0]?.note).toMatch(/^filled 0 x+…$/);
  });

  test('of what has no namespace, and of what has an odd name, go into default', async () => {
    const { client } = server();
    const name = uniqueName('p');
    const klass = await client.create(PriorityClass({ metadata: { name }, value: 7 }));
    const odd = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: `${name}:odd` } };
    for (const api of ['v1', 'events.k8s.io/v1'] as const) {
      const reason = uniqueName('Odd');
      const logged = await recording(client, { api }, (broadcaster) => {
        const recorder = broadcaster.recorder('example.com/classes');
        recorder.event(klass, { type: 'Warning', reason, message: 'not even' });
        recorder.event(odd, { type: 'Warning', reason, message: 'not even' });
      });
      expect(logged).toEqual([]);
      const kind = api === 'v1' ? Event : EventsV1Event;
      const { items } = await client.list<Event | EventsV1Event>(kind, { namespace: 'default' });
      const reported = items.filter((event) => event.reason === reason);
      const about = reported.map((event) => ('involvedObject' in event ? event.involvedObject : event.regarding)?.name);
      expect(about.sort()).toEqual([name, `${name}:odd`]);
    }
    await client.delete(PriorityClass, { name });
  });

  test('in a namespace that ends are refused, which is logged once; the others are written', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const other = await server().namespace();
    // A finalizer keeps the namespace from going before the test is over.
    await client.create(ServiceAccount({ metadata: { namespace, name: 'held', finalizers: ['riata.dev/held'] } }));
    await client.delete(Namespace, { name: namespace });
    await until('it ends', async () => (await client.get(Namespace, { name: namespace })).metadata.deletionTimestamp);
    const logged = await recording(client, {}, (broadcaster) => {
      const recorder = broadcaster.recorder('carts');
      for (const place of [namespace, namespace, other]) {
        const about = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: place, name: 'cart' } };
        recorder.event(about, { type: 'Normal', reason: uniqueName('R'), message: 'filled' });
      }
    });
    expect(logged).toEqual(['the server refused an event; further refusals of this sort are not logged']);
    expect((await client.list(Event, { namespace: other })).items).toHaveLength(1);
    await client.patch(
      ServiceAccount,
      { namespace, name: 'held' },
      { type: 'merge', body: { metadata: { finalizers: null } } },
    );
  });
});
