import {
  type ItemRateLimiter,
  itemExponentialFailureRateLimiter,
  itemFastSlowRateLimiter,
  maxOfRateLimiter,
  type RateLimiterContext,
} from '../queue/item-rate-limiter.js';

/** Makes the limiter of one controller's queue; called once for each, so that no two share what it remembers. */
export type MakeRateLimiter = (context: RateLimiterContext) => ItemRateLimiter;

/** 5 ms, doubled with each failure of the key up to 30 s; 2 minutes from the 31st on. What lasso's controllers wait. */
export function sharedControllerRateLimiter({ random }: Partial<RateLimiterContext> = {}): ItemRateLimiter {
  return maxOfRateLimiter(
    itemFastSlowRateLimiter({ fastMs: 1, slowMs: 120_000, maxFastAttempts: 30 }),
    itemExponentialFailureRateLimiter({ baseMs: 5, maxMs: 30_000, random }),
  );
}

const inUse = new WeakMap<ItemRateLimiter, string>();

/** The same function, which refuses to give one limiter to two controllers: each would count the other's failures. */
export function ownLimiter(make: MakeRateLimiter, controller: string): MakeRateLimiter {
  return (context) => {
    const limiter = make(context);
    const owner = inUse.get(limiter);
    if (owner !== undefined) {
      throw new TypeError(
        `controller "${controller}": rateLimiter returned the limiter of "${owner}"; ` +
          'return a new one on each call',
      );
    }
    inUse.set(limiter, controller);
    return limiter;
  };
}
