import type { Request } from '../../controller/loop/request.js';
import { keyId } from '../../object/key.js';
import { LruMap } from '../events/lru-map.js';

/**
 * Longer than a slot has no owner, whether it is handed over or its replica died. Keys that were passed on earlier have
 * been handled by another replica.
 */
const rememberedMs = 300_000;
const mostKeys = 10_000;

/**
 * Keys that were recently left to other replicas. When this replica gains a slot, it enqueues what is in the cache. But
 * an object that was deleted while its slot had no owner is in no cache any more, and every replica that saw the
 * deletion left it to others.
 */
export class PassedKeys {
  readonly #keys = new LruMap<{ readonly key: Request; readonly atMs: number }>(mostKeys);

  add(key: Request, atMs: number): void {
    this.#keys.set(keyId(key), { key, atMs });
  }

  /** Returns the keys of these slots, and forgets them. */
  take(isMeant: (key: Request) => boolean, nowMs: number): Request[] {
    const taken: Request[] = [];
    for (const [id, { key, atMs }] of this.#keys.entries()) {
      const isOld = nowMs - atMs > rememberedMs;
      if (!isOld && !isMeant(key)) continue;
      this.#keys.delete(id);
      if (!isOld) taken.push(key);
    }
    return taken;
  }
}
