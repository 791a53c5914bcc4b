import { expect, test } from 'vitest';
import type { CacheHealth } from '../../cache/cache.js';
import type { InformerHealth } from '../../cache/informer/shared-informer.js';
import { ReflectorError } from '../../cache/reflector/reflector-error.js';
import { Pod } from '../../kinds/index.js';
import type { ClusterSet } from '../clusters/cluster.js';
import { addManagerChecks } from './add-manager-checks.js';
import { HealthChecks } from './health-checks.js';

const well = {
  ...{ name: 'pods', phase: 'watching', synced: true, consecutiveFailures: 0, lastEventMs: 1_000 },
  ...{ failing: [], failingObjects: 0 },
} as const;
const refused = new Error('connection refused');
const problem = (kind: 'not-served' | 'forbidden') =>
  new ReflectorError(`pods: ${kind}`, { problem: kind, reflector: 'pods', cause: undefined });

/** Clusters by name, and what is wrong with each. */
function clustersOf(problems: Readonly<Record<string, string | undefined>>): ClusterSet {
  const check = (name: string) => () => {
    if (problems[name] !== undefined) throw new Error(problems[name]);
  };
  const set = {
    get names() {
      return Object.keys(problems);
    },
    get: (name: string) => (name in problems ? { check: check(name) } : undefined),
  };
  return set as unknown as ClusterSet;
}

test.each<[string, Partial<InformerHealth>, string | undefined]>([
  ['is well', {}, undefined],
  ['has heard nothing for long, as nothing has happened', { lastEventMs: 3_600_000 }, undefined],
  ['lists for the first time', { phase: 'listing', synced: false, lastEventMs: undefined }, 'not synced: pods'],
  ['waits for its first use', { phase: 'idle', synced: false, lastEventMs: undefined }, undefined],
  ['cannot connect for a moment', { consecutiveFailures: 5, lastError: refused, lastEventMs: 60_000 }, undefined],
  [
    'cannot connect for long',
    { consecutiveFailures: 5, lastError: refused, lastEventMs: 240_000 },
    'pods: no answer for 240 s: Error: connection refused',
  ],
  [
    'is not allowed',
    { synced: false, consecutiveFailures: 1, lastError: problem('forbidden') },
    'not synced: pods: ReflectorError: pods: forbidden',
  ],
  [
    'waits for a kind that is not served yet',
    { synced: false, consecutiveFailures: 9, lastError: problem('not-served'), lastEventMs: undefined },
    undefined,
  ],
  [
    'had a kind that is not served any more',
    { consecutiveFailures: 9, lastError: problem('not-served'), lastEventMs: 3_600_000 },
    undefined,
  ],
])('an informer that %s', async (_, health, expected) => {
  const informer = { ...well, ...health } as InformerHealth;
  const [healthz, readyz] = [new HealthChecks(), new HealthChecks()];
  const cache = { health: [{ kind: Pod, synced: informer.synced, informers: [informer], selections: [] }] };
  const parts = {
    elector: undefined,
    ring: undefined,
    controllers: { health: [], active: [] },
    clusters: clustersOf({}),
  };
  addManagerChecks({ healthz, readyz, ...parts, cache: cache as { health: CacheHealth[] } });
  const { ok, checks } = await readyz.ask();
  expect([ok, checks.informers]).toEqual([expected === undefined, expected && `Error: ${expected}`]);
  expect((await healthz.ask()).ok).toBe(true);
});

test('a lease that has run out while the work continues is a reason to be restarted', async () => {
  const [healthz, readyz] = [new HealthChecks(), new HealthChecks()];
  const asked: string[] = [];
  const check = (name: string) => ({
    check: (tolerated = '0s') => {
      asked.push(`${name} ${tolerated}`);
      throw new Error(`${name} ran out`);
    },
  });
  const parts = { cache: { health: [] }, clusters: clustersOf({}) };
  addManagerChecks({
    controllers: { health: [], active: [] },
    healthz,
    readyz,
    ...parts,
    elector: check('lease'),
    ring: check('place'),
  });
  expect((await healthz.ask()).checks).toEqual({
    ...{ ping: undefined, 'leader-election': 'Error: lease ran out', 'shard-ring': 'Error: place ran out' },
  });
  expect(asked).toEqual(['lease 5s', 'place 5s']);
  expect((await readyz.ask()).ok).toBe(true);
});

test('added clusters are reported by name while they exist, and do not count', async () => {
  const [healthz, readyz] = [new HealthChecks(), new HealthChecks()];
  const problems: Record<string, string | undefined> = { north: undefined, south: 'silent' };
  const parts = { elector: undefined, ring: undefined, cache: { health: [] } };
  addManagerChecks({
    controllers: { health: [], active: [] },
    healthz,
    readyz,
    ...parts,
    clusters: clustersOf(problems),
  });
  expect(await readyz.ask()).toEqual({
    ok: true,
    checks: { ping: undefined, informers: undefined },
    asides: { 'informers/north': undefined, 'informers/south': 'Error: silent' },
  });
  expect(await readyz.ask({ only: 'informers/south' })).toMatchObject({ ok: false, checks: {} });
  expect([await healthz.ask(), readyz.has('informers/south')]).toMatchObject([{ ok: true, asides: {} }, true]);
  delete problems.south;
  expect(Object.keys((await readyz.ask()).asides)).toEqual(['informers/north']);
  expect(readyz.has('informers/south')).toBe(false);
});

test('a replica that should have ended names what it reconciles', async () => {
  const [healthz, readyz] = [new HealthChecks(), new HealthChecks()];
  const controllers = { health: [], active: ['carts shop/a (90000 ms)', 'carts shop/b (90000 ms)'] };
  const check = () => {
    throw new Error('the lease ran out');
  };
  const parts = { elector: { check }, ring: { check }, clusters: clustersOf({}), cache: { health: [] } };
  addManagerChecks({ healthz, readyz, ...parts, controllers });
  const named = expect.stringMatching(
    /: the lease ran out; reconciles in flight: carts shop\/a \(90000 ms\), carts shop\/b/,
  );
  expect((await healthz.ask()).checks).toMatchObject({ 'leader-election': named, 'shard-ring': named });
  controllers.active = [];
  expect((await healthz.ask()).checks['leader-election']).toBe('Error: the lease ran out');
});
