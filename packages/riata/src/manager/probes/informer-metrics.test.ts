import { expect, test } from 'vitest';
import type { Cache } from '../../cache/cache.js';
import { memoryMetrics } from '../../runtime/metrics.js';
import { informerMetrics } from './informer-metrics.js';

/** A cache with one informer of this name, and one handler. */
function cacheOf(informer: string, objects: number, handler = 'h'): Pick<Cache, 'health'> {
  const health = {
    name: informer,
    objects,
    synced: true,
    consecutiveFailures: 0,
    handlers: [{ name: handler, pending: 1 }],
  };
  return { health: [{ informers: [health] }] } as unknown as Pick<Cache, 'health'>;
}

test('informers of added clusters carry the name, and what is gone has no series any more', () => {
  const metrics = memoryMetrics();
  let [cache, isWell] = [cacheOf('pods', 1), true];
  const north = {
    name: 'north',
    cache: cacheOf('pods', 2),
    check: () => {
      if (!isWell) throw new Error('silent');
    },
  };
  let clusters = [north];
  const own = {
    get health() {
      return cache.health;
    },
  };
  const look = informerMetrics(metrics, { cache: own, clusters: () => clusters });
  look();
  const objects = (cluster: string, informer = 'pods') =>
    metrics.value('riata_informer_objects', { cluster, informer });
  const pending = (cluster: string, handler: string) =>
    metrics.value('riata_informer_handler_pending', { cluster, informer: 'pods', handler });
  const healthy = () => metrics.value('riata_cluster_healthy', { cluster: 'north' });
  expect([objects(''), objects('north'), pending('north', 'h'), healthy()]).toEqual([1, 2, 1, 1]);
  isWell = false;
  cache = cacheOf('pods', 3, 'another');
  look();
  expect([objects(''), healthy(), pending('', 'h'), pending('', 'another')]).toEqual([3, 0, undefined, 1]);
  clusters = [];
  look();
  expect([objects(''), objects('north'), pending('north', 'h'), healthy()]).toEqual([
    3,
    undefined,
    undefined,
    undefined,
  ]);
  clusters = [north];
  look();
  expect(objects('north')).toBe(2);
});
