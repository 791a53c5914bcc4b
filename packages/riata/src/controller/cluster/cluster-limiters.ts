import { parseKeyId } from '../../object/key.js';
import {
  defaultControllerRateLimiter,
  type ItemRateLimiter,
  type RateLimiterContext,
} from '../../queue/item-rate-limiter.js';

type MakeLimiter = (context: RateLimiterContext) => ItemRateLimiter;

/**
 * A rate limiter for each cluster: a limit over all keys together, as the default has, would otherwise let the keys of
 * one failing cluster hold up those of all others.
 */
export class ClusterLimiters {
  readonly #make: MakeLimiter;
  readonly #limiters = new Map<string, ItemRateLimiter>();

  constructor(make: MakeLimiter = defaultControllerRateLimiter) {
    this.#make = make;
  }

  /** For a queue whose ids are those of `keyId`. */
  readonly make: MakeLimiter = (context) => {
    const of = (id: string) => {
      const { cluster = '' } = parseKeyId(id);
      const limiter = this.#limiters.get(cluster) ?? this.#make(context);
      this.#limiters.set(cluster, limiter);
      return limiter;
    };
    // At once, so that a failing factory is reported at once.
    this.#limiters.set('', this.#make(context));
    return {
      when: (id) => of(id).when(id),
      forget: (id) => this.#limiters.get(parseKeyId(id).cluster ?? '')?.forget(id),
      numRequeues: (id) => this.#limiters.get(parseKeyId(id).cluster ?? '')?.numRequeues(id) ?? 0,
    };
  };

  /** Forgets those of clusters that are not among these. */
  keep(clusters: readonly string[]): void {
    for (const cluster of this.#limiters.keys()) {
      if (cluster !== '' && !clusters.includes(cluster)) this.#limiters.delete(cluster);
    }
  }
}
