import { control } from 'riata/controller';
import { ConfigMap, Secret } from 'riata/kinds';
import { isConflict } from 'riata/rest';
import { describe, expect, test } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import type { TestManagerOptions } from './test-manager.js';
import { inDefault } from './widget.fixture.js';

const key = inDefault('s');
const secret = Secret({ metadata: key });
const place = { namespace: 'default', name: 'lease' };

describe.each<[string, TestManagerOptions, { readonly sharded?: boolean }]>([
  ['a leader', { leaderElection: place }, {}],
  ['a replica that shares the work', { sharding: place }, { sharded: true }],
])('%s', (_, options, how) => {
  test('deletes the object that it knows, or none: not one that was made anew meanwhile; patches get along', async () => {
    await using env = await TestEnvironment.start({ server: 'in-process' });
    await env.client.create(secret);
    const outcomes: unknown[] = [];
    const maps = control(ConfigMap, { ...how, predicates: [(change) => change.key === 'default/a'] })
      .reads(Secret)
      .reconcile(async ({ client }) => {
        const body = { metadata: { labels: { by: 'me' } } };
        // Two at once get along.
        await Promise.all([1, 2].map(() => client.patch(Secret, key, { type: 'merge', body })));
        // The cache does not hear of it in time.
        using _late = env.faults.delayEvents('1m', { kind: Secret });
        await env.client.delete(Secret, key);
        await env.client.create(secret);
        outcomes.push(await client.delete(Secret, key).catch(isConflict));
      });
    await env.startManager({ ...options, run: [maps] });
    await env.eventually(() => env.managers[0]?.controllers[0]?.phase === 'running');
    await env.client.create(ConfigMap({ metadata: inDefault('a') }));
    await env.eventually(() => outcomes.length > 0);
    expect(outcomes).toEqual([true]);
    expect((await env.client.get(Secret, key)).metadata.labels).toBe(undefined);
  });
});
