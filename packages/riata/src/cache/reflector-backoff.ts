import type { Clock } from '../runtime/clock.js';
import type { Random } from '../runtime/random.js';

const firstMs = 800;
const longestMs = 30_000;
/** So long without a failure, and the next one starts with a short wait again. */
const resetMs = 120_000;
/** A server may ask for more patience, but not for so much that its informers look dead. */
const longestAskedMs = 60_000;

/**
 * Waits between tries: 0.8 s, doubled each time up to 30 s, and up to as much again by chance, so that many clients of a
 * server that comes back do not come back with it. Short again after two minutes without a failure.
 */
export class ReflectorBackoff {
  readonly #clock: Clock;
  readonly #random: Random;
  #baseMs = firstMs;
  #lastAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** How long to wait now, at least `askedMs`, of which a minute counts. */
  next(askedMs = 0): number {
    const now = this.#clock.monotonic();
    if (now - this.#lastAt > resetMs) this.#baseMs = firstMs;
    this.#lastAt = now;
    const waitMs = this.#random.jitter(this.#baseMs, 1);
    this.#baseMs = Math.min(this.#baseMs * 2, longestMs);
    return Math.max(waitMs, Math.min(askedMs, longestAskedMs));
  }
}
