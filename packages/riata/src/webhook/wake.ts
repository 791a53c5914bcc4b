import { onAbort } from '../runtime/signals.js';
import type { Scheduler } from '../runtime/time/clock.js';

/** Lets a loop wait until it is called, or until a time: calls that come while it works are not lost. */
export class Wake {
  readonly #clock: Scheduler;
  #isCalled = false;
  #resume: (() => void) | undefined;

  constructor(clock: Scheduler) {
    this.#clock = clock;
  }

  call(): void {
    this.#isCalled = true;
    this.#resume?.();
  }

  /** Resolves at the first call since the last wait, after `ms` milliseconds, or when the signal aborts. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#isCalled && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const timer = Number.isFinite(ms) ? this.#clock.after(ms, () => resume(), { background: true }) : undefined;
        const aborted = onAbort(signal, () => resume());
        const resume = () => {
          timer?.cancel();
          aborted[Symbol.dispose]();
          this.#resume = undefined;
          resolve();
        };
        this.#resume = resume;
      });
    }
    this.#isCalled = false;
  }
}
