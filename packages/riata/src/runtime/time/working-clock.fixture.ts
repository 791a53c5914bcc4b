import type { Scheduler, Timer, TimerOptions } from './clock.js';
import { VirtualClock } from './virtual-clock.js';

/** A virtual clock on which synchronous work takes time: as long as {@link work} says. */
export class WorkingClock implements Scheduler {
  readonly base = new VirtualClock();
  /** Work between two turns of the event loop, for every awaited turn. */
  readonly turns: number[] = [];
  #workedMs = 0;
  #turnedAtMs = 0;

  work(ms: number): void {
    this.#workedMs += ms;
  }

  get longestTurnMs(): number {
    return Math.max(0, ...this.turns);
  }

  now(): number {
    return this.base.now();
  }

  monotonic(): number {
    return this.base.monotonic() + this.#workedMs;
  }

  after(ms: number, fn: () => void, options?: TimerOptions): Timer {
    return this.base.after(ms, fn, options);
  }

  sleep(ms: number, options?: TimerOptions & { readonly signal?: AbortSignal }): Promise<void> {
    return this.base.sleep(ms, options);
  }

  async yield(): Promise<void> {
    await this.base.yield();
    this.turns.push(this.#workedMs - this.#turnedAtMs);
    this.#turnedAtMs = this.#workedMs;
  }
}
