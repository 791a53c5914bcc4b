import { type Duration, durationMs } from '../../object/duration.js';
import type { Logger } from '../../runtime/log/logger.js';
import type { Clock } from '../../runtime/time/clock.js';

/** A shorter period would only waste CPU (`minimumResyncPeriod`). */
const minimumMs = 1000;

interface Schedule {
  readonly requestedMs: number;
  periodMs: number;
  nextMs: number;
}

/** A resync period in milliseconds; 0 is never. */
export function resyncMs(period: Duration | 0, what: string): number {
  return period === 0 ? 0 : durationMs(period, what);
}

/**
 * When which listener receives every object again. The informer checks every {@link checkMs}: its own period, or less
 * if a listener added before the start asks for less. Without a period of the informer, there is no resync.
 */
export class ResyncPeriods<L extends { isResyncing: boolean; readonly name: string }> {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #schedules = new Map<L, Schedule>();
  #checkMs: number;

  constructor(periodMs: number, clock: Clock, log: Logger) {
    this.#checkMs = periodMs;
    this.#clock = clock;
    this.#log = log;
  }

  get checkMs(): number {
    return this.#checkMs;
  }

  add(listener: L, askedMs: number, isStarted: boolean): void {
    let requestedMs = askedMs;
    if (requestedMs > 0 && requestedMs < minimumMs) {
      this.#log.warn('resyncPeriod is below one second, using one second', {
        handler: listener.name,
        resyncPeriodMs: requestedMs,
      });
      requestedMs = minimumMs;
    }
    if (requestedMs > 0 && requestedMs < this.#checkMs) {
      if (isStarted) {
        this.#log.warn('informer is already started, using its longer resync period', {
          handler: listener.name,
          resyncPeriodMs: requestedMs,
          informerPeriodMs: this.#checkMs,
        });
        requestedMs = this.#checkMs;
      } else {
        this.#checkMs = requestedMs;
      }
    } else if (requestedMs > 0 && this.#checkMs === 0) {
      this.#log.warn('informer has no resyncPeriod, ignoring the one of its handler', {
        handler: listener.name,
        resyncPeriodMs: requestedMs,
      });
    }
    const periodMs = this.#possible(requestedMs);
    this.#schedules.set(listener, { requestedMs, periodMs, nextMs: this.#clock.monotonic() + periodMs });
    for (const schedule of this.#schedules.values()) schedule.periodMs = this.#possible(schedule.requestedMs);
  }

  delete(listener: L): void {
    this.#schedules.delete(listener);
  }

  /** Marks the listeners that are due now; true if any is (`shouldResync`). */
  check(): boolean {
    const now = this.#clock.monotonic();
    let isAnyDue = false;
    for (const [listener, schedule] of this.#schedules) {
      listener.isResyncing = schedule.periodMs > 0 && now >= schedule.nextMs;
      if (!listener.isResyncing) continue;
      isAnyDue = true;
      schedule.nextMs = now + schedule.periodMs;
    }
    return isAnyDue;
  }

  #possible(requestedMs: number): number {
    if (requestedMs === 0 || this.#checkMs === 0) return 0;
    return Math.max(requestedMs, this.#checkMs);
  }
}
