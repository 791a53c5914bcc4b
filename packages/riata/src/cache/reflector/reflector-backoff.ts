import type { Random } from '../../runtime/random.js';
import type { Clock } from '../../runtime/time/clock.js';

const firstMs = 800;
const longestMs = 30_000;
/** After this time without a failure, the next one starts with a short wait again. */
const resetMs = 120_000;
/** A server may request a longer delay, but not so long that its informers look dead. */
const longestAskedMs = 60_000;

/** The answer of a live server is followed by another request within this time. */
const promptMs = 1_000;

/**
 * Waits between tries: 0.8 s, doubled each time up to 30 s, and up to as much again by chance, so that many clients of a
 * server that comes back do not come back with it. Short again after two minutes without a failure.
 */
export class ReflectorBackoff {
  readonly #clock: Clock;
  readonly #random: Random;
  #baseMs = firstMs;
  #lastAt = Number.NEGATIVE_INFINITY;
  #promptAt = Number.NEGATIVE_INFINITY;
  #recoveredAt = Number.NEGATIVE_INFINITY;

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

  /**
   * After the answer of a live server that a list gets past, such as 410: a moment, drawn to spread informers to whom it
   * happens together. If it happens again within two minutes, the list did not help: as {@link next}.
   */
  prompt(askedMs = 0): number {
    const now = this.#clock.monotonic();
    const isFirst = now - this.#promptAt > resetMs;
    this.#promptAt = now;
    return isFirst && askedMs === 0 ? this.#random.next() * promptMs : this.next(askedMs);
  }

  /** The longest wait for a server that cannot be reached; others who find it again end it. Counts as no failure. */
  outage(): number {
    return this.#random.jitter(longestMs, 1);
  }

  /** The server answers again: the next wait is short. Once in two minutes, as it may stop answering over and over. */
  recovered(): void {
    const now = this.#clock.monotonic();
    if (now - this.#recoveredAt <= resetMs) return;
    this.#recoveredAt = now;
    this.#baseMs = firstMs;
  }
}
