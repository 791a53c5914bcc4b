import type { Scheduler, TimerOptions } from 'riata/runtime';
import { VirtualClock } from 'riata/runtime';

export interface SleepClockOptions {
  /** Time jumps to the end of each sleep. @default false: it stands until `advance` */
  readonly skips?: boolean;
}

/**
 * A virtual clock for clients on real sockets. It cannot see I/O in flight, so a test must not move time because
 * everything looks settled; but a sleep is a wait for time and for nothing else.
 */
export class SleepClock extends VirtualClock implements Scheduler {
  readonly #skips: boolean;
  #waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  /** How long each sleep was asked to be, in order. */
  readonly sleeps: number[] = [];

  constructor({ skips = false }: SleepClockOptions = {}) {
    super();
    this.#skips = skips;
  }

  override sleep(ms: number, options?: TimerOptions & { readonly signal?: AbortSignal }): Promise<void> {
    const slept = super.sleep(ms, options);
    this.sleeps.push(ms);
    this.#waiting = this.#waiting.filter(({ count, resolve }) => this.sleeps.length < count || resolve());
    if (this.#skips) void this.advance(ms);
    return slept;
  }

  /** Resolves when so many sleeps have begun. */
  async sleeping(count: number): Promise<void> {
    if (this.sleeps.length < count) await new Promise<void>((resolve) => this.#waiting.push({ count, resolve }));
  }
}
