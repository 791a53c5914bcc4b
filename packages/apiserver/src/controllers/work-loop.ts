import type { Logger, Scheduler, Timer } from 'riata/runtime';
import { inSlices, type Steps } from '../steps.js';

/** A job: synchronous, or in steps that may wait for other work. */
export type Job = () => Steps<void> | unknown;

const firstRetryMs = 5;
const lastRetryMs = 1_000_000;

/**
 * Runs small jobs one after the other, each in a turn of its own, so that the server's controllers act after the answer
 * to the request that triggered them. A job that is queued twice before its turn runs once.
 */
export class WorkLoop {
  readonly #clock: Scheduler;
  readonly #log: Logger;
  readonly #jobs = new Map<string, Job>();
  /** How often each job was refused in a row. */
  readonly #refused = new Map<string, number>();
  /** Timers of refused jobs. */
  readonly #retries = new Map<string, Timer>();
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(clock: Scheduler, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  add(id: string, job: Job): void {
    if (this.#stopped || this.#jobs.has(id)) return;
    this.#jobs.set(id, job);
    this.#running ??= this.#run();
  }

  /** Requeues the running job with backoff, since its write was refused. */
  retry(id: string, job: Job, reason: string): void {
    if (this.#stopped || this.#retries.has(id)) return;
    const times = this.#refused.get(id) ?? 0;
    this.#refused.set(id, times + 1);
    const ms = Math.min(firstRetryMs * 2 ** times, lastRetryMs);
    this.#log.warn('a job of the server was refused, retrying', { job: id, reason, afterMs: ms });
    const timer = this.#clock.after(
      ms,
      () => {
        this.#retries.delete(id);
        this.add(id, job);
      },
      { background: true },
    );
    this.#retries.set(id, timer);
  }

  /** Resolves when no job is left. Doesn't wait for retries of refused jobs. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  stop(): void {
    this.#stopped = true;
    this.#jobs.clear();
    for (const timer of this.#retries.values()) timer.cancel();
  }

  async #run(): Promise<void> {
    await this.#clock.yield();
    for (;;) {
      const next = this.#jobs.entries().next();
      if (next.done) break;
      const [id, job] = next.value;
      this.#jobs.delete(id);
      try {
        const work = job();
        if (isSteps(work)) await inSlices(this.#clock, work);
      } catch (error) {
        this.#log.error('the server could not finish a job of its own', { job: id, error });
      }
      if (!this.#retries.has(id)) this.#refused.delete(id);
      await this.#clock.yield();
    }
    this.#running = undefined;
  }
}

function isSteps(work: unknown): work is Steps<void> {
  return typeof work === 'object' && work !== null && Symbol.iterator in work;
}
