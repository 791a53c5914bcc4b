import type { Scheduler } from '../runtime/clock.js';

/**
 * Longest run of decoding and handling before the event loop gets a turn. What the transport does in between (half as much
 * again) and garbage collection (up to 10 ms at a time) come on top.
 */
const SLICE_MS = 5;
/** What a stream that has waited may do at least before it waits again, so that none starves beside a busy one. */
const LEAST_MS = 1;
/** Work below this needs no turn of the event loop to be counted as over: it is not worth one. */
const UNNOTICED_MS = 1;

const slicers = new WeakMap<Scheduler, Slicer>();

/**
 * Cuts the work of all streams on one clock into slices, so that together they do not block the event loop. Ask `over`
 * between two pieces of work; when it says so, wait for `turn`.
 */
export class Slicer {
  readonly #scheduler: Scheduler;
  /** Work done since the event loop is known to have turned. */
  #busyMs = 0;
  #turn: Promise<void> | undefined;

  private constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  static on(scheduler: Scheduler): Slicer {
    let slicer = slicers.get(scheduler);
    if (slicer === undefined) {
      slicer = new Slicer(scheduler);
      slicers.set(scheduler, slicer);
    }
    return slicer;
  }

  /** Work begins. Hand the answer to `over` and `leave`. */
  enter(): number {
    return this.#scheduler.monotonic();
  }

  /** Whether the work that began at `entered` has to wait for a turn; `waited` if it has just done so. */
  over(entered: number, waited: boolean): boolean {
    const ran = this.#scheduler.monotonic() - entered;
    return this.#busyMs + ran >= SLICE_MS && (!waited || ran >= LEAST_MS);
  }

  /** Whether the work counted by `leave` calls for a turn. */
  get spent(): boolean {
    return this.#busyMs >= SLICE_MS;
  }

  /** The work that began at `entered` is done, or waits. */
  leave(entered: number): void {
    this.#busyMs += this.#scheduler.monotonic() - entered;
    if (this.#busyMs >= UNNOTICED_MS) void this.turn();
  }

  /** Resolves after the event loop had a turn. */
  turn(): Promise<void> {
    this.#turn ??= this.#scheduler.yield().then(() => {
      this.#busyMs = 0;
      this.#turn = undefined;
    });
    return this.#turn;
  }
}
