import { expect, test } from 'vitest';
import { clusterKey, keyId } from '../object/key.js';
import { memoryLogger } from '../runtime/memory-logger.js';
import { seededRandom } from '../runtime/random.js';
import { VirtualClock } from '../runtime/virtual-clock.js';
import { ActiveReconcile } from './active-reconcile.js';
import { RestlessKeys } from './restless-keys.js';

function setUp() {
  const clock = new VirtualClock();
  const log = memoryLogger();
  const restless = new RestlessKeys('carts', { clock, log });
  const write = { verb: 'patch', kind: 'Cart', namespace: 'shop', subresource: 'status', resourceVersion: '1' };
  /** A reconcile that has written the status. */
  const run = (name: string) => {
    const key = clusterKey({ namespace: 'shop', name });
    const reconcile = new ActiveReconcile({ key, priority: 0 } as never, 'carts', 1, {
      ...{ clock, log, random: seededRandom(1) },
    });
    reconcile.wrote({ ...write, name });
    restless.wrote(keyId(key), reconcile);
  };
  return { clock, log, run };
}

test('one key over and over: told with the key and what is written', async () => {
  const { clock, log, run } = setUp();
  for (let runs = 0; runs < 49; runs += 1) {
    run('a');
    run('b');
    await clock.advance(10);
  }
  expect(log.records).toEqual([]);
  run('a');
  const fields = { controller: 'carts', key: 'shop/a', runs: 50, inMs: 490, writes: ['patch Cart shop/a/status'] };
  expect(log.records).toMatchObject([{ level: 'warn', fields }]);
  // One is enough to know that something is wrong; again after a while.
  for (let runs = 0; runs < 200; runs += 1) run('b');
  expect(log.records).toHaveLength(1);
  await clock.advance(600_000);
  for (let runs = 0; runs < 50; runs += 1) run('b');
  expect(log.records).toMatchObject([{}, { fields: { key: 'shop/b' } }]);
});

test('much work is none: many keys, or one that changes a few times a second', async () => {
  const { clock, log, run } = setUp();
  for (let runs = 0; runs < 100; runs += 1) for (let key = 0; key < 100; key += 1) run(`k${key}`);
  for (let runs = 0; runs < 100; runs += 1) {
    run('a');
    await clock.advance(250);
  }
  expect(log.records).toEqual([]);
});
