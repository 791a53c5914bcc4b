/**
 * Whether mutating plugins run a second time for a request, and their state of the first run (`ReinvocationContext`).
 */
export class Reinvocation {
  #isRequired = false;
  #isRunning = false;
  #memory: Map<string, unknown> | undefined;

  /** Whether this is the second run. */
  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Whether plugins must run again, since one changed the object after others had seen it. */
  get isRequired(): boolean {
    return this.#isRequired && !this.#isRunning;
  }

  require(): void {
    this.#isRequired = true;
  }

  begin(): void {
    this.#isRunning = true;
  }

  /** The state of a plugin, created on first use. */
  memory<T>(plugin: string, make: () => T): T {
    this.#memory ??= new Map();
    const known = this.#memory.get(plugin) as T | undefined;
    if (known !== undefined) return known;
    const made = make();
    this.#memory.set(plugin, made);
    return made;
  }
}
