import { optionNames, refuseUnknownOptions } from '../runtime/option-names.js';
import { type Random, systemRandom } from '../runtime/random.js';
import type { Clock } from '../runtime/time/clock.js';
import { systemClock } from '../runtime/time/system-clock.js';

/**
 * Says how long a key has to wait before it runs again (`workqueue.RateLimiter`, `TypedRateLimiter`). Keys are known by
 * their id. A limiter remembers what it was asked: it belongs to one queue.
 */
export interface ItemRateLimiter {
  /** Milliseconds until the key may run again; counts as one more failure of it (`When`). */
  when(id: string): number;
  /** Forgets the key: it succeeded, or will not be retried (`Forget`). */
  forget(id: string): void;
  /** How often `when` was called for the key since it was last forgotten (`NumRequeues`). */
  numRequeues(id: string): number;
}

/** What a queue passes to the function that creates its limiter. */
export interface RateLimiterContext {
  readonly clock: Clock;
  readonly random: Random;
}

/** Failures by key, for the limiters that count them. */
class Failures {
  readonly #counts = new Map<string, number>();

  /** Counts one more; returns how many there were before. */
  next(id: string): number {
    const count = this.#counts.get(id) ?? 0;
    this.#counts.set(id, count + 1);
    return count;
  }

  forget(id: string): void {
    this.#counts.delete(id);
  }

  of(id: string): number {
    return this.#counts.get(id) ?? 0;
  }
}

function requireSpan(who: string, what: string, ms: number): void {
  if (ms >= 0) return;
  throw new RangeError(`${who}: ${what} must be milliseconds ≥ 0, got ${ms}`);
}

/** How {@link itemExponentialFailureRateLimiter} grows. */
export interface ItemExponentialFailureOptions {
  /** The wait after the first failure; each further one doubles it. @default 5 */
  readonly baseMs?: number;
  /** The wait never grows past this. @default 1_000_000 */
  readonly maxMs?: number;
  /**
   * Up to this share is added by chance, past `maxMs` too, so that keys which failed together don't come back
   * together. @default 0
   */
  readonly jitter?: number;
  /** @default systemRandom */
  readonly random?: Random;
}

export const itemExponentialFailureOptionNames = optionNames<ItemExponentialFailureOptions>({
  baseMs: true,
  maxMs: true,
  jitter: true,
  random: true,
});

/** `baseMs` × 2ⁿ after n earlier failures of the key, `maxMs` at most (`ItemExponentialFailureRateLimiter`). */
export function itemExponentialFailureRateLimiter(options: ItemExponentialFailureOptions = {}): ItemRateLimiter {
  refuseUnknownOptions('itemExponentialFailureRateLimiter', options, itemExponentialFailureOptionNames);
  const { baseMs = 5, maxMs = 1_000_000, jitter = 0, random = systemRandom } = options;
  requireSpan('itemExponentialFailureRateLimiter', 'baseMs', baseMs);
  requireSpan('itemExponentialFailureRateLimiter', 'maxMs', maxMs);
  if (!(jitter >= 0)) {
    throw new RangeError(`itemExponentialFailureRateLimiter: jitter must be ≥ 0, got ${jitter}`);
  }
  const failures = new Failures();
  return {
    when: (id) => {
      // 2 ** 1024 is Infinity, which a base of 0 would turn into NaN.
      const ms = Math.min(baseMs * 2 ** Math.min(failures.next(id), 1000), maxMs);
      return jitter === 0 ? ms : random.jitter(ms, jitter);
    },
    forget: (id) => failures.forget(id),
    numRequeues: (id) => failures.of(id),
  };
}

/** When {@link itemFastSlowRateLimiter} gets slow. */
export interface ItemFastSlowOptions {
  /** The wait of the first `maxFastAttempts` failures. */
  readonly fastMs: number;
  /** The wait of all further ones. */
  readonly slowMs: number;
  readonly maxFastAttempts: number;
}

export const itemFastSlowOptionNames = optionNames<ItemFastSlowOptions>({
  fastMs: true,
  slowMs: true,
  maxFastAttempts: true,
});

