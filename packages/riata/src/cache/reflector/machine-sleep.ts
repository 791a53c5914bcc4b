import { keptIn } from '../../runtime/kept-in.js';
import type { Scheduler, Timer } from '../../runtime/time/clock.js';

const tickMs = 5_000;
/**
 * If this much more than a tick lies between two ticks, the machine slept, was frozen, or its clock was set forward.
 */
const leapMs = 10_000;

/** Where a clock has its watcher. */
const ownWatcher = Symbol('riata.machineSleep');

/**
 * Notices that the machine slept. Connections may have died meanwhile without a sign, and timers don't show it: where the
 * monotonic clock stands still in sleep, they continue as if no time had passed. All watchers on one clock share one timer;
 * without watchers there is no timer.
 */
export class MachineSleep {
  readonly #clock: Scheduler;
  readonly #listeners = new Set<() => void>();
  #timer: Timer | undefined;
  #wall = 0;
  #monotonic = 0;

  private constructor(clock: Scheduler) {
    this.#clock = clock;
  }

  static on(clock: Scheduler): MachineSleep {
    return keptIn(clock, ownWatcher, () => new MachineSleep(clock));
  }

  /** Calls `onWake` within five seconds after each sleep of more than ten, until the answer is disposed. */
  watch(onWake: () => void): Disposable {
    // Each gets a place of its own, whatever function it passes.
    const listener = () => onWake();
    this.#listeners.add(listener);
    if (this.#timer === undefined) this.#tick();
    return {
      [Symbol.dispose]: () => {
        this.#listeners.delete(listener);
        if (this.#listeners.size > 0) return;
        this.#timer?.cancel();
        this.#timer = undefined;
      },
    };
  }

  #tick(): void {
    this.#wall = this.#clock.now();
    this.#monotonic = this.#clock.monotonic();
    this.#timer = this.#clock.after(tickMs, () => this.#look(), { background: true });
  }

  #look(): void {
    const passedMs = Math.max(this.#clock.now() - this.#wall, this.#clock.monotonic() - this.#monotonic);
    this.#tick();
    if (passedMs - tickMs > leapMs) for (const listener of [...this.#listeners]) listener();
  }
}
