import type { Scheduler, Timer } from '../../runtime/time/clock.js';

/**
 * Measures for how long the event loop was blocked (by work that computes without pause, or as the whole process was
 * stopped): a pulse that comes late says by how much, and the CPU time used meanwhile which of the two it was.
 */
export class LoopLag implements Disposable {
  readonly #clock: Scheduler;
  readonly #pulseMs: number;
  #timer: Timer | undefined;
  #due = 0;
  #longestMs = 0;
  /** When the pulse was set. */
  #cpuMs: number | undefined;
  /** Used during the longest block, and during the one that was taken. */
  #usedMs: number | undefined;
  #tookMs: { readonly cpuMs: number | undefined; readonly allMs: number } = { cpuMs: undefined, allMs: 0 };

  constructor(clock: Scheduler, pulseMs: number) {
    this.#clock = clock;
    this.#pulseMs = pulseMs;
    this.#set();
  }

  /** The longest time that the loop was blocked since this was last asked; one that lasts until now counts. */
  take(): number {
    this.#look();
    const longest = this.#longestMs;
    this.#tookMs = { cpuMs: this.#usedMs, allMs: longest + this.#pulseMs };
    this.#longestMs = 0;
    this.#usedMs = undefined;
    // A block is reported only once: the overdue pulse is replaced.
    if (this.#timer !== undefined && this.#clock.monotonic() > this.#due) this.#set();
    return longest;
  }

  /**
   * CPU time that the process used during the last block; undefined if there was none, or the clock can't measure it.
   */
  get tookCpuMs(): number | undefined {
    return this.#tookMs.cpuMs;
  }

  /** Whether it has hardly used any: it did not compute, but was stopped, or was not given the CPU. */
  get tookIdle(): boolean {
    const { cpuMs = Number.POSITIVE_INFINITY, allMs } = this.#tookMs;
    return cpuMs < allMs / 10;
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #set(): void {
    this.#timer?.cancel();
    this.#due = this.#clock.monotonic() + this.#pulseMs;
    this.#cpuMs = this.#clock.cpuMs?.();
    this.#timer = this.#clock.after(this.#pulseMs, this.#pulse, { background: true });
  }

  readonly #pulse = (): void => {
    this.#look();
    this.#set();
  };

  #look(): void {
    const lateMs = this.#clock.monotonic() - this.#due;
    if (lateMs <= this.#longestMs) return;
    this.#longestMs = lateMs;
    const cpuMs = this.#clock.cpuMs?.();
    this.#usedMs = cpuMs === undefined || this.#cpuMs === undefined ? undefined : cpuMs - this.#cpuMs;
  }
}
