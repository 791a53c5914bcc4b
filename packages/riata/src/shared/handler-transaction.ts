/**
 * Registers handlers all at once, or not at all (`NewHandlerTransaction`): pass it to `registerHandler` of any number of
 * controllers. After the commit, further handlers are registered immediately; after a rollback, never.
 *
 * @example
 * const transaction = new HandlerTransaction();
 * foos.registerHandler('one', one, { transaction });
 * bars.registerHandler('two', two, { transaction });
 * transaction.commit();
 */
export class HandlerTransaction {
  #state: 'open' | 'committed' | 'rolled back' = 'open';
  #waiting: (() => void)[] = [];

  /** Whether it was committed or rolled back. */
  get state(): 'open' | 'committed' | 'rolled back' {
    return this.#state;
  }

  /** Registers all handlers in order (`Commit`). Throws after a {@link rollback}. */
  commit(): void {
    if (this.#state === 'rolled back') throw new Error('HandlerTransaction: already rolled back; create a new one');
    if (this.#state === 'committed') return;
    this.#state = 'committed';
    for (const register of this.#waiting.splice(0)) register();
  }

  /** Drops all handlers (`Rollback`). Does nothing after a {@link commit}. */
  rollback(): void {
    if (this.#state !== 'open') return;
    this.#state = 'rolled back';
    this.#waiting = [];
  }

  /** Calls `register` on commit. */
  add(register: () => void): void {
    if (this.#state === 'committed') register();
    else if (this.#state === 'open') this.#waiting.push(register);
  }
}
