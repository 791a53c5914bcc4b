import type { Logger, Scheduler } from 'riata/runtime';

/**
 * Runs small jobs one after the other, each in a turn of its own, so that what the server does by itself comes after the
 * answer to the request that led to it. A job that is queued twice before its turn runs once.
 */
export class WorkLoop {
  readonly #clock: Scheduler;
  readonly #log: Logger;
  readonly #jobs = new Map<string, () => void>();
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(clock: Scheduler, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  add(id: string, job: () => void): void {
    if (this.#stopped || this.#jobs.has(id)) return;
    this.#jobs.set(id, job);
    this.#running ??= this.#run();
  }

  /** Resolves when nothing is left to do. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  stop(): void {
    this.#stopped = true;
    this.#jobs.clear();
  }

  async #run(): Promise<void> {
    await this.#clock.yield();
    for (;;) {
      const next = this.#jobs.entries().next();
      if (next.done) break;
      const [id, job] = next.value;
      this.#jobs.delete(id);
      try {
        job();
      } catch (error) {
        this.#log.error('the server could not finish a job of its own', { job: id, error });
      }
      await this.#clock.yield();
    }
    this.#running = undefined;
  }
}
