/** Whether the plugins that mutate run a second time for a request, and what they remember of the first (`ReinvocationContext`). */
export class Reinvocation {
  #isRequired = false;
  #isRunning = false;
  #memory: Map<string, unknown> | undefined;

  /** Whether this is the second time. */
  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Whether plugins are to run again: one has changed the object after others had seen it. */
  get isRequired(): boolean {
    return this.#isRequired && !this.#isRunning;
  }

  require(): void {
    this.#isRequired = true;
  }

  begin(): void {
    this.#isRunning = true;
  }

  /** What a plugin remembers, made on first use. */
  memory<T>(plugin: string, make: () => T): T {
    this.#memory ??= new Map();
    const known = this.#memory.get(plugin) as T | undefined;
    if (known !== undefined) return known;
    const made = make();
    this.#memory.set(plugin, made);
    return made;
  }
}
