import type { Scheduler } from 'riata/runtime';

export type RequestKind = 'readOnly' | 'mutating';

/** How long a peak is remembered. */
const windowMs = 1_000;

/** How many requests are being served, and how many there were at most within the last second. */
export class InFlight {
  readonly #clock: Pick<Scheduler, 'monotonic'>;
  readonly #kinds = { readOnly: new Kind(), mutating: new Kind() };

  constructor(clock: Pick<Scheduler, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Counts a request until the result is disposed of. */
  enter(now: number, method: string): Disposable {
    const kind = this.#kinds[kindOf(method)];
    kind.enter(now);
    return kind;
  }

  /** The largest number within the last second. */
  peak(kind: RequestKind): number {
    return this.#kinds[kind].peak(this.#clock.monotonic());
  }
}

/** Upstream's `WithMaxInFlightLimit` and priority and fairness tell by the verb; only reads change nothing. */
function kindOf(method: string): RequestKind {
  return method === 'GET' || method === 'HEAD' ? 'readOnly' : 'mutating';
}

class Kind implements Disposable {
  #now = 0;
  #peak = 0;
  #before = 0;
  #since = 0;

  enter(now: number): void {
    this.#turn(now);
    this.#now += 1;
    if (this.#now > this.#peak) this.#peak = this.#now;
  }

  peak(now: number): number {
    this.#turn(now);
    return Math.max(this.#peak, this.#before);
  }

  [Symbol.dispose](): void {
    this.#now -= 1;
  }

  /** Two windows, so that a peak is seen for a second at least. */
  #turn(now: number): void {
    if (now - this.#since < windowMs) return;
    this.#before = now - this.#since < 2 * windowMs ? this.#peak : this.#now;
    this.#peak = this.#now;
    this.#since = now;
  }
}
