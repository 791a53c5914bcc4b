import type { Scheduler, Timer } from '../../runtime/time/clock.js';

/**
 * A moment that is moved far more often than it comes: one timer is left running and looks, when it fires, whether the
 * time has really come. Thousands of short requests would otherwise set and clear a timer or two each.
 */
export class LazyDeadline {
  readonly #scheduler: Scheduler;
  readonly #onDue: () => void;
  #dueMs = Number.POSITIVE_INFINITY;
  #silenceMs = 0;
  #timer: Timer | undefined;
  #firesMs = 0;

  constructor(scheduler: Scheduler, onDue: () => void) {
    this.#scheduler = scheduler;
    this.#onDue = onDue;
  }

  /** Calls back after `ms`, in place of what was set before; 0 or less, and `Infinity`, for never. */
  set(ms: number): void {
    if (ms <= 0 || ms === Number.POSITIVE_INFINITY) {
      this.#dueMs = Number.POSITIVE_INFINITY;
      return;
    }
    this.#dueMs = this.#scheduler.monotonic() + ms;
    if (this.#timer !== undefined && this.#firesMs <= this.#dueMs) return;
    this.#timer?.cancel();
    this.#wait(ms);
  }

  /** Limits silence from now on: calls back when so much time has passed without a {@link restart}; 0 for never. */
  limitSilence(ms: number): void {
    this.#silenceMs = ms;
    this.set(ms);
  }

  /** Counts silence from now: something came, or a pause is over. During a pause, `set(0)` suspends it. */
  restart(): void {
    this.set(this.#silenceMs);
  }

  /** Leaves nothing on the clock. */
  cancel(): void {
    this.#dueMs = Number.POSITIVE_INFINITY;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #wait(ms: number): void {
    this.#firesMs = this.#scheduler.monotonic() + ms;
    // Background: what is waited for keeps the process alive, the watch over it need not.
    this.#timer = this.#scheduler.after(ms, () => this.#look(), { background: true });
  }

  #look(): void {
    this.#timer = undefined;
    if (this.#dueMs === Number.POSITIVE_INFINITY) return;
    const remaining = this.#dueMs - this.#scheduler.monotonic();
    if (remaining > 0) {
      this.#wait(Math.max(1, Math.ceil(remaining)));
      return;
    }
    this.#dueMs = Number.POSITIVE_INFINITY;
    this.#onDue();
  }
}
