import { describe, expect, test } from 'vitest';
import { clusterKey, keyId } from '../../object/key.js';
import { memoryLogger } from '../../runtime/log/memory-logger.js';
import { seededRandom } from '../../runtime/random.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { ActiveReconcile } from './active-reconcile.js';
import type { Cause } from './request.js';
import { SelfWakeBackoff } from './self-wake-backoff.js';

function setUp(options?: { readonly isSlowing: boolean }) {
  const clock = new VirtualClock();
  const log = memoryLogger();
  const backoff = new SelfWakeBackoff('carts', { clock, log }, options);
  let version = 0;
  /** A change of the Cart, as it is now unless said otherwise. */
  const changed = (name: string, cause: Partial<Cause> = {}): Cause => ({
    ...{ source: 'for Cart', change: 'Updated', object: `Cart shop/${name}`, resourceVersion: `${version}` },
    ...{ count: 1, atMs: clock.monotonic() },
    ...cause,
  });
  /** A reconcile for these causes that writes so often. */
  const run = (name: string, reasons: readonly Cause[], writes = 1) => {
    const key = clusterKey({ namespace: 'shop', name });
    const runtime = { clock, log, random: seededRandom(1) };
    const reconcile = new ActiveReconcile({ key, priority: 0, note: reasons } as never, 'carts', 1, runtime);
    for (let left = writes; left > 0; left -= 1) {
      version += 1;
      const write = { verb: 'patch', kind: 'Cart', namespace: 'shop', subresource: 'status' };
      reconcile.wrote({ ...write, name, resourceVersion: `${version}` });
    }
    backoff.succeeded(keyId(key), reconcile);
  };
  const waitMs = (name: string, ...causes: readonly Cause[]) => backoff.waitMs(`shop/${name}`, causes);
  /** Wakes itself up so often, waiting as long as it has to. */
  const loop = async (name: string, runs: number) => {
    for (let left = runs; left > 0; left -= 1) {
      await clock.advance(waitMs(name, changed(name)));
      run(name, [changed(name)]);
    }
  };
  /** The version after a write of another client. */
  const foreign = () => {
    version += 1;
    return `${version}`;
  };
  return { clock, log, run, waitMs, changed, loop, foreign };
}

test('a key that wakes itself up waits longer each time, up to a minute, and is named', async () => {
  const { clock, log, run, waitMs, changed, loop } = setUp();
  run('a', [changed('a', { change: 'Added' })]);
  await loop('a', 19);
  expect(waitMs('a', changed('a'))).toBe(0);
  expect(log.records).toEqual([]);
  await loop('a', 1);
  expect(waitMs('a', changed('a'))).toBe(100);
  const fields = { controller: 'carts', key: 'shop/a', runs: 20, nextInMs: 100, writes: ['patch Cart shop/a/status'] };
  expect(log.records).toMatchObject([{ level: 'warn', fields }]);
  await loop('a', 1);
  expect(waitMs('a', changed('a'))).toBe(200);
  await loop('a', 20);
  expect(waitMs('a', changed('a'))).toBe(60_000);
  await clock.advance(20_000);
  expect(waitMs('a', changed('a'))).toBe(40_000);
  // Once is enough to know that something is wrong; again after a while.
  await loop('a', 100);
  const minutes = clock.monotonic() / 60_000;
  expect(log.records.length).toBeGreaterThan(2);
  expect(log.records.length).toBeLessThanOrEqual(1 + minutes / 10);
});

describe('does not wait', () => {
  test.each<[string, (is: ReturnType<typeof setUp>) => readonly Cause[]]>([
    ['for a change of somebody else', ({ changed, foreign }) => [changed('a', { resourceVersion: foreign() })]],
    ['for one that came before the own write', ({ changed }) => [changed('a', { count: 2 })]],
    [
      'for one of another object beside it',
      ({ changed, foreign }) => [changed('a'), changed('b', { source: 'owns Item', resourceVersion: foreign() })],
    ],
    ['for a time that has come', ({ changed }) => [changed('a'), { source: 'requeueAfter', count: 1, atMs: 0 }]],
    ['for a resync', ({ changed }) => [changed('a', { change: 'Sync' })]],
    ['for no reason known', () => []],
    [
      'for so many that some are not known',
      ({ changed }) => Array.from({ length: 16 }, (_, at) => changed('a', { source: `owns ${at}` })),
    ],
  ])('%s', async (_, causes) => {
    const is = setUp();
    is.run('a', []);
    await is.loop('a', 30);
    expect(is.waitMs('a', is.changed('a'))).toBeGreaterThan(1_000);
    expect(is.waitMs('a', ...causes(is))).toBe(0);
  });

  test('for more changes than it makes itself: one may be of another writer, after which its own write was a no-op', async () => {
    const { run, loop, waitMs, changed } = setUp();
    run('a', []);
    await loop('a', 30);
    run('a', [changed('a')], 2);
    expect(waitMs('a', changed('a', { count: 2 }))).toBe(0);
  });

  test('after a reconcile that wrote nothing, or that another writer caused', async () => {
    const { run, loop, waitMs, changed, foreign } = setUp();
    run('a', []);
    await loop('a', 30);
    run('a', [changed('a', { resourceVersion: foreign() })]);
    expect(waitMs('a', changed('a'))).toBe(0);
    await loop('a', 30);
    expect(waitMs('a', changed('a'))).toBeGreaterThan(0);
    run('a', [changed('a')], 0);
    run('a', []);
    expect(waitMs('a', changed('a'))).toBe(0);
  });

  test('much work: many keys a few times each', () => {
    const { log, run, waitMs, changed } = setUp();
    for (let runs = 0; runs < 15; runs += 1) {
      for (let key = 0; key < 100; key += 1) {
        run(`k${key}`, [changed(`k${key}`)]);
        expect(waitMs(`k${key}`, changed(`k${key}`))).toBe(0);
      }
    }
    expect(log.records).toEqual([]);
  });

  test('where that is switched off: it is only named', async () => {
    const { log, run, loop, waitMs, changed } = setUp({ isSlowing: false });
    run('a', []);
    await loop('a', 30);
    expect(waitMs('a', changed('a'))).toBe(0);
    expect(log.records).toHaveLength(1);
    expect(log.records[0]?.fields).not.toHaveProperty('nextInMs');
  });
});
