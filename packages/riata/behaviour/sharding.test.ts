import type { TestEnvironment } from '@riata/testing';
import { createClient } from 'riata/client';
import { control, isNotInShard } from 'riata/controller';
import { ConfigMap, Lease } from 'riata/kinds';
import { Manager, type ManagerOptions, ShardRing } from 'riata/manager';
import { defineKind } from 'riata/object';
import { silentLogger } from 'riata/runtime';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { PacedTime } from './paced-time.js';
import { describeServers, rejection, uniqueName } from './servers.js';

const log = silentLogger;
const allSlots = Array.from({ length: 64 }, (_, slot) => slot);

const owned = (...replicas: { readonly ring: ShardRing }[]) =>
  replicas.flatMap(({ ring }) => ring.owned).sort((a, b) => a - b);
const areShared = (time: PacedTime, ...replicas: { readonly ring: ShardRing }[]) =>
  time.until('all slots are shared', () => {
    const shares = replicas.map(({ ring }) => ring.owned.length);
    return owned(...replicas).length === 64 && Math.max(...shares) - Math.min(...shares) <= 1;
  });

/** Managers that share one controller, and all that it did. */
async function operators(server: TestEnvironment) {
  const { client } = server;
  const time = new PacedTime();
  const { clock } = time;
  const namespace = await server.namespace();
  const Widget = defineKind({
    group: `${uniqueName('s')}.riata.dev`,
    version: 'v1',
    kind: 'Widget',
    spec: z.object({ round: z.int().default(0) }),
    status: z.object({ by: z.string() }),
  });
  await server.install(Widget);
  const running = new Map<string, string>();
  const overlaps: string[] = [];
  const leaders: string[] = [];
  const start = async (identity: string, options: ManagerOptions = {}) => {
    const widgets = control(Widget, { sharded: true, concurrency: 4 })
      .owns(ConfigMap)
      .reconcile(async ({ object, apply, status, key: { name } }) => {
        const other = running.get(name);
        if (other !== undefined) overlaps.push(`${name}: ${other} and ${identity}`);
        running.set(name, identity);
        try {
          await apply(ConfigMap({ metadata: { name }, data: { round: `${object.spec.round}` } }));
          await clock.sleep(5);
          await status({ by: `${identity} ${object.spec.round}` });
        } finally {
          running.delete(name);
        }
      });
    const guarded = control(Widget, { name: 'guarded' }).reconcile(() => void leaders.push(identity));
    const config = time.config(server.config);
    const sharding = { namespace, name: 'ring', identity };
    const manager = new Manager({
      ...{ config, runtime: { log, clock }, sharding, gracefulTimeout: 'never', loopMonitor: false },
      ...options,
    });
    manager.add(widgets);
    if (options.leaderElection !== undefined) manager.add(guarded);
    const stop = new AbortController();
    const ended = manager.run({ signal: stop.signal });
    return {
      identity,
      ring: manager.shards as ShardRing,
      manager,
      async stop() {
        stop.abort();
        const exit = await time.ended(`${identity} has stopped`, ended);
        await manager[Symbol.asyncDispose]();
        await config.transport.close();
        return exit;
      },
    };
  };
  const names = Array.from({ length: 24 }, (_, at) => `w${at}`);
  const key = (name: string) => ({ namespace, name });
  const makeAll = () =>
    Promise.all(names.map((name) => client.create(Widget({ metadata: key(name), spec: { round: 0 } }))));
  const touchAll = (round: number) =>
    Promise.all(names.map((name) => client.patch(Widget, key(name), { type: 'merge', body: { spec: { round } } })));
  /** Each is reported by the replica that owns it. */
  const areDone = (round: number, ...replicas: { readonly ring: ShardRing; readonly identity: string }[]) =>
    time.until(`round ${round} is done`, async () => {
      const { items } = await client.list(Widget, { namespace });
      return items.every(({ metadata, status }) => {
        const owner = replicas.find(({ ring }) => ring.owns(key(metadata.name)));
        return owner !== undefined && status?.by === `${owner.identity} ${round}`;
      });
    });
  return { client, namespace, time, start, makeAll, touchAll, areDone, overlaps, leaders };
}

