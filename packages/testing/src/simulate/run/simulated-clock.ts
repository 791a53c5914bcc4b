import type { Scheduler, Timer, TimerOptions } from 'riata/runtime';

/**
 * The time of one simulated process. Once the process is dead, none of its timers fire and none of its waits end: code
 * that runs on after a crash would do what no crashed process does.
 */
export class SimulatedClock implements Scheduler {
  readonly #clock: Scheduler;
  readonly #timers = new Set<Timer>();
  #isDead = false;

  constructor(clock: Scheduler) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  after(ms: number, fn: () => void, options?: TimerOptions): Timer {
    if (this.#isDead) return { cancel() {}, [Symbol.dispose]() {} };
    const timer = this.#clock.after(
      ms,
      () => {
        this.#timers.delete(kept);
        fn();
      },
      options,
    );
    const cancel = () => {
      this.#timers.delete(kept);
      timer.cancel();
    };
    const kept: Timer = { cancel, [Symbol.dispose]: cancel };
    this.#timers.add(kept);
    return kept;
  }

  async sleep(ms: number, options: TimerOptions & { readonly signal?: AbortSignal } = {}): Promise<void> {
    const { signal } = options;
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const onAbort = () => {
        timer.cancel();
        reject(signal?.reason);
      };
      const timer = this.after(
        ms,
        () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
        options,
      );
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  async yield(): Promise<void> {
    await this.#clock.yield();
    if (this.#isDead) await new Promise<never>(() => {});
  }

  kill(): void {
    this.#isDead = true;
    for (const timer of [...this.#timers]) timer.cancel();
  }
}
