import type { Cause, Request, RequestQueue } from '../loop/request.js';

type AddOptions = { readonly note?: readonly Cause[]; readonly priority?: number };

/** Takes keys for a queue, and holds them back until {@link release}: the code that they are for does not run yet. */
export class HeldKeys implements Pick<RequestQueue, 'add' | 'addAfter'> {
  readonly #queue: RequestQueue;
  #held: (() => void)[] | undefined = [];

  constructor(queue: RequestQueue) {
    this.#queue = queue;
  }

  add(key: Request, options?: AddOptions): void {
    this.#do(() => this.#queue.add(key, options));
  }

  addAfter(key: Request, ms: number, options?: AddOptions): void {
    this.#do(() => this.#queue.addAfter(key, ms, options));
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const add of held) add();
  }

  #do(add: () => void): void {
    if (this.#held === undefined) add();
    else this.#held.push(add);
  }
}
