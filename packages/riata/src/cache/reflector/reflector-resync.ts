import type { Logger } from '../../runtime/log/logger.js';
import type { Scheduler, Timer } from '../../runtime/time/clock.js';

/** What a {@link ReflectorResync} works with. */
export interface ReflectorResyncOptions {
  readonly clock: Scheduler;
  readonly log: Logger;
  /** 0: never. */
  readonly periodMs: number;
  readonly shouldResync: (() => boolean) | undefined;
  readonly resync: () => void;
}

/** Resyncs the store periodically, without a request to the server. */
export class ReflectorResync {
  readonly #options: ReflectorResyncOptions;
  #timer: Timer | undefined;

  constructor(options: ReflectorResyncOptions) {
    this.#options = options;
  }

  /** Counts from now on, unless it does so already. */
  start(): void {
    if (this.#timer === undefined && this.#options.periodMs > 0) this.#wait();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #wait(): void {
    const { clock, periodMs } = this.#options;
    this.#timer = clock.after(periodMs, () => this.#tick(), { background: true });
  }

  #tick(): void {
    const { shouldResync, resync, log } = this.#options;
    this.#wait();
    try {
      if (shouldResync === undefined || shouldResync()) resync();
    } catch (error) {
      log.error('resync failed', { error });
    }
  }
}
