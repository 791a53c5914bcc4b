import process from 'node:process';
import type { Scheduler, Timer, TimerOptions } from './clock.js';
import { delayOf, sleepOn } from './sleep.js';

/** Node's timers hold 31 bits and run at once when given more. */
const longestDelayMs = 2 ** 31 - 1;

class SystemTimer implements Timer {
  readonly #deadline: number;
  readonly #fn: () => void;
  readonly #background: boolean;
  #handle: NodeJS.Timeout;

  constructor(ms: number, fn: () => void, background: boolean) {
    this.#deadline = performance.now() + ms;
    this.#fn = fn;
    this.#background = background;
    this.#handle = this.#set(ms);
  }

  cancel(): void {
    clearTimeout(this.#handle);
  }

  [Symbol.dispose](): void {
    this.cancel();
  }

  #set(ms: number): NodeJS.Timeout {
    const handle = ms > longestDelayMs ? setTimeout(this.#again, longestDelayMs) : setTimeout(this.#fn, ms);
    return this.#background ? handle.unref() : handle;
  }

  readonly #again = (): void => {
    this.#handle = this.#set(this.#deadline - performance.now());
  };
}

/**
 * The time of this machine. Delays of any length work (`Infinity` never comes); a function that throws is an uncaught
 * exception, as with `setTimeout`. Not frozen: it keeps the time slice of its event loop.
 */
export const systemClock: Scheduler = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  cpuMs: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  },
  after: (ms: number, fn: () => void, options?: TimerOptions) =>
    new SystemTimer(delayOf(ms), fn, options?.background ?? false),
  sleep: (ms: number, options?: TimerOptions & { readonly signal?: AbortSignal }) => sleepOn(systemClock, ms, options),
  yield: () => new Promise<void>((resolve) => setImmediate(resolve)),
};
