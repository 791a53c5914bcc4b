import { Heap, type Slotted } from '../heap.js';
import { optionNames, refuseUnknownOptions } from '../option-names.js';
import type { Scheduler, Timer, TimerOptions } from './clock.js';
import { delayOf, sleepOn } from './sleep.js';

/** How a {@link VirtualClock} starts, and when it gives up. */
export interface VirtualClockOptions {
  /** Wall time at the start, in milliseconds since the epoch. @default 2026-01-01T00:00:00Z */
  readonly start?: number;
  /**
   * Timers and yields that may run without time moving before it counts as an endless loop; also the timers that one
   * `runAll` may run. @default 100_000
   */
  readonly limit?: number;
  /** Turns of the event loop in which nothing may happen before all counts as settled. @default 5 */
  readonly quietTurns?: number;
  /** Real milliseconds that `settle` waits for work under {@link VirtualClock.track}: for what hangs. @default 60_000 */
  readonly busyLimitMs?: number;
}

export const virtualClockOptionNames = optionNames<VirtualClockOptions>({
  start: true,
  limit: true,
  quietTurns: true,
  busyLimitMs: true,
});

/** A pending call; in the heap until it runs or is cancelled. */
interface Entry extends Slotted {
  readonly deadline: number;
  readonly order: number;
  readonly background: boolean;
  /** Due at the moment it was made, so it alone could keep time from ever moving. */
  readonly instant: boolean;
  readonly fn: () => void;
}

/** The engine's own: test frameworks that fake timers put theirs in its place, and these never run by themselves. */
const { setImmediate: soon } = globalThis;
const turn = (): Promise<void> => new Promise((resolve) => soon(resolve));

/**
 * Time under the control of a test: it stands still until {@link advance} moves it. The same calls give the same order
 * on every run, provided that everything waits through this clock, promises and the event loop; work that leaves the
 * process in between (sockets, files, thread pool) must be announced with {@link track}.
 *
 * @example
 * const clock = new VirtualClock();
 * const done = clock.sleep(30_000);
 * await clock.advance(30_000);
 * await done;
 */
