const shardCount = 64;

/**
 * A `Map` by id that never rehashes as a whole: a `Map` copies itself whenever it has doubled or shrunk, while sixty-four
 * smaller ones of different sizes do so one at a time. With a plain `Map`, a million delayed keys cost the same CPU, but the
 * longest turn of the event loop while they were released grew from 10 to 19 ms (`bench/micro/queue.mjs`, Node 26).
 */
export class ShardedMap<V> {
  readonly #shards: (Map<string, V> | undefined)[] = new Array(shardCount).fill(undefined);

  get(id: string): V | undefined {
    return this.#shards[shardOf(id)]?.get(id);
  }

  set(id: string, value: V): void {
    const shard = shardOf(id);
    const map = this.#shards[shard];
    if (map === undefined) this.#shards[shard] = new Map([[id, value]]);
    else map.set(id, value);
  }

  delete(id: string): void {
    this.#shards[shardOf(id)]?.delete(id);
  }

  clear(): void {
    this.#shards.fill(undefined);
  }
}

/** Hashes the end only: that is where names that belong together differ. */
function shardOf(id: string): number {
  let hash = id.length;
  for (let at = Math.max(0, id.length - 8); at < id.length; at += 1)
    hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  hash ^= hash >>> 15;
  // The smaller of two: lower shards get more, so that they don't all double at the same time.
  return Math.min(hash & (shardCount - 1), (hash >>> 6) & (shardCount - 1));
}
