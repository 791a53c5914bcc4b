import { keyId } from '../object/key.js';
import type { Runtime } from '../runtime/runtime.js';
import type { ActiveReconcile } from './active-reconcile.js';

/** So many runs that write, of one key, in so short a time, are no work but a circle. */
const mostRuns = 50;
const withinMs = 10_000;
const againMs = 600_000;
/** How many keys are counted; when there are more, none of them runs all the time. */
const mostKeys = 64;

/**
 * Notices a controller that wakes itself up: what it writes differs each time, such as the time of day, the change is a
 * reason to reconcile, and so on without end.
 */
export class RestlessKeys {
  readonly #controller: string;
  readonly #runtime: Pick<Runtime, 'clock' | 'log'>;
  readonly #counts = new Map<string, { sinceMs: number; runs: number }>();
  #toldMs = Number.NEGATIVE_INFINITY;

  constructor(controller: string, runtime: Pick<Runtime, 'clock' | 'log'>) {
    this.#controller = controller;
    this.#runtime = runtime;
  }

  /** A reconcile has succeeded, and has written something. */
  wrote(id: string, reconcile: ActiveReconcile): void {
    const nowMs = this.#runtime.clock.monotonic();
    const count = this.#counts.get(id);
    if (count === undefined) {
      if (this.#counts.size === mostKeys) this.#counts.clear();
      this.#counts.set(id, { sinceMs: nowMs, runs: 1 });
    } else if (nowMs - count.sinceMs > withinMs) {
      count.sinceMs = nowMs;
      count.runs = 1;
    } else {
      count.runs += 1;
      if (count.runs === mostRuns && nowMs - this.#toldMs >= againMs) this.#tell(reconcile, nowMs, count.sinceMs);
    }
  }

  #tell(reconcile: ActiveReconcile, nowMs: number, sinceMs: number): void {
    this.#toldMs = nowMs;
    this.#runtime.log.warn(
      'reconciled again and again, and written each time: do its own writes wake it up? Write nothing that differs each time',
      {
        ...{ controller: this.#controller, key: keyId(reconcile.key), runs: mostRuns, inMs: nowMs - sinceMs },
        writes: reconcile.written.map(({ verb, object }) => `${verb} ${object}`),
      },
    );
  }
}
