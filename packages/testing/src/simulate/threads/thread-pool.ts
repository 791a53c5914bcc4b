import { Worker } from 'node:worker_threads';
import type { RunSummary } from '../explore/run-summary.js';
import type { RunPlan } from '../run/simulated-fault.js';
import type { SimulationSource, WorkerMessage, WorkerTask } from './define-simulation.js';
import { workerProgram } from './worker-program.js';

/** Runs that are awaited by their number. */
interface AwaitedRun {
  readonly plan: RunPlan;
  readonly resolve: (summary: RunSummary) => void;
}

/** Worker threads that make the runs of a simulation. */
export class ThreadPool implements Disposable {
  readonly #workers: readonly Worker[];
  readonly #idle: Worker[] = [];
  readonly #waiting: AwaitedRun[] = [];
  readonly #running = new Map<number, AwaitedRun>();
  readonly #hash: string;
  readonly #name: string;
  #next = 0;
  #isClosed = false;
  #fail: (error: Error) => void = () => {};
  /** Rejects when a thread has failed. */
  readonly #failed: Promise<never>;

  /** `hash` is that of the run without faults, which has to be the same in every thread. */
  constructor({ module, export: name }: SimulationSource, count: number, hash: string) {
    this.#hash = hash;
    this.#name = `"${name}" of ${module}`;
    this.#failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    // It is awaited with each run, and need not be in between.
    this.#failed.catch(() => {});
    this.#workers = Array.from({ length: count }, (_, at) => this.#start({ module, name }, at + 1));
  }

  /** Makes the runs of these plans, several at once, and gives their results in the order of the plans. */
  async *run(plans: readonly RunPlan[]): AsyncGenerator<RunSummary> {
    const results = plans.map((plan) => new Promise<RunSummary>((resolve) => this.#waiting.push({ plan, resolve })));
    this.#dispatch();
    try {
      for (const result of results) yield await Promise.race([result, this.#failed]);
    } finally {
      this.#waiting.length = 0;
    }
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    for (const worker of this.#workers) void worker.terminate();
  }

  #start(workerData: { module: string; name: string }, number: number): Worker {
    const worker = new Worker(workerProgram, { eval: true, workerData, name: `simulate ${number}` });
    const fail = (what: string, cause?: unknown) => {
      if (this.#isClosed) return;
      const why = cause instanceof Error ? `: ${cause.message}` : '';
      this.#fail(
        new Error(`simulate: worker thread ${number} ${what}${why}`, { ...(cause !== undefined && { cause }) }),
      );
    };
    worker.on('message', (message: WorkerMessage) => {
      if (message.type === 'failed') fail('failed', message.error);
      else this.#take(worker, message);
    });
    worker.on('error', (error) => fail('crashed', error));
    worker.on('exit', (code) => fail(`exited with code ${code} before its runs were made`));
    return worker;
  }

  #take(worker: Worker, message: Exclude<WorkerMessage, { type: 'failed' }>): void {
    if (message.type === 'done') {
      this.#running.get(message.id)?.resolve(message.summary);
      this.#running.delete(message.id);
    } else if (message.hash !== this.#hash) {
      this.#fail(
        new Error(
          `simulate: ${this.#name} makes another run without faults in a worker thread than here; export the same ` +
            'options that simulate gets, and let them depend on nothing that differs between threads',
        ),
      );
      return;
    }
    this.#idle.push(worker);
    this.#dispatch();
  }

  #dispatch(): void {
    for (;;) {
      const worker = this.#waiting.length === 0 ? undefined : this.#idle.shift();
      const next = worker && this.#waiting.shift();
      if (worker === undefined || next === undefined) return;
      const id = this.#next++;
      this.#running.set(id, next);
      worker.postMessage({ id, plan: next.plan } satisfies WorkerTask);
    }
  }
}
