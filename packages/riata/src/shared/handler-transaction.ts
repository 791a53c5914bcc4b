/**
 * Registrations that come all at once, or not at all (`NewHandlerTransaction`): give it to `registerHandler` of any
 * number of controllers. Once committed, what is registered through it comes at once; once rolled back, never.
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

  /** What was done with it. */
  get state(): 'open' | 'committed' | 'rolled back' {
    return this.#state;
  }

  /** Registers all, in the order in which they came (`Commit`). After a {@link rollback} it is an error. */
  commit(): void {
    if (this.#state === 'rolled back') throw new Error('HandlerTransaction: already rolled back; create a new one');
    if (this.#state === 'committed') return;
    this.#state = 'committed';
    for (const register of this.#waiting.splice(0)) register();
  }

  /** Drops all (`Rollback`). After a {@link commit} it does nothing: what is registered stays. */
  rollback(): void {
    if (this.#state !== 'open') return;
    this.#state = 'rolled back';
    this.#waiting = [];
  }

  /** Calls `register` when its time comes. */
  add(register: () => void): void {
    if (this.#state === 'committed') register();
    else if (this.#state === 'open') this.#waiting.push(register);
  }
}
