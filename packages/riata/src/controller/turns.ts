import type { Scheduler } from '../runtime/clock.js';

/** So long workers may go on without a pause: then leases, probes and watches have their turn. */
const turnMs = 10;

/**
 * Has workers pause now and then. Reconciles that find nothing to do never wait for anything, so that a hundred thousand of
 * them in a row, as after a start, would be one turn of the event loop.
 */
export class Turns {
  readonly #clock: Scheduler;
  #beganMs: number;
  #pause: Promise<void> | undefined;

  constructor(clock: Scheduler) {
    this.#clock = clock;
    this.#beganMs = clock.monotonic();
  }

  /** Of a worker that has waited for something to do: others had their turn meanwhile. */
  begin(): void {
    this.#beganMs = this.#clock.monotonic();
  }

  /** What to wait for before going on; undefined while the turn lasts. All workers wait for the same. */
  pause(): Promise<void> | undefined {
    if (this.#pause !== undefined || this.#clock.monotonic() - this.#beganMs < turnMs) return this.#pause;
    this.#pause = this.#clock.yield().then(() => {
      this.#pause = undefined;
      this.begin();
    });
    return this.#pause;
  }
}
