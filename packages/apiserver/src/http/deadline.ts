import { onAbort, type Scheduler } from 'riata/runtime';

/** The time that a request has, and its client. */
export interface DeadlineOptions {
  readonly clock: Scheduler;
  /** `Infinity` for a request that lasts as long as its client likes. */
  readonly timeoutMs: number;
  /** Aborts when the client no longer waits for the answer. */
  readonly gone: AbortSignal;
  /** The error when the time is over. */
  readonly overdue: () => unknown;
}

/** Limits the time of work. Costs next to nothing for work that ends before `signal` is read. */
export class Deadline {
  readonly #options: DeadlineOptions;
  #controller: AbortController | undefined;
  #over: { readonly reason: unknown } | undefined;

  constructor(options: DeadlineOptions) {
    this.#options = options;
  }

  /** Aborts when the time is over or the client has disconnected. Created on first use. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#over !== undefined) this.#controller.abort(this.#over.reason);
    }
    return this.#controller.signal;
  }

  /** Settles as the work does, or rejects as soon as its time is over or its client has disconnected. */
  limit<T>(work: Promise<T>): Promise<T> {
    const { clock, timeoutMs, gone, overdue } = this.#options;
    return new Promise<T>((resolve, reject) => {
      const end = (reason: unknown) => {
        this.#over = { reason };
        reject(reason);
        this.#controller?.abort(reason);
      };
      const isLimited = Number.isFinite(timeoutMs);
      const timer = isLimited ? clock.after(timeoutMs, () => end(overdue()), { background: true }) : undefined;
      const listener = onAbort(gone, () => end(gone.reason));
      const done = () => {
        timer?.cancel();
        listener[Symbol.dispose]();
      };
      work.then(resolve, reject).finally(done);
    });
  }
}
