import { allCaches, cacheId, type StateSource } from './collect-state.js';

const mostMeasured = 20;

/** The bytes of the objects in each cache as JSON, estimated by 20 of them; by the id of a `CacheState`. */
export async function estimateBytes(
  source: Pick<StateSource, 'cache' | 'clusters'>,
): Promise<ReadonlyMap<string, number>> {
  const bytes = new Map<string, number>();
  for (const { cluster, cache } of allCaches(source)) {
    for (const { kind, synced, informers } of cache.health) {
      if (!synced) continue;
      const { items } = await cache.list(kind, { limit: mostMeasured });
      const mean = items.reduce((sum, item) => sum + JSON.stringify(item).length, 0) / Math.max(1, items.length);
      for (const { name, objects } of informers) bytes.set(cacheId(cluster, name), Math.round(mean * objects));
    }
  }
  return bytes;
}