/** A short wait for the first few failures of a key, a long one from then on (`ItemFastSlowRateLimiter`). */
export function itemFastSlowRateLimiter(options: ItemFastSlowOptions): ItemRateLimiter {
  refuseUnknownOptions('itemFastSlowRateLimiter', options, itemFastSlowOptionNames);
  const { fastMs, slowMs, maxFastAttempts } = options;
  requireSpan('itemFastSlowRateLimiter', 'fastMs', fastMs);
  requireSpan('itemFastSlowRateLimiter', 'slowMs', slowMs);
  if (!(maxFastAttempts >= 0)) {
    throw new RangeError(`itemFastSlowRateLimiter: maxFastAttempts must be ≥ 0, got ${maxFastAttempts}`);
  }
  const failures = new Failures();
  return {
    when: (id) => (failures.next(id) < maxFastAttempts ? fastMs : slowMs),
    forget: (id) => failures.forget(id),
    numRequeues: (id) => failures.of(id),
  };
}

/** The size of a {@link bucketRateLimiter}. */
export interface BucketOptions {
  /** Tokens that come in per second. @default 10 */
  readonly qps?: number;
  /** Tokens at the start, and the most there ever are. @default 100 */
  readonly burst?: number;
  /** @default systemClock */
  readonly clock?: Clock;
}

export const bucketOptionNames = optionNames<BucketOptions>({ qps: true, burst: true, clock: true });

/** Lets through `burst` keys at once and `qps` per second in the long run, whichever they are (`BucketRateLimiter`). */
export function bucketRateLimiter(options: BucketOptions = {}): ItemRateLimiter {
  refuseUnknownOptions('bucketRateLimiter', options, bucketOptionNames);
  const { qps = 10, burst = 100, clock = systemClock } = options;
  if (!(qps > 0)) throw new RangeError(`bucketRateLimiter: qps must be > 0, got ${qps}`);
  if (!(burst >= 1)) throw new RangeError(`bucketRateLimiter: burst must be ≥ 1, got ${burst}`);
  /** Below zero when some are promised. */
  let tokens = burst;
  let at = clock.monotonic();
  return {
    when: () => {
      const now = clock.monotonic();
      // Endless times nothing is no number.
      if (now > at) tokens = Math.min(burst, tokens + ((now - at) * qps) / 1000);
      tokens -= 1;
      at = now;
      return tokens >= 0 ? 0 : (-tokens * 1000) / qps;
    },
    forget: () => {},
    numRequeues: () => 0,
  };
}

/** Asks all of them; the longest wait counts, and so does the highest number of failures (`MaxOfRateLimiter`). */
export function maxOfRateLimiter(...limiters: readonly ItemRateLimiter[]): ItemRateLimiter {
  return {
    when: (id) => limiters.reduce((longest, limiter) => Math.max(longest, limiter.when(id)), 0),
    forget: (id) => {
      for (const limiter of limiters) limiter.forget(id);
    },
    numRequeues: (id) => limiters.reduce((most, limiter) => Math.max(most, limiter.numRequeues(id)), 0),
  };
}

/** The same limiter with waits of `maxMs` at most (`WithMaxWaitRateLimiter`). */
export function withMaxWaitRateLimiter(limiter: ItemRateLimiter, maxMs: number): ItemRateLimiter {
  requireSpan('withMaxWaitRateLimiter', 'maxMs', maxMs);
  return {
    when: (id) => Math.min(limiter.when(id), maxMs),
    forget: (id) => limiter.forget(id),
    numRequeues: (id) => limiter.numRequeues(id),
  };
}

/**
 * The limiter of every queue that is given no other (`DefaultControllerRateLimiter`): the key's own waits of 5 ms,
 * doubled with each failure up to 1000 s, and 10 per second with bursts of 100 over all keys.
 */
export function defaultControllerRateLimiter({ clock, random }: Partial<RateLimiterContext> = {}): ItemRateLimiter {
  return maxOfRateLimiter(itemExponentialFailureRateLimiter({ random }), bucketRateLimiter({ clock }));
}
