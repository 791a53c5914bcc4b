import { isAbortOf } from '../runtime/signals.js';
import { Removed } from '../runtime/stop-reasons.js';

interface Replacement<T> {
  readonly next: T;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Replaces something by one value at a time. Of several, the newest is tried first: if it can be put in place, the others
 * are superseded, and their promises resolve. If it cannot, its promise rejects, and the one before it is tried.
 */
export class Replacements<T> {
  readonly #apply: (next: T, options: { readonly signal: AbortSignal }) => Promise<void>;
  /** Oldest first. */
  #pending: Replacement<T>[] = [];
  #current: AbortController | undefined;
  #isWorking = false;
  #ended: { readonly reason: unknown } | undefined;

  /** `apply` rejects with the signal's reason, and has changed nothing, if that aborts before it is done. */
  constructor(apply: (next: T, options: { readonly signal: AbortSignal }) => Promise<void>) {
    this.#apply = apply;
  }

  add(next: T): Promise<void> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended.reason);
    return new Promise<void>((resolve, reject) => {
      this.#pending.push({ next, resolve, reject });
      this.#current?.abort(new Removed('a newer definition takes its place'));
      if (!this.#isWorking) void this.#work();
    });
  }

  /** Nothing is replaced any more: pending ones reject. */
  end(reason: unknown): void {
    this.#ended ??= { reason };
    this.#current?.abort(reason);
    for (const { reject } of this.#pending.splice(0)) reject(reason);
  }

  async #work(): Promise<void> {
    this.#isWorking = true;
    for (let newest = this.#pending.at(-1); newest !== undefined; newest = this.#pending.at(-1)) {
      const superseded = this.#pending.slice(0, -1);
      const stop = new AbortController();
      this.#current = stop;
      try {
        await this.#apply(newest.next, { signal: stop.signal });
        // Those that came meanwhile are newer.
        this.#pending = this.#pending.filter((each) => each !== newest && !superseded.includes(each));
        for (const each of [newest, ...superseded]) each.resolve();
      } catch (error) {
        // Interrupted by a newer one, it is tried again if that fails.
        if (isAbortOf(stop.signal, error)) continue;
        this.#pending = this.#pending.filter((each) => each !== newest);
        newest.reject(error);
      }
    }
    this.#current = undefined;
    this.#isWorking = false;
  }
}
