import type { Scheduler, Timer } from '../../runtime/time/clock.js';

/**
 * Notices silence. One timer per stream that looks, when it fires, at how long ago the last sign of life was: a busy
 * watch would otherwise set and clear a timer per event.
 */
export class IdleLimit {
  readonly #scheduler: Scheduler;
  readonly #limitMs: number;
  readonly #onIdle: () => void;
  #timer: Timer | undefined;
  #lastSeen = 0;

  /** `limitMs` 0 means no limit. */
  constructor(scheduler: Scheduler, limitMs: number, onIdle: () => void) {
    this.#scheduler = scheduler;
    this.#limitMs = limitMs;
    this.#onIdle = onIdle;
  }

  /** Counts from now. While stopped (the reader paused, so silence is our own doing) nothing is noticed. */
  start(): void {
    if (this.#limitMs <= 0) return;
    this.#lastSeen = this.#scheduler.monotonic();
    if (!this.#timer) this.#wait(this.#limitMs);
  }

  /** A sign of life. */
  touch(): void {
    if (this.#limitMs > 0) this.#lastSeen = this.#scheduler.monotonic();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #wait(ms: number): void {
    // Background: the socket keeps the process alive, the watch over it need not.
    this.#timer = this.#scheduler.after(ms, () => this.#look(), { background: true });
  }

  #look(): void {
    this.#timer = undefined;
    const remaining = this.#limitMs - (this.#scheduler.monotonic() - this.#lastSeen);
    if (remaining <= 0) this.#onIdle();
    else this.#wait(Math.max(1, Math.ceil(remaining)));
  }
}
