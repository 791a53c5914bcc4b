import type { Request } from '../../controller/loop/request.js';
import { keyId } from '../../object/key.js';
import { LruMap } from '../events/lru-map.js';

/** Longer than a slot is nobody's, be it handed over or its replica dead; what was passed on before, another has done. */
const rememberedMs = 300_000;
const mostKeys = 10_000;

/**
 * Keys that were left to other replicas of late. When a slot comes here, what is in the cache is looked at anyway; but an
 * object that went while its slot was nobody's is in no cache any more, and all who heard of it left it to others.
 */
export class PassedKeys {
  readonly #keys = new LruMap<{ readonly key: Request; readonly atMs: number }>(mostKeys);

  add(key: Request, atMs: number): void {
    this.#keys.set(keyId(key), { key, atMs });
  }

  /** Those that are meant, and forgets them. */
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
