import { Slicer } from '../rest/slicer.js';
import type { Scheduler } from '../runtime/clock.js';

/** A long piece of work that lets the event loop have its turns, together with all others on the same clock. */
export class SlicedWork {
  readonly #slicer: Slicer;
  #entered = 0;
  #waited = false;

  constructor(clock: Scheduler) {
    this.#slicer = Slicer.on(clock);
  }

  begin(): void {
    this.#entered = this.#slicer.enter();
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
  }

  /** The end, or a pause; a promise if the event loop has to have its turn before more is begun. */
  end(): Promise<void> | undefined {
    this.#slicer.leave(this.#entered);
    return this.#slicer.spent ? this.#slicer.turn() : undefined;
  }
}
