import { type InformerHealth, listWatch, SharedIndexInformer } from 'riata/cache';
import { createClient, type Discovery } from 'riata/client';
import { ConfigMap } from 'riata/kinds';
import { type KindRef, makeKind } from 'riata/object';
import { silentLogger } from 'riata/runtime';
import { expect, onTestFinished, test } from 'vitest';
import { PacedTime } from './paced-time.js';
import { describeServers } from './servers.js';

const outageMs = 25_000;

/** Stops the server, for all its clients. */
describeServers('outages', (server) => {
  test.each(['in order', 'by force'] as const)(
    'a server that went %s: the informers of all its kinds wait out no backoff after its return',
    async (how) => {
      const time = new PacedTime();
      const { clock } = time;
      const runtime = { clock, log: silentLogger };
      const client = createClient(time.config(server().config), { runtime });
      const kinds = await watchedKinds(client.discovery);
      expect(kinds.length).toBeGreaterThanOrEqual(50);
      const informers = kinds.map(
        (kind) => new SharedIndexInformer(listWatch(client, kind), { kind, runtime, watchErrorHandler: () => {} }),
      );
      const stop = new AbortController();
      const running = informers.map((informer) => informer.run({ signal: stop.signal }));
      onTestFinished(async () => {
        stop.abort();
        await Promise.all(running);
        await client.close();
      });
      const all = (is: (health: InformerHealth) => boolean) => informers.every(({ health }) => is(health));
      await time.until('all informers watch', () => all(isFresh));

      // No watch can resume.
      const namespace = await server().namespace();
      for (const name of ['a', 'b', 'c']) await server().client.create(ConfigMap({ metadata: { namespace, name } }));
      await server().faults.compact();
      await server().faults.suspend({ graceful: how === 'in order' });
      const goneAt = clock.monotonic();
      await time.until('the server was away', () => clock.monotonic() - goneAt > outageMs);
      expect(all(({ consecutiveFailures }) => consecutiveFailures > 0)).toBe(true);
      await server().faults.resume();
      const backAt = clock.monotonic();
      await time.until('all informers watch again', () => all(isFresh));
      // Waiting out a backoff would take half a minute; a busy machine may need more than the 5 s of an idle one.
      expect(clock.monotonic() - backAt).toBeLessThanOrEqual(20_000);
      const configMaps = informers[kinds.findIndex(({ kind }) => kind === 'ConfigMap')];
      expect(configMaps?.getStore().getByKey(`${namespace}/c`)).toBeDefined();
    },
    120_000,
  );
});

function isFresh({ phase, listed, consecutiveFailures }: InformerHealth): boolean {
  return listed && phase === 'watching' && consecutiveFailures === 0;
}

/** All that the server lets be watched, each in its preferred version. */
async function watchedKinds(discovery: Discovery): Promise<readonly KindRef[]> {
  const { groups } = await discovery.resources();
  return groups.flatMap(({ name: group, versions: [preferred] }) =>
    (preferred?.resources ?? [])
      .filter(({ verbs }) => verbs.includes('list') && verbs.includes('watch'))
      .map(({ kind, plural, scope }) => makeKind({ group, version: preferred?.version ?? '', kind, plural, scope })),
  );
}
