import type { Random } from '../../runtime/random.js';
import { type LinkedSignal, link } from '../../runtime/signals.js';
import type { Scheduler, Timer } from '../../runtime/time/clock.js';
import { findApiError } from '../errors/api-error.js';
import { isTransportError, type TransportErrorKind } from '../errors/transport-error.js';

/** Where clients and sources that share a connection have its {@link ServerContact}. */
export const serverContact: unique symbol = Symbol('riata.serverContact');

/** Time between two probes of a server that does not answer; the last one repeats. With jitter, 1.5 s at most. */
const probesMs = [500, 1_000, 1_250];
const probeJitter = 0.2;
/** After an outage, each waiting caller adds so much to the time over which all of them come back. */
const spreadPerCallerMs = 30;
const longestSpreadMs = 1_500;

/** What a caller waits with. */
export interface ContactWait {
  readonly clock: Scheduler;
  readonly random: Random;
  readonly signal: AbortSignal;
}

/**
 * Shares between all users of one connection whether the server is reachable. While it is not, one caller at a time
 * probes it, every 1.5 seconds at most; the others wait. As soon as any request is answered, all of them continue,
 * spread over a short time. So all callers notice a recovered server soon, and few requests hit it at once.
 */
export class ServerContact {
  readonly #waiting = new Set<Waiter>();
  #answers = 0;
  #probes = 0;
  #timer: Timer | undefined;

  /**
   * Grows with every answer of a server in working order. A request that failed while this stood still has no evidence that the
   * server is there at all; where it grew, the failure is about that request alone.
   */
  get answers(): number {
    return this.#answers;
  }

  /** A response has begun. Throttling (429) and server errors (5xx) say nothing about the end of an outage. */
  responded(status: number): void {
    if (status === 429 || status >= 500) return;
    this.#answers += 1;
    if (this.#waiting.size > 0) this.#release();
  }

  /**
   * Waits for the server to answer, for at most `limitMs`. Resolves to true if it did, to false if the caller should find
   * out by a request of its own. Rejects with the signal's reason.
   */
  async wait(limitMs: number, { clock, random, signal }: ContactWait): Promise<boolean> {
    using scope = link(signal);
    const waiter = new Waiter(clock, random, scope);
    this.#waiting.add(waiter);
    this.#timer ??= this.#nextProbe();
    await clock.sleep(limitMs, { signal: scope.signal }).catch(() => {});
    this.#waiting.delete(waiter);
    if (this.#waiting.size === 0) this.#stopProbing();
    signal.throwIfAborted();
    if (waiter.spreadMs !== undefined) await clock.sleep(random.next() * waiter.spreadMs, { signal });
    return waiter.spreadMs !== undefined;
  }

  /** The caller that has waited longest probes first, so that all of them get their turn. */
  #nextProbe(): Timer | undefined {
    const [first] = this.#waiting;
    if (first === undefined) return undefined;
    const baseMs = probesMs[Math.min(this.#probes, probesMs.length - 1)] as number;
    return first.clock.after(first.random.jitter(baseMs, probeJitter), () => {
      this.#probes += 1;
      const [next] = this.#waiting;
      if (next !== undefined) this.#waiting.delete(next);
      next?.end();
      this.#timer = this.#nextProbe();
    });
  }

  #release(): void {
    const spreadMs = Math.min(this.#waiting.size * spreadPerCallerMs, longestSpreadMs);
    const released = [...this.#waiting];
    this.#waiting.clear();
    for (const waiter of released) {
      waiter.spreadMs = spreadMs;
      waiter.end();
    }
    this.#stopProbing();
    this.#probes = 0;
  }

  #stopProbing(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}

/** A caller in line; `spreadMs` is set once the server has answered. */
class Waiter {
  readonly clock: Scheduler;
  readonly random: Random;
  readonly #sleep: LinkedSignal;
  spreadMs: number | undefined;

  constructor(clock: Scheduler, random: Random, sleep: LinkedSignal) {
    this.clock = clock;
    this.random = random;
    this.#sleep = sleep;
  }

  end(): void {
    this.#sleep.abort(new Error('the wait is over'));
  }
}

/**
 * No connection was made. TLS errors are not among them: these concern certificates, which are not renewed within
 * seconds.
 */
const unreachable: ReadonlySet<TransportErrorKind> = new Set([
  'dns',
  'connect-refused',
  'connect-timeout',
  'unreachable',
]);
/** What load balancers do while there is no server behind them; but the same may happen to one kind of request alone. */
const cutOff: ReadonlySet<TransportErrorKind> = new Set(['proxy', 'reset', 'eof']);

/**
 * Decides for one caller of a {@link ServerContact} whether its failures are an outage of the server or concern its own
 * requests. Only the former may be retried as soon as others are answered.
 */
export class OutageDetector {
  readonly #contact: ServerContact;
  /** The answers when the last attempt began, and the one before. */
  #began = -1;
  #beganBefore = -1;

  constructor(contact: ServerContact) {
    this.#contact = contact;
  }

  /** A request is about to be made. */
  begin(): void {
    this.#beganBefore = this.#began;
    this.#began = this.#contact.answers;
  }

  /**
   * `certain`: the server cannot be reached. `likely`: the second failure in a row that looks like it, and no other
   * caller got an answer since the first. Undefined: no outage, or the server has said when to retry.
   */
  judge(error: unknown): 'certain' | 'likely' | undefined {
    const { answers } = this.#contact;
    if (isTransportError(error)) {
      if (unreachable.has(error.kind)) return answers === this.#began ? 'certain' : undefined;
      return cutOff.has(error.kind) && answers === this.#beganBefore ? 'likely' : undefined;
    }
    const refused = findApiError(error);
    const isUnavailable = refused?.code === 502 || refused?.code === 503;
    return isUnavailable && refused.retryAfterMs === undefined && answers === this.#beganBefore ? 'likely' : undefined;
  }
}
