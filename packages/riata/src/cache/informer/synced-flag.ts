import { abortable } from '../../runtime/signals.js';

/** Raised once, never lowered, and can be waited for. */
export class SyncedFlag {
  #raised = false;
  #waiting: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  get raised(): boolean {
    return this.#raised;
  }

  raise(): void {
    this.#raised = true;
    this.#waiting?.resolve();
    this.#waiting = undefined;
  }

  async wait(signal: AbortSignal | undefined): Promise<void> {
    if (this.#raised) return;
    if (this.#waiting === undefined) {
      let resolve = (): void => {};
      const promise = new Promise<void>((done) => {
        resolve = done;
      });
      this.#waiting = { promise, resolve };
    }
    if (signal?.aborted) throw signal.reason;
    await abortable(this.#waiting.promise, signal);
  }
}
