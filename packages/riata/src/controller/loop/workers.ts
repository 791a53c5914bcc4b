/** Loops that run side by side; their number may change while they run. */
export class Workers {
  readonly #work: (isNeeded: () => boolean) => Promise<void>;
  #target: number;
  #count = 0;
  #end: { resolve(): void; reject(error: unknown): void } | undefined;

  /** `work` resolves when there is nothing left to do, or when `isNeeded`, which it asks before each step, returns false. */
  constructor(target: number, work: (isNeeded: () => boolean) => Promise<void>) {
    this.#target = target;
    this.#work = work;
  }

  /** Sets how many run; surplus ones end after their current step. */
  set target(count: number) {
    this.#target = count;
    if (this.#end !== undefined) this.#fill();
  }

  /** Resolves when all have ended. Rejects as soon as one fails. */
  async run(): Promise<void> {
    try {
      await new Promise<void>((resolve, reject) => {
        this.#end = { resolve, reject };
        this.#fill();
      });
    } finally {
      this.#end = undefined;
    }
  }

  #fill(): void {
    while (this.#count < this.#target) {
      this.#count += 1;
      this.#runOne().catch((error: unknown) => this.#end?.reject(error));
    }
  }

  async #runOne(): Promise<void> {
    let isCounted = true;
    const leave = () => {
      if (isCounted) this.#count -= 1;
      isCounted = false;
    };
    await this.#work(() => {
      if (this.#count > this.#target) leave();
      return isCounted;
    });
    leave();
    if (this.#count === 0) this.#end?.resolve();
  }
}
