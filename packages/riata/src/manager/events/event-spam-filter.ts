import { type RateLimiter, tokenBucketRateLimiter } from '../../rest/chain/rate-limiter.js';
import type { Scheduler } from '../../runtime/time/clock.js';
import type { EventNotice } from './event-notice.js';
import { LruMap } from './lru-map.js';

/**
 * How many events one component may report about one object, for each type, so that normal events silence no warnings.
 */
export interface SpamLimits {
  /** At once. @default 25 */
  readonly burst?: number;
  /** Per second, in the long run. @default 1/300, one every five minutes */
  readonly qps?: number;
}

/** Limits how many events a component reports about each object (`record.EventSourceObjectSpamFilter`). */
export class EventSpamFilter {
  readonly #clock: Scheduler;
  readonly #burst: number;
  readonly #qps: number;
  readonly #buckets: LruMap<RateLimiter>;

  constructor(clock: Scheduler, remembered: number, { burst = 25, qps = 1 / 300 }: SpamLimits = {}) {
    this.#clock = clock;
    this.#burst = burst;
    this.#qps = qps;
    this.#buckets = new LruMap(remembered);
  }

  /** True if this one is too many. */
  isSpam({ component, instance, regarding, type }: EventNotice): boolean {
    const { apiVersion, kind, namespace, name, uid } = regarding;
    const key = JSON.stringify([component, instance, apiVersion, kind, namespace, name, uid, type]);
    let bucket = this.#buckets.get(key);
    if (bucket === undefined) {
      bucket = tokenBucketRateLimiter(this.#qps, this.#burst, this.#clock);
      this.#buckets.set(key, bucket);
    }
    return !bucket.tryAccept();
  }
}
