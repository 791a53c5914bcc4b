import type { Scheduler } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import type { HistogramSeries, Metrics } from '../runtime/metrics.js';
import { LoopLag } from './loop-lag.js';

const pulseMs = 100;
/** So long a block is told: leases, probes and watches wait as long. */
const stallMs = 500;

/** What a {@link LoopMonitor} needs. */
export interface LoopMonitorParts {
  readonly clock: Scheduler;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** What is being reconciled now, in words. */
  readonly active: () => readonly string[];
}

/**
 * Watches the event loop: everything in the process shares it, so a reconciler that computes without pause starves leases,
 * probes and watches. How late the loop is, is a metric; a stall is logged, with what was being reconciled.
 */
export class LoopMonitor {
  readonly #parts: LoopMonitorParts;
  readonly #lag: HistogramSeries;

  constructor(parts: LoopMonitorParts) {
    this.#parts = parts;
    this.#lag = parts.metrics
      .histogram({
        name: 'riata_event_loop_lag_seconds',
        help: 'How late the event loop is: the longest block in each second.',
        buckets: [0.001, 0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      })
      .with({});
  }

  /** Watches until it is disposed. */
  start(): Disposable {
    const { clock, log, active } = this.#parts;
    const lag = new LoopLag(clock, pulseMs);
    // Whoever runs when the block begins is still there when it has ended, or has just been.
    let before: readonly string[] = [];
    const look = () => {
      const blockedMs = lag.take();
      this.#lag.observe(blockedMs / 1000);
      const suspects = [...new Set([...before, ...active()])];
      if (blockedMs >= stallMs) {
        log.warn('the event loop was blocked: leases, probes and watches had to wait', {
          blockedMs: Math.round(blockedMs),
          reconciling: suspects.length === 0 ? 'nothing' : suspects.join(', '),
        });
      }
      before = active();
      timer = clock.after(1_000, look, { background: true });
    };
    let timer = clock.after(1_000, look, { background: true });
    return {
      [Symbol.dispose]: () => {
        timer.cancel();
        lag[Symbol.dispose]();
      },
    };
  }
}
