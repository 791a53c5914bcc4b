import { Slicer } from '../rest/slicer.js';
import type { Scheduler } from '../runtime/clock.js';

/** A long piece of work that lets the event loop have its turns, together with all others on the same clock. */
export class SlicedWork {
  readonly #slicer: Slicer;
  #entered = 0;
  #waited = false;
  /** When the event loop had its last turn, as far as is known. */
  #turnedAt = 0;

  constructor(clock: Scheduler) {
    this.#slicer = Slicer.on(clock);
  }

  begin(): void {
    this.#entered = this.#slicer.enter();
    this.#turnedAt = this.#entered;
    this.#waited = false;
  }

  /** Whether it is time to {@link rest}. To be asked between two steps. */
  get isOver(): boolean {
    return this.#slicer.over(this.#entered, this.#waited);
  }

  async rest(): Promise<void> {
    this.#slicer.leave(this.#entered);
    await this.#slicer.turn();
    this.#waited = true;
    this.#entered = this.#slicer.enter();
    this.#turnedAt = this.#entered;
  }

  /** Waits for what others do. An asynchronous function may do it, again and again, without the event loop ever turning. */
  async waitFor(others: PromiseLike<unknown>): Promise<void> {
    this.#slicer.leave(this.#entered);
    try {
      await others;
    } finally {
      this.#entered = this.#slicer.enter();
      if (this.#slicer.over(this.#turnedAt, false)) await this.rest();
    }
  }

  /** The end, or a pause; a promise if the event loop has to have its turn before more is begun. */
  end(): Promise<void> | undefined {
    this.#slicer.leave(this.#entered);
    return this.#slicer.spent ? this.#slicer.turn() : undefined;
  }
}
