import type { StopReason } from '../../runtime/stop-reasons.js';
import type { Scheduler, Timer } from '../../runtime/time/clock.js';
import type { ActiveReconcile } from './active-reconcile.js';

/** Whoever has not ended so long after being told to is named. */
const patienceMs = 5_000;

/** What an {@link EndingReconciles} is about. */
export interface EndingParts {
  readonly clock: Scheduler;
  /** How long they may end by themselves. */
  readonly drainMs: number;
  readonly reason: StopReason;
  /** Those that still run. */
  readonly running: () => Iterable<ActiveReconcile>;
  /** Hears of each that was told to end and goes on. */
  readonly onDefiant: (reconcile: ActiveReconcile) => void;
}

/** Has reconciles end: for a while by themselves, then by their signal. Disposed when they have. */
export class EndingReconciles implements Disposable {
  readonly #parts: EndingParts;
  #timer: Timer | undefined;

  constructor(parts: EndingParts) {
    this.#parts = parts;
    if (parts.drainMs === 0) this.#abort();
    else this.#after(parts.drainMs, () => this.#abort());
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel();
  }

  #abort(): void {
    const { running, reason, onDefiant } = this.#parts;
    for (const reconcile of running()) reconcile.abort(reason);
    this.#after(patienceMs, () => {
      for (const reconcile of running()) onDefiant(reconcile);
    });
  }

  #after(ms: number, call: () => void): void {
    this.#timer = this.#parts.clock.after(ms, call, { background: true });
  }
}
