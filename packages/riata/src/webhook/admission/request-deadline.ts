import { parseGoDuration } from '../../object/go-duration.js';
import { abortable, type LinkedSignal, link } from '../../runtime/signals.js';
import { isTimeout } from '../../runtime/stop-reasons.js';
import type { Scheduler } from '../../runtime/time/clock.js';
import type { WebhookRequest } from '../webhook-route.js';

/** The caller's time that is kept for the way back: a tenth, at most this. */
const mostGraceMs = 500;
const wholeSeconds = /^(\d{1,4})s$/;

/**
 * The time that a handler has: what the API server says it waits (`?timeout=10s`), less some for the way back. The signal
 * and its timer are created on first use: most handlers answer at once.
 */
export class RequestDeadline implements Disposable {
  readonly #clock: Scheduler;
  /** Its signal is made when it is read. */
  readonly #request: Pick<WebhookRequest, 'signal'>;
  readonly #endsAt: number;
  #link: LinkedSignal | undefined;
  /** The handler's time in milliseconds. */
  readonly ms: number;

  /** `defaultMs` counts if the caller does not say how long it waits. */
  constructor(request: Pick<WebhookRequest, 'query' | 'signal'>, defaultMs: number, clock: Scheduler) {
    const waits = timeoutOf(request.query.get('timeout')) ?? defaultMs;
    this.ms = waits - Math.min(waits / 10, mostGraceMs);
    this.#clock = clock;
    this.#request = request;
    this.#endsAt = clock.monotonic() + this.ms;
  }

  /** Aborts at the deadline, and when the caller hangs up. */
  get signal(): AbortSignal {
    this.#link ??= link({
      signals: [this.#request.signal],
      timeoutMs: Math.max(0, this.#endsAt - this.#clock.monotonic()),
      clock: this.#clock,
      what: 'the webhook',
    });
    return this.#link.signal;
  }

  /** Whether it is over, or the caller has hung up. */
  get isOver(): boolean {
    return this.#link?.signal.aborted ?? false;
  }

  /** Whether time is over, as opposed to a caller that hung up. */
  get isTimedOut(): boolean {
    return this.isOver && !this.#request.signal.aborted && isTimeout(this.signal.reason);
  }

  /** Settles as `promise` does, or rejects at the deadline. */
  wait<T>(promise: PromiseLike<T>): Promise<T> {
    return abortable(promise, this.signal);
  }

  [Symbol.dispose](): void {
    this.#link?.[Symbol.dispose]();
  }
}

/** Milliseconds; undefined for a text that is no positive duration. */
function timeoutOf(text: string | null): number | undefined {
  if (text === null) return undefined;
  const seconds = wholeSeconds.exec(text)?.[1];
  if (seconds !== undefined) return Number(seconds) * 1000 || undefined;
  try {
    const ms = Number(parseGoDuration(text)) / 1e6;
    return ms > 0 ? ms : undefined;
  } catch {
    return undefined;
  }
}
