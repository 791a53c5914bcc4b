import type { Scheduler } from '../../runtime/time/clock.js';

/** How often something is done at most: `'20/s'`, `'100/m'`, `'5000/h'`. */
export type Pace = `${number}/${'s' | 'm' | 'h'}`;

const unitMs = { s: 1000, m: 60_000, h: 3_600_000 } as const;
const form = /^(\d+(?:\.\d+)?)\/(s|m|h)$/;

/** The time between two of them, in milliseconds. Throws a `TypeError` that names the option. */
export function paceMs(pace: Pace, what: string): number {
  const match = typeof pace === 'string' ? form.exec(pace) : null;
  const count = Number(match?.[1]);
  if (match === null || !(count > 0)) {
    throw new TypeError(`${what}: expected a number above 0 per s, m or h, as in "20/s", got ${JSON.stringify(pace)}`);
  }
  return unitMs[match[2] as keyof typeof unitMs] / count;
}

/** Makes callers wait so that they keep a pace. Time that nobody used is not made up for. */
export class Pacer {
  readonly #clock: Scheduler;
  readonly #intervalMs: number;
  #nextMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Scheduler, intervalMs: number) {
    this.#clock = clock;
    this.#intervalMs = intervalMs;
  }

  /** Resolves when it is time for the next. Rejects with the signal's reason. */
  async next(signal: AbortSignal): Promise<void> {
    const nowMs = this.#clock.monotonic();
    const waitMs = this.#nextMs - nowMs;
    // Timers have a grain of a millisecond: at a fast pace some are early and some late, on the whole they keep it.
    this.#nextMs = Math.max(this.#nextMs, nowMs) + this.#intervalMs;
    if (waitMs >= 1) await this.#clock.sleep(waitMs, { signal });
  }
}
