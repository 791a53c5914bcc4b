import type { Scheduler, Timer } from '../runtime/clock.js';

/**
 * Measures for how long the event loop was blocked (by work that computes without pause, or as the whole process was
 * stopped): a pulse that comes late says by how much.
 */
export class LoopLag implements Disposable {
  readonly #clock: Scheduler;
  readonly #pulseMs: number;
  #timer: Timer | undefined;
  #due = 0;
  #longestMs = 0;

  constructor(clock: Scheduler, pulseMs: number) {
    this.#clock = clock;
    this.#pulseMs = pulseMs;
    this.#set();
  }

  /** The longest time that the loop was blocked since this was last asked; one that goes on until now counts. */
  take(): number {
    const longest = Math.max(this.#longestMs, this.#clock.monotonic() - this.#due, 0);
    this.#longestMs = 0;
    // What is told is not told again: the pulse that is overdue is replaced.
    if (this.#timer !== undefined && this.#clock.monotonic() > this.#due) this.#set();
    return longest;
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #set(): void {
    this.#timer?.cancel();
    this.#due = this.#clock.monotonic() + this.#pulseMs;
    this.#timer = this.#clock.after(this.#pulseMs, this.#pulse, { background: true });
  }

  readonly #pulse = (): void => {
    this.#longestMs = Math.max(this.#longestMs, this.#clock.monotonic() - this.#due);
    this.#set();
  };
}
