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
  #make: MakeLimiter;
  #context: RateLimiterContext | undefined;
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
    this.#context = context;
    // At once, so that a failing factory is reported at once.
    this.#limiters.set('', this.#make(context));
    return {
      when: (id) => of(id).when(id),
      forget: (id) => this.#limiters.get(parseKeyId(id).cluster ?? '')?.forget(id),
      numRequeues: (id) => this.#limiters.get(parseKeyId(id).cluster ?? '')?.numRequeues(id) ?? 0,
    };
  };

  /** Starts over with limiters of another kind, once the answer is called. Throws what the function throws. */
  replace(make: MakeLimiter = defaultControllerRateLimiter): () => void {
    const first = this.#context && make(this.#context);
    return () => {
      this.#make = make;
      this.#limiters.clear();
      if (first !== undefined) this.#limiters.set('', first);
    };
  }

  /** Forgets those of clusters that are not among these. */
  keep(clusters: readonly string[]): void {
    for (const cluster of this.#limiters.keys()) {
      if (cluster !== '' && !clusters.includes(cluster)) this.#limiters.delete(cluster);
    }
  }
}
