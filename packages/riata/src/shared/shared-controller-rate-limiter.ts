import {
  type ItemRateLimiter,
  itemExponentialFailureRateLimiter,
  itemFastSlowRateLimiter,
  maxOfRateLimiter,
  type RateLimiterContext,
} from '../queue/item-rate-limiter.js';
import { keptIn } from '../runtime/kept-in.js';

/** Makes the rate limiter of one controller's queue; called once for each controller. */
export type MakeRateLimiter = (context: RateLimiterContext) => ItemRateLimiter;

/** The backoff of lasso's controllers: 5 ms, doubling up to 30 s; 2 minutes from the 31st failure on. */
export function sharedControllerRateLimiter({ random }: Partial<RateLimiterContext> = {}): ItemRateLimiter {
  return maxOfRateLimiter(
    itemFastSlowRateLimiter({ fastMs: 1, slowMs: 120_000, maxFastAttempts: 30 }),
    itemExponentialFailureRateLimiter({ baseMs: 5, maxMs: 30_000, random }),
  );
}

/** Where a limiter has its controller. */
const usedBy = Symbol('riata.usedBy');

/** Wraps `make` to refuse a limiter that another controller uses: each would count the other's failures. */
export function ownLimiter(make: MakeRateLimiter, controller: string): MakeRateLimiter {
  return (context) => {
    const limiter = make(context);
    const own = { controller };
    const owner = keptIn(limiter, usedBy, () => own);
    if (owner !== own) {
      throw new TypeError(
        `controller "${controller}": rateLimiter returned the limiter of "${owner.controller}"; ` +
          'return a new one on each call',
      );
    }
    return limiter;
  };
}
