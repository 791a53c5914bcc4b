import type { Scheduler } from './clock.js';
import { TimeSlice } from './time-slice.js';

/** A loop that may take long: shares the {@link TimeSlice} of its clock with everything else on it. */
export class SlicedWork {
  readonly #slice: TimeSlice;
  #entered = 0;
  /** When the event loop had its last turn, as far as is known. */
  #turnedAt = 0;

  constructor(clock: Scheduler) {
    this.#slice = TimeSlice.of(clock);
  }

  begin(): void {
    this.#entered = this.#slice.enter();
    this.#turnedAt = this.#entered;
  }

  /** Whether it is time to {@link rest}. To be asked between two steps. */
  get isOver(): boolean {
    return this.#slice.isOver(this.#entered);
  }

  async rest(): Promise<void> {
    this.#slice.leave(this.#entered);
    await this.#slice.wait();
    this.begin();
  }

  /** Waits for what others do. An asynchronous function may do it, again and again, without the event loop ever turning. */
  async waitFor(others: PromiseLike<unknown>): Promise<void> {
    this.#slice.leave(this.#entered);
    try {
      await others;
    } finally {
      this.#entered = this.#slice.enter();
      if (this.#slice.isOver(this.#turnedAt)) {
        // Work of others counts as well, as the loop may not have turned.
        this.#entered = this.#turnedAt;
        await this.rest();
      }
    }
  }

  /** Ends or interrupts the work; a promise if it has to wait before it begins again. */
  end(): Promise<void> | undefined {
    this.#slice.leave(this.#entered);
    return this.#slice.isSpent ? this.#slice.wait() : undefined;
  }
}

/** Calls `step` with each item, in order; the event loop turns whenever the slice is over. An error of `step` ends it. */
export async function forEachSliced<T>(
  clock: Scheduler,
  items: Iterable<T>,
  step: (item: T, index: number) => void,
): Promise<void> {
  const work = new SlicedWork(clock);
  work.begin();
  let index = 0;
  try {
    for (const item of items) {
      if (work.isOver) await work.rest();
      step(item, index);
      index += 1;
    }
  } finally {
    await work.end();
  }
}
