import type { TestEnvironment } from '@riata/testing';
import type { KubeClient } from 'riata/client';
import { ConfigMap, Lease } from 'riata/kinds';
import { fence, LeaderElector, type LeaderElectorOptions, LeaseLock } from 'riata/manager';
import { isConflict, isNotFound } from 'riata/rest';
import { isLostLease, type LostLease, memoryMetrics, silentLogger } from 'riata/runtime';
import { describe, expect, test } from 'vitest';
import { describeServers, rejection, until } from './servers.js';

/** A Lease of a test's own, and those who run for it; who is slow here loses nothing, as the times are long. */
async function election(server: TestEnvironment) {
  const { client } = server;
  const namespace = await server.namespace();
  const key = { namespace, name: 'operator' };
  const leading = new Set<string>();
  const most = { leaders: 0 };
  const join = (identity: string, options: Partial<LeaderElectorOptions> = {}) => {
    const stop = new AbortController();
    const reported: string[] = [];
    const metrics = memoryMetrics();
    const elector = new LeaderElector({
      lock: new LeaseLock(client, { ...key, identity, labels: { app: 'test' } }),
      retryPeriod: '50ms',
      onStartedLeading: async (signal) => {
        leading.add(identity);
        most.leaders = Math.max(most.leaders, leading.size);
        if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
        leading.delete(identity);
      },
      onNewLeader: (leader) => void reported.push(leader),
      runtime: { log: silentLogger, metrics },
      ...options,
    });
    const ran = elector.run({ signal: stop.signal });
    const leads = () => until(`${identity} leads`, async () => elector.isLeader);
    return { elector, metrics, reported, ran, leads, stop: () => stop.abort() };
  };
  const lease = () => client.get(Lease, key);
  return { client, key, join, lease, most };
}

