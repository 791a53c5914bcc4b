/** Loops that run side by side, as many as are wanted at the time. */
export class Workers {
  readonly #work: (isWanted: () => boolean) => Promise<void>;
  #wanted: number;
  #count = 0;
  #end: { resolve(): void; reject(error: unknown): void } | undefined;

  /** `work` ends when there is nothing to do any more, or when it is not wanted: it asks between two things that it does. */
  constructor(wanted: number, work: (isWanted: () => boolean) => Promise<void>) {
    this.#wanted = wanted;
    this.#work = work;
  }

  /** From now on so many; those too many go when they have done what they are at. */
  set wanted(count: number) {
    this.#wanted = count;
    if (this.#end !== undefined) this.#hire();
  }

  /** Resolves when all have ended. Rejects as soon as one fails. */
  async run(): Promise<void> {
    try {
      await new Promise<void>((resolve, reject) => {
        this.#end = { resolve, reject };
        this.#hire();
      });
    } finally {
      this.#end = undefined;
    }
  }

  #hire(): void {
    while (this.#count < this.#wanted) {
      this.#count += 1;
      this.#employ().catch((error: unknown) => this.#end?.reject(error));
    }
  }

  async #employ(): Promise<void> {
    let isCounted = true;
    const leave = () => {
      if (isCounted) this.#count -= 1;
      isCounted = false;
    };
    await this.#work(() => {
      if (this.#count > this.#wanted) leave();
      return isCounted;
    });
    leave();
    if (this.#count === 0) this.#end?.resolve();
  }
}