export class VirtualClock implements Scheduler {
  readonly #limit: number;
  readonly #quietTurns: number;
  readonly #busyLimitMs: number;
  readonly #timers = new Heap<Entry>(
    (a, b) => a.deadline < b.deadline || (a.deadline === b.deadline && a.order < b.order),
  );
  /** Work in flight, as announced with `track`; nothing counts as settled while this is not empty. */
  readonly #busy = new Set<{ readonly what: string }>();
  #wallOffset: number;
  #monotonic = 0;
  #order = 0;
  #foreground = 0;
  /** Grows with everything that shows that something is still going on. */
  #activity = 0;
  /** Instant timers and yields since time last moved. */
  #steps = 0;
  /** The end of the line of drivers: `advance`, `settle` and the like run one after the other. */
  #tail: Promise<void> = Promise.resolve();

  constructor(options: VirtualClockOptions = {}) {
    refuseUnknownOptions('VirtualClock', options, virtualClockOptionNames);
    this.#wallOffset = options.start ?? Date.UTC(2026, 0, 1);
    this.#limit = options.limit ?? 100_000;
    this.#quietTurns = options.quietTurns ?? 5;
    if (!(this.#quietTurns >= 1)) {
      throw new RangeError(`VirtualClock: quietTurns must be ≥ 1, got ${this.#quietTurns}`);
    }
    this.#busyLimitMs = options.busyLimitMs ?? 60_000;
  }

  now(): number {
    return this.#wallOffset + this.#monotonic;
  }

  /** Milliseconds that this clock was advanced by so far. */
  monotonic(): number {
    return this.#monotonic;
  }

  /** Runs `fn` within a later `advance` or `settle`, and at no other time. */
  after(ms: number, fn: () => void, options?: TimerOptions): Timer {
    const deadline = this.#monotonic + delayOf(ms);
    const background = options?.background ?? false;
    const instant = deadline <= this.#monotonic;
    const entry: Entry = { deadline, order: this.#order++, background, instant, fn, slot: -1 };
    this.#timers.push(entry);
    if (!background) this.#foreground += 1;
    this.#activity += 1;
    const cancel = () => {
      if (entry.slot >= 0) this.#take(entry);
    };
    return { cancel, [Symbol.dispose]: cancel };
  }

  sleep(ms: number, options?: TimerOptions & { readonly signal?: AbortSignal }): Promise<void> {
    return sleepOn(this, ms, options);
  }

  async yield(): Promise<void> {
    this.#activity += 1;
    this.#steps += 1;
    await turn();
    this.#activity += 1;
  }

  /** Timers that have neither run nor been cancelled, background ones included. */
  get pending(): number {
    return this.#timers.size;
  }

  /** When the next timer is due, on the monotonic clock. */
  get nextDeadline(): number | undefined {
    return this.#timers.peek()?.deadline;
  }

  /**
   * Moves time by `ms`. Timers run by deadline, equal ones in the order they were made; the clock stands at a timer's
   * deadline while it runs, and everything that follows from it (promise chains, yields, new timers that fall into
   * the window) is done before the next one. Without an `await` nothing has moved yet when the call returns; calls
   * made meanwhile wait in line.
   *
   * Rejects with what a timer throws: time then stands at that timer, the others keep waiting, and the next call goes
   * on from there.
   */
  advance(ms: number): Promise<void> {
    if (!(ms >= 0 && ms < Number.POSITIVE_INFINITY)) {
      return Promise.reject(
        new RangeError(`VirtualClock.advance: the time must be finite milliseconds ≥ 0, got ${ms}`),
      );
    }
    return this.#inLine(async () => {
      const target = this.#monotonic + ms;
      await this.#drain();
      for (let next = this.#timers.peek(); next !== undefined && next.deadline <= target; next = this.#timers.peek()) {
        this.#moveTo(next.deadline);
        await this.#drain(true);
      }
      this.#moveTo(target);
    });
  }

  /** Moves to the next deadline and runs everything that is due then. Resolves to false when no timer is waiting. */
  advanceToNext(): Promise<boolean> {
    return this.#inLine(() => this.#toNext());
  }

  /**
   * Moves from deadline to deadline until only background timers are left. Rejects when that takes more timers than
   * the `limit`, as with a timer that always sets itself again.
   */
  runAll(): Promise<void> {
    return this.#inLine(async () => {
      await this.#drain();
      for (let moves = 0; this.#foreground > 0; moves += 1) {
        if (moves >= this.#limit) {
          throw new Error(
            `VirtualClock.runAll: ${moves} deadlines passed and ${this.#timers.size} timers are waiting still; ` +
              'something sets its timer again and again: use advance(ms), or make it a background timer',
          );
        }
        if (!(await this.#toNext())) return;
      }
    });
  }

  /**
   * Resolves when nothing is left to run without time moving: no promise chain, yield, timer already due or tracked
   * work continues. Rejects with what a due timer throws.
   */
  settle(): Promise<void> {
    return this.#inLine(() => this.#drain());
  }

  /**
   * Announces work in flight that this clock cannot see, such as bytes between two ends of an in-process transport:
   * until the result is disposed, nothing counts as settled. Never hold it while waiting for a timer of this clock, as
   * no timer would run.
   */
  track(what = 'work'): Disposable {
    const work = { what };
    this.#busy.add(work);
    this.#activity += 1;
    return {
      [Symbol.dispose]: () => {
        if (this.#busy.delete(work)) this.#activity += 1;
      },
    };
  }

  /** Sets the wall clock, forth or back, as an administrator or NTP would; timers and `monotonic()` do not notice. */
  setWall(ms: number): void {
    this.#wallOffset = ms - this.#monotonic;
  }

  #inLine<T>(drive: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(() => {
      this.#steps = 0;
      return drive();
    });
    this.#tail = result.then(
      () => {},
      () => {},
    );
    return result;
  }

  #moveTo(ms: number): void {
    if (ms <= this.#monotonic) return;
    this.#monotonic = ms;
    this.#steps = 0;
  }

  async #toNext(): Promise<boolean> {
    await this.#drain();
    const next = this.#timers.peek();
    if (next === undefined || next.deadline === Number.POSITIVE_INFINITY) return false;
    this.#moveTo(next.deadline);
    await this.#drain(true);
    return true;
  }

  /** Ends the wait of a pending entry. */
  #take(entry: Entry): void {
    this.#timers.remove(entry);
    if (!entry.background) this.#foreground -= 1;
    this.#activity += 1;
  }

  /** `isQuiet`: it was so a moment ago, and that time moved has changed nothing. */
  async #drain(isQuiet = false): Promise<void> {
    for (let skip = isQuiet; ; skip = false) {
      if (!skip) await this.#quiet();
      const entry = this.#timers.peek();
      if (entry === undefined || entry.deadline > this.#monotonic) return;
      if (entry.instant) this.#steps += 1;
      this.#take(entry);
      entry.fn();
    }
  }

  /** Turns the event loop until nothing has happened for a few turns: work in promises is done after one. */
  async #quiet(): Promise<void> {
    let seen = this.#activity;
    let busySince: number | undefined;
    for (let quiet = 0; quiet < this.#quietTurns; ) {
      await turn();
      if (this.#steps > this.#limit) {
        throw new Error(
          `VirtualClock: ${this.#limit} timers without delay or yields ran at ${this.#monotonic} ms and more keep ` +
            'coming; time can never move on: look for a loop that waits with a delay of 0 or with yield()',
        );
      }
      if (this.#busy.size > 0) {
        busySince ??= performance.now();
        this.#refuseEndlessWork(busySince);
        quiet = 0;
      } else {
        busySince = undefined;
        quiet = seen === this.#activity ? quiet + 1 : 0;
      }
      seen = this.#activity;
    }
  }

  #refuseEndlessWork(since: number): void {
    if (performance.now() - since <= this.#busyLimitMs) return;
    const what = [...new Set([...this.#busy].map((work) => work.what))].join(', ');
    throw new Error(
      `VirtualClock.settle: still in flight after ${this.#busyLimitMs} ms of real time: ${what} (${this.#busy.size}); ` +
        'dispose what track() gave when the work ends, and before it waits for a timer of this clock',
    );
  }
}
