import { LostLease } from '../../runtime/stop-reasons.js';
import type { Scheduler, Timer } from '../../runtime/time/clock.js';

/** The start of a {@link LeadershipTerm}. */
export interface TermOptions {
  readonly clock: Scheduler;
  /** The name of the lease, for messages. */
  readonly what: string;
  /** When the write that won it was sent, on the monotonic clock. */
  readonly sentAt: number;
  /** How long after a renewal was sent it may be relied on. */
  readonly renewDeadlineMs: number;
  /** Called once, at once, when the term is lost. */
  readonly onLost: (reason: LostLease) => void;
}

/**
 * One term of leadership. Each call compares the monotonic clock with the deadline, so it needs no notification. A
 * process that was stopped for a while may run any timer or answer first when it wakes; the first call finds the
 * deadline passed, and the term is lost before it can do anything. A lost term stays lost.
 */
export class LeadershipTerm {
  readonly #options: TermOptions;
  readonly #leading = new AbortController();
  readonly #losing = new AbortController();
  /** Others count from a moment after this one, so that they wait longer than this process relies on it. */
  #renewedAt: number;
  #timer: Timer | undefined;
  #lost: LostLease | undefined;
  #ended = false;
  #lastError: unknown;

  constructor(options: TermOptions) {
    this.#options = options;
    this.#renewedAt = options.sentAt;
    this.#arm();
  }

  /** For the work: aborts with {@link LostLease} when the term is lost, or with the reason of the stop. */
  get signal(): AbortSignal {
    return this.#leading.signal;
  }

  /** For requests of the work: aborts with {@link LostLease} when the term is lost, and never otherwise. */
  get lostSignal(): AbortSignal {
    return this.#losing.signal;
  }

  /** Neither lost nor given up; looks at the clock. */
  get isHeld(): boolean {
    return this.lost === undefined && !this.#ended;
  }

  /** When the last renewal that succeeded was sent, on the monotonic clock. */
  get renewedAt(): number {
    return this.#renewedAt;
  }

  /** Why it was lost, if it was; looks at the clock first. */
  get lost(): LostLease | undefined {
    if (this.#lost === undefined && !this.#ended) this.#look();
    return this.#lost;
  }

  /** Notes a renewal that was sent then and has succeeded. One whose answer came after the deadline changes nothing. */
  renewed(sentAt: number): void {
    if (!this.isHeld || sentAt <= this.#renewedAt) return;
    this.#renewedAt = sentAt;
    this.#lastError = undefined;
    this.#arm();
  }

  /** Notes why a renewal failed, for the message if the deadline passes. */
  failed(error: unknown): void {
    this.#lastError = error;
  }

  /** Aborts the work's signal while the lease is still held. */
  stop(reason: unknown): void {
    this.#leading.abort(reason);
  }

  lose(message: string, cause?: unknown): void {
    if (this.#lost !== undefined || this.#ended) return;
    this.#lost = new LostLease(message, cause === undefined ? undefined : { cause });
    this.end();
    // The first reason stands: work is stopped only once.
    this.#leading.abort(this.#lost);
    this.#losing.abort(this.#lost);
    this.#options.onLost(this.#lost);
  }

  /** Cancels all timers: the lease is released, or lost. */
  end(): void {
    this.#ended = true;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #arm(): void {
    this.#timer?.cancel();
    const { clock, renewDeadlineMs } = this.#options;
    const left = this.#renewedAt + renewDeadlineMs - clock.monotonic();
    // Whole milliseconds, and at least one: after rounding errors the rest could be too short for time to move.
    this.#timer = clock.after(Math.max(1, Math.ceil(left)), () => this.#wake(), { background: true });
  }

  /** A timer may come a little early. */
  #wake(): void {
    if (this.isHeld) this.#arm();
  }

  #look(): void {
    const { clock, renewDeadlineMs, what } = this.#options;
    const age = clock.monotonic() - this.#renewedAt;
    if (age < renewDeadlineMs) return;
    const since = `${Math.round(age)} ms ago, the renew deadline is ${renewDeadlineMs} ms`;
    this.lose(`${what} is lost: the last renewal was ${since}`, this.#lastError);
  }
}
