import { abortable } from '../../runtime/signals.js';

interface Run<T> {
  readonly promise: Promise<T>;
  readonly abort: (reason: unknown) => void;
  waiters: number;
}

/**
 * One run of a job for all concurrent callers. A caller that aborts leaves alone; when the last one has left, the job
 * itself is aborted, and the next caller starts a new one.
 */
export class SharedRun<T> {
  readonly #job: (signal: AbortSignal) => Promise<T>;
  #run: Run<T> | undefined;

  constructor(job: (signal: AbortSignal) => Promise<T>) {
    this.#job = job;
  }

  async join(signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    this.#run ??= this.#start();
    const run = this.#run;
    run.waiters += 1;
    try {
      return await abortable(run.promise, signal);
    } finally {
      run.waiters -= 1;
      if (run.waiters === 0 && this.#run === run) {
        this.#run = undefined;
        run.abort(signal?.reason);
      }
    }
  }

  #start(): Run<T> {
    const controller = new AbortController();
    const promise = this.#job(controller.signal);
    const run: Run<T> = { promise, abort: (reason) => controller.abort(reason), waiters: 0 };
    const done = () => {
      if (this.#run === run) this.#run = undefined;
    };
    promise.then(done, done);
    return run;
  }
}
