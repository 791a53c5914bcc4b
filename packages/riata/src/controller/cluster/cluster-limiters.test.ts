import { expect, test } from 'vitest';
import { bucketRateLimiter } from '../../queue/item-rate-limiter.js';
import { seededRandom } from '../../runtime/random.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { ClusterLimiters } from './cluster-limiters.js';

test('each cluster has its own, until it goes', () => {
  let made = 0;
  const limiters = new ClusterLimiters(({ clock }) => {
    made += 1;
    return bucketRateLimiter({ clock, qps: 1, burst: 1 });
  });
  const limiter = limiters.make({ clock: new VirtualClock(), random: seededRandom(1) });
  const waits = (...ids: readonly string[]) => ids.map((id) => limiter.when(id));
  expect(waits('a', 'n/b', 'north//a', 'north//n/b', 'south//a')).toEqual([0, 1_000, 0, 1_000, 0]);
  limiters.keep(['', 'south']);
  expect(waits('north//a', 'south//a', 'a')).toEqual([0, 1_000, 2_000]);
  limiter.forget('east//a');
  expect([limiter.numRequeues('east//a'), made]).toEqual([0, 4]);
});
