import type { Scheduler } from '../../runtime/time/clock.js';

/** Decides when the next request may be sent (`flowcontrol.RateLimiter`). Waiters are served in order. */
export interface RateLimiter {
  /** Takes a token if there is one now. */
  tryAccept(): boolean;
  /** Resolves when a token was taken for the caller. */
  accept(): Promise<void>;
  /** Like {@link accept}; rejects with the signal's reason when that aborts first, and the token goes back. */
  wait(options?: { readonly signal?: AbortSignal }): Promise<void>;
  /** Average number of requests per second. */
  qps(): number;
  /** Frees what the limiter holds; waiters may be let go. */
  stop(): void;
}

/**
 * A token bucket (`flowcontrol.NewTokenBucketRateLimiter`): `burst` tokens at once, refilled with `qps` per second.
 * Throws a `RangeError` on a rate or burst that would let nothing through.
 */
export function tokenBucketRateLimiter(qps: number, burst: number, clock: Scheduler): RateLimiter {
  if (!(qps > 0)) throw new RangeError(`rate limiter: qps must be a number > 0, got ${qps}; omit it for no limit`);
  if (!Number.isInteger(burst) || burst < 1) {
    throw new RangeError(`rate limiter: burst must be an integer ≥ 1, got ${burst}`);
  }
  return new TokenBucket(qps, burst, clock);
}

class TokenBucket implements RateLimiter {
  readonly #qps: number;
  readonly #burst: number;
  readonly #clock: Scheduler;
  /** Tokens at `#at`; below zero when some are promised to waiters. Never above `#burst`. */
  #tokens: number;
  #at: number;

  constructor(qps: number, burst: number, clock: Scheduler) {
    this.#qps = qps;
    this.#burst = burst;
    this.#clock = clock;
    this.#tokens = burst;
    this.#at = clock.monotonic();
  }

  #refill(): void {
    const now = this.#clock.monotonic();
    this.#tokens = Math.min(this.#burst, this.#tokens + ((now - this.#at) * this.#qps) / 1000);
    this.#at = now;
  }

  tryAccept(): boolean {
    this.#refill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  accept(): Promise<void> {
    return this.wait();
  }

  async wait({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    signal?.throwIfAborted();
    this.#refill();
    this.#tokens -= 1;
    if (this.#tokens >= 0) return;
    try {
      await this.#clock.sleep((-this.#tokens * 1000) / this.#qps, { signal });
    } catch (error) {
      this.#refill();
      this.#tokens = Math.min(this.#burst, this.#tokens + 1);
      throw error;
    }
  }

  qps(): number {
    return this.#qps;
  }

  stop(): void {}
}

/** Lets everything through at once (`flowcontrol.NewFakeAlwaysRateLimiter`). For tests, and to lift a client's limit. */
export const alwaysRateLimiter: RateLimiter = Object.freeze({
  tryAccept: () => true,
  accept: async () => {},
  wait: async () => {},
  qps: () => 1,
  stop: () => {},
});

/**
 * Lets nothing through (`flowcontrol.NewFakeNeverRateLimiter`): `tryAccept` is false, `wait` rejects, `accept` stays
 * pending until `stop`. For tests.
 */
export function neverRateLimiter(): RateLimiter {
  let stop = () => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  return {
    tryAccept: () => false,
    accept: () => stopped,
    wait: async () => {
      throw new Error('rate limiter: neverRateLimiter() refuses every request');
    },
    qps: () => 1,
    stop,
  };
}
