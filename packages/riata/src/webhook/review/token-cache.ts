import { hash } from '../../runtime/crypto/hash.js';
import type { Clock } from '../../runtime/time/clock.js';

/** Tokens that a server remembers at most; the ones that are longest in it go first. */
const mostTokens = 10_000;

/** Remembers answers by token, for a while. It holds hashes, so that a heap dump has no tokens. */
export class TokenCache<T> {
  readonly #clock: Clock;
  readonly #keptMs: number;
  /** In the order of their expiry. */
  readonly #answers = new Map<string, { readonly answer: T; readonly until: number }>();

  constructor(clock: Clock, keptMs: number) {
    this.#clock = clock;
    this.#keptMs = keptMs;
  }

  /** Wrapped, since an answer may be undefined. */
  get(token: string, audiences: readonly string[]): { readonly answer: T } | undefined {
    const kept = this.#answers.get(keyOf(token, audiences));
    return kept !== undefined && kept.until > this.#clock.monotonic() ? kept : undefined;
  }

  set(token: string, audiences: readonly string[], answer: T): void {
    const key = keyOf(token, audiences);
    this.#answers.delete(key);
    this.#answers.set(key, { answer, until: this.#clock.monotonic() + this.#keptMs });
    for (const [oldest, { until }] of this.#answers) {
      if (this.#answers.size <= mostTokens && until > this.#clock.monotonic()) break;
      this.#answers.delete(oldest);
    }
  }
}

function keyOf(token: string, audiences: readonly string[]): string {
  return hash('sha256', JSON.stringify([token, audiences]));
}