describeServers('sharding', (server) => {
  test('three share all slots; what one leaves or loses goes to the others, and comes back', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const time = new PacedTime();
    const config = time.config(server().config);
    await using _transport = config.transport;
    await using connection = createClient(config, { runtime: { log } });
    const join = (identity: string) => {
      const runtime = { log, clock: time.clock };
      const ring = new ShardRing({ client: connection, namespace, name: 'ring', identity, runtime });
      const [stop, abandon] = [new AbortController(), new AbortController()];
      const ended = ring.run({ signal: stop.signal, abandon: abandon.signal });
      return { ring, ended, stop, abandon };
    };
    const [a, b, c] = [join('a'), join('b'), join('c')];
    await areShared(time, a, b, c);
    expect(owned(a, b, c)).toEqual(allSlots);
    expect(a.ring.members).toEqual(['a', 'b', 'c']);
    c.stop.abort();
    await time.ended('c has left', c.ended);
    await areShared(time, a, b);
    b.abandon.abort();
    await b.ended;
    expect(a.ring.owned.length).toBeLessThan(64);
    await areShared(time, a);
    const { metadata } = await client.get(Lease, { namespace, name: 'ring' });
    const lines = Object.keys(metadata.annotations ?? {}).filter((key) => key.startsWith('member.'));
    expect(lines).toHaveLength(1);
    // Writes for a slot pass while it is owned, and not when the Lease, and with it the place, is gone.
    const fenced = client.wrap(a.ring.fence('shop/cart'));
    await fenced.create(ConfigMap({ metadata: { namespace, name: 'mine' } }));
    await client.delete(Lease, { namespace, name: 'ring' });
    await time.until('it notices', () => !a.ring.owns('shop/cart'));
    await rejection(fenced.create(ConfigMap({ metadata: { namespace, name: 'late' } })));
    await areShared(time, a);
    a.stop.abort();
    await time.ended('a has left', a.ended);
    const others = client.wrap(c.ring.fence('shop/cart'));
    expect(isNotInShard(await rejection(others.create(ConfigMap({ metadata: { namespace, name: 'late' } }))))).toBe(
      true,
    );
    expect(await client.find(ConfigMap, { namespace, name: 'late' })).toBeUndefined();
  });

  test('each key is reconciled by the one replica that owns it, also when replicas come and go', async () => {
    const { namespace, time, start, makeAll, touchAll, areDone, overlaps, leaders } = await operators(server());
    const leaderElection = { namespace, name: 'leader' };
    await makeAll();
    const [a, b] = await Promise.all([start('a', { leaderElection }), start('b', { leaderElection })]);
    await areShared(time, a, b);
    await areDone(0, a, b);
    await touchAll(1);
    await areDone(1, a, b);
    const c = await start('c', { leaderElection });
    await areShared(time, a, b, c);
    await touchAll(2);
    await areDone(2, a, b, c);
    expect(await b.stop()).toEqual({ reason: 'stopped', unfinished: [] });
    await areShared(time, a, c);
    // Nothing has changed since: those that moved are looked at by their new owners all the same.
    await areDone(2, a, c);
    await touchAll(3);
    await areDone(3, a, c);
    await Promise.all([a.stop(), c.stop()]);
    expect(overlaps).toEqual([]);
    expect(new Set(leaders).size).toBeLessThanOrEqual(2);
    expect(leaders.length).toBeGreaterThan(0);
  });

  test('without sharding it runs as any other', async () => {
    const { time, start, makeAll, client, namespace } = await operators(server());
    await makeAll();
    const a = await start('a', { sharding: undefined });
    await time.until('all are owned', async () => (await client.list(ConfigMap, { namespace })).items.length >= 24);
    expect(a.manager.shards).toBeUndefined();
    await a.stop();
  });
});
