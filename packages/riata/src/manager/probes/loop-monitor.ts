import type { Logger } from '../../runtime/log/logger.js';
import type { HistogramSeries, Metrics } from '../../runtime/metrics.js';
import type { Scheduler } from '../../runtime/time/clock.js';
import { LoopLag } from './loop-lag.js';

const pulseMs = 100;
const lookMs = 1_000;
/** Blocks of this length are logged: leases, probes and watches wait as long. */
const stallMs = 500;

/** The explanation when a process hardly used the CPU while its loop stood still. */
export const idleHint = 'it was stopped, its machine was busy or asleep, or its CPU limit is too low';

/** What a {@link LoopMonitor} needs. */
export interface LoopMonitorParts {
  readonly clock: Scheduler;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Reconciles, in words, that last or lasted this long and ended no longer than `withinMs` ago. */
  readonly lasting: (durationMs: number, withinMs: number) => readonly string[];
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
    const { clock } = this.#parts;
    const lag = new LoopLag(clock, pulseMs);
    let lookedMs = clock.monotonic();
    const look = () => {
      const nowMs = clock.monotonic();
      const blockedMs = lag.take();
      this.#lag.observe(blockedMs / 1000);
      if (blockedMs >= stallMs) this.#report(lag, blockedMs, nowMs - lookedMs);
      lookedMs = nowMs;
      timer = clock.after(lookMs, look, { background: true });
    };
    let timer = clock.after(lookMs, look, { background: true });
    return {
      [Symbol.dispose]: () => {
        timer.cancel();
        lag[Symbol.dispose]();
      },
    };
  }

  #report(lag: LoopLag, ms: number, withinMs: number): void {
    const { log, lasting } = this.#parts;
    const blockedMs = Math.round(ms);
    const cpuMs = lag.tookCpuMs === undefined ? undefined : Math.round(lag.tookCpuMs);
    if (lag.tookIdle) {
      const message = 'the process did not run for a while: leases, probes and watches had to wait';
      log.warn(message, { blockedMs, cpuMs, hint: idleHint });
      return;
    }
    // The reconcile that blocked the loop ran for at least as long, and has mostly ended before any other code could
    // run.
    const suspects = lasting(ms, withinMs);
    const reconciling = suspects.length === 0 ? 'nothing that took so long' : suspects.join(', ');
    log.warn('the event loop was blocked: leases, probes and watches had to wait', { blockedMs, cpuMs, reconciling });
  }
}
