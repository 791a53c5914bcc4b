const maxRetryAfter = 32;

interface Second {
  readonly at: number;
  readonly dropped: number;
}

/**
 * How many seconds clients should wait after a 429: more while many requests are dropped, less when few are
 * (`DroppedRequestsTracker`).
 */
export class RetryAfter {
  #seconds = 1;
  #raisedAt = 0;
  #now = 0;
  #dropped = 0;
  #history: Second[] = [];

  get seconds(): number {
    return this.#seconds;
  }

  /** Counts a dropped request. `now` is in whole seconds. */
  drop(now: number): void {
    if (now === this.#now) {
      this.#dropped += 1;
      return;
    }
    const oldest = this.#now - Math.min(2 * this.#seconds, maxRetryAfter);
    this.#history = [...this.#history, { at: this.#now, dropped: this.#dropped }].filter(({ at }) => at >= oldest);
    this.#now = now;
    this.#dropped = 1;
    this.#adjust(now);
  }

  /** Doubles under load, at most once within the time that it asks for, and falls second by second. */
  #adjust(now: number): void {
    let dropped = 0;
    for (const second of this.#history) if (now - second.at <= this.#seconds) dropped += second.dropped;
    if (now - this.#raisedAt >= this.#seconds && dropped >= 3 * this.#seconds) {
      this.#seconds = Math.min(2 * this.#seconds, maxRetryAfter);
      this.#raisedAt = now;
    } else if (dropped < this.#seconds && this.#seconds > 1) {
      this.#seconds -= 1;
    }
  }
}
