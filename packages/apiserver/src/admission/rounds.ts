import { equal, type JsonObject } from 'riata/object';

/** What a plugin remembers from the first round of its hooks to the second. */
export class Rounds {
  #lastOutput: JsonObject | undefined;
  /** Hooks that would see a change after them. */
  readonly #invoked = new Set<string>();
  /** Hooks that there was a change after. */
  readonly #again = new Set<string>();

  /** Notes that a hook wants to run again after a change. */
  invoked(hook: string): void {
    this.#invoked.add(hook);
  }

  isCalledAgain(hook: string): boolean {
    return this.#again.has(hook);
  }

  /** Lets those run again that ran before a change. */
  callAgain(): void {
    for (const hook of this.#invoked) this.#again.add(hook);
    this.#invoked.clear();
  }

  /** Takes up an object for the second time: somebody else may have changed it. */
  resume(object: JsonObject | undefined): void {
    if (!equal(this.#lastOutput ?? null, object ?? null)) this.callAgain();
  }

  finish(output: JsonObject | undefined): void {
    this.#lastOutput = output;
  }
}