describeServers('leader election', (server) => {
  test('the Lease says who leads, since when, and how often that has changed; given up, it says so', async () => {
    const { join, lease } = await election(server());
    const a = join('a');
    await a.leads();
    const first = await lease();
    expect(first).toMatchObject({
      metadata: { labels: { app: 'test' } },
      spec: { holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 0 },
    });
    expect(first.spec?.acquireTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    const renewed = await until('it is renewed', async () => {
      const now = await lease();
      return now.spec?.renewTime !== first.spec?.renewTime && now;
    });
    expect(renewed.spec).toMatchObject({ holderIdentity: 'a', acquireTime: first.spec?.acquireTime });
    a.stop();
    expect(await a.ran).toEqual({ outcome: 'stopped' });
    const free = await lease();
    expect(free.spec).toMatchObject({ leaseDurationSeconds: 1, leaseTransitions: 0 });
    expect(free.spec?.holderIdentity ?? '').toBe('');
    const b = join('b');
    await b.leads();
    expect((await lease()).spec).toMatchObject({ holderIdentity: 'b', leaseDurationSeconds: 15, leaseTransitions: 1 });
    b.stop();
    await b.ran;
    // Renewals without reading: no other client wrote.
    expect(a.metrics.value('leader_election_slowpath_total', { name: 'operator' })).toBeUndefined();
  });

  test('ten candidates lead one after the other, never two at once', async () => {
    const { join, lease, most } = await election(server());
    const all = Array.from({ length: 10 }, (_, i) => join(`c-${i}`));
    const led: string[] = [];
    for (let left = all; left.length > 0; ) {
      const leader = await until('somebody leads', async () => left.find(({ elector }) => elector.isLeader));
      led.push(leader.elector.identity);
      leader.stop();
      await leader.ran;
      left = left.filter((candidate) => candidate !== leader);
    }
    expect([...led].sort()).toEqual(all.map(({ elector }) => elector.identity));
    expect(most.leaders).toBe(1);
    expect((await lease()).spec?.leaseTransitions).toBe(9);
  });

  test('what others do to the Lease: an edit is survived, a deletion too, another holder is not', async () => {
    const { client, key, join, lease } = await election(server());
    const a = join('a');
    await a.leads();
    const edit = { type: 'merge', body: { metadata: { labels: { edited: 'yes' } } } } as const;
    await client.patch(Lease, key, edit);
    await until('the edit is noticed', async () =>
      a.metrics.value('leader_election_slowpath_total', { name: 'operator' }),
    );
    const { uid } = (await lease()).metadata;
    expect((await lease()).metadata.labels).toEqual({ app: 'test', edited: 'yes' });
    await client.delete(Lease, key);
    const made = await until('it is made again', () => client.find(Lease, key));
    expect(made.metadata.uid).not.toBe(uid);
    expect([made.spec?.holderIdentity, a.elector.isLeader]).toEqual(['a', true]);
    await client.patch(Lease, key, { type: 'merge', body: { spec: { holderIdentity: 'b' } } });
    const outcome = await a.ran;
    expect(outcome).toMatchObject({ outcome: 'lost' });
    expect((outcome as { reason: LostLease }).reason.message).toContain('is lost: b holds it');
    expect((await lease()).spec?.holderIdentity).toBe('b');
    expect(a.reported).toEqual(['a', 'b']);
  });

  test('a Lease that is gone can be put back by who names no uid of it', async () => {
    const { client, key } = await election(server());
    const { metadata } = await client.create(Lease({ metadata: key, spec: { holderIdentity: 'a' } }));
    await client.delete(Lease, key);
    const { uid, resourceVersion } = metadata;
    const put = (named: object) => client.update(Lease({ metadata: { ...key, ...named } }));
    expect(isConflict(await rejection(put({ uid, resourceVersion })))).toBe(true);
    expect(isConflict(await rejection(put({ uid })))).toBe(true);
    expect((await put({ resourceVersion })).metadata.uid).not.toBe(uid);
  });

  test('a fenced client writes while it leads, and not after', async () => {
    const { client, key, join } = await election(server());
    const a = join('a');
    const fenced = client.wrap(a.elector.fence);
    await a.leads();
    const made = await fenced.create(ConfigMap({ metadata: { ...key, name: 'c' } }));
    a.stop();
    await a.ran;
    expect(isLostLease(await rejection(fenced.update({ ...made, data: { a: '1' } })))).toBe(true);
    expect(isLostLease(await rejection(fenced.delete(ConfigMap, made.metadata)))).toBe(true);
    expect((await fenced.get(ConfigMap, made.metadata)).metadata.resourceVersion).toBe(made.metadata.resourceVersion);
  });
});

describeServers('a write that is under way when another leads', (server) => {
  /** What the old leader knows of the object, the object as the new one has left it, and the old one's client. */
  async function late(): Promise<{ old: KubeClient; namespace: string; stored: () => Promise<ConfigMap> }> {
    const { client } = server();
    const namespace = await server().namespace();
    const name = 'c';
    const known = await client.create(ConfigMap({ metadata: { namespace, name }, data: { by: 'old' } }));
    await client.update({ ...known, data: { by: 'new' } });
    const guard = { assertLeading: () => {}, lostSignal: undefined };
    const old = client.wrap((run) => fence(run, guard, { known: () => known.metadata }));
    return { old, namespace, stored: () => client.get(ConfigMap, { namespace, name }) };
  }

  const writes: Readonly<Record<string, (old: KubeClient, namespace: string) => Promise<unknown>>> = {
    update: (old, namespace) => old.update(ConfigMap({ metadata: { namespace, name: 'c' }, data: { by: 'late' } })),
    'merge patch': (old, namespace) =>
      old.patch(ConfigMap, { namespace, name: 'c' }, { type: 'merge', body: { data: { by: 'late' } } }),
    'strategic patch': (old, namespace) =>
      old.patch(ConfigMap, { namespace, name: 'c' }, { type: 'strategic', body: { data: { by: 'late' } } }),
    'JSON patch': (old, namespace) => {
      const body = [{ op: 'replace', path: '/data/by', value: 'late' }] as const;
      return old.patch(ConfigMap, { namespace, name: 'c' }, { type: 'json', body });
    },
    apply: (old, namespace) =>
      old.apply(ConfigMap({ metadata: { namespace, name: 'c' }, data: { by: 'late' } }), {
        fieldManager: 'late',
        force: true,
      }),
  };

  describe('is refused by the server', () => {
    test.each(Object.keys(writes))('%s', async (verb) => {
      const { old, namespace, stored } = await late();
      const error = await rejection(writes[verb]!(old, namespace));
      expect(isConflict(error)).toBe(true);
      expect((await stored()).data).toEqual({ by: 'new' });
    });

    test('the deletion of what the new one has recreated', async () => {
      const { old, namespace, stored } = await late();
      const { client } = server();
      const key = { namespace, name: 'c' };
      await client.delete(ConfigMap, key);
      await client.create(ConfigMap({ metadata: key, data: { by: 'new' } }));
      expect(isConflict(await rejection(old.delete(ConfigMap, key)))).toBe(true);
      expect((await stored()).data).toEqual({ by: 'new' });
    });

    test('an apply that would bring back what the new one has deleted', async () => {
      const { old, namespace } = await late();
      const { client } = server();
      const key = { namespace, name: 'c' };
      await client.delete(ConfigMap, key);
      const error = await rejection(writes.apply!(old, namespace));
      expect(isConflict(error) || isNotFound(error)).toBe(true);
      expect(await client.find(ConfigMap, key)).toBeUndefined();
    });
  });

  test('and goes through if nothing has changed', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const guard = { assertLeading: () => {}, lostSignal: undefined };
    for (const verb of Object.keys(writes)) {
      const known = await client.create(ConfigMap({ metadata: { namespace, name: 'c' }, data: { by: 'old' } }));
      const old = client.wrap((run) => fence(run, guard, { known: () => known.metadata }));
      await writes[verb]!(old, namespace);
      expect((await client.get(ConfigMap, { namespace, name: 'c' })).data).toEqual({ by: 'late' });
      await old.delete(ConfigMap, { namespace, name: 'c' });
    }
    expect((await client.list(ConfigMap, { namespace, fieldSelector: 'metadata.name=c' })).items).toEqual([]);
  });
});
