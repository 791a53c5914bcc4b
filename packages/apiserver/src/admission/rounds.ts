import { equal, type JsonObject } from 'riata/object';

/** The state of a plugin between the first and the second round of its hooks. */
export class Rounds {
  #lastOutput: JsonObject | undefined;
  /** Hooks that run again if the object changes. */
  readonly #invoked = new Set<string>();
  /** Hooks after which the object has changed. */
  readonly #again = new Set<string>();

  /** Records that a hook must run again if the object changes after it. */
  invoked(hook: string): void {
    this.#invoked.add(hook);
  }

  isCalledAgain(hook: string): boolean {
    return this.#again.has(hook);
  }

  /** The object has changed: the hooks that ran before must run again. */
  callAgain(): void {
    for (const hook of this.#invoked) this.#again.add(hook);
    this.#invoked.clear();
  }

  /** Starts the second round. Other plugins may have changed the object since the first. */
  resume(object: JsonObject | undefined): void {
    if (!equal(this.#lastOutput ?? null, object ?? null)) this.callAgain();
  }

  finish(output: JsonObject | undefined): void {
    this.#lastOutput = output;
  }
}
