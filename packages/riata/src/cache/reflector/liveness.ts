import { TransportError } from '../../rest/errors/transport-error.js';
import type { Random } from '../../runtime/random.js';
import type { Scheduler, Timer } from '../../runtime/time/clock.js';
import { MachineSleep } from './machine-sleep.js';

/** How much longer than asked for a silence may last before it is noticed. */
const spread = 0.2;
/** After the machine woke up, all watches are suspect at the same moment: they are given up within this time. */
const wakeSpreadMs = 2_000;

/** Why a stream is taken for dead: no sign of life for too long, or the machine slept and none came since. */
export type DeathReason = 'silent' | 'slept';

/** The error of a request that was given up as dead. */
export function deathError(what: 'list' | 'watch', reason: DeathReason): TransportError {
  const message =
    reason === 'slept'
      ? `the machine slept, and the ${what} has been silent since; closed it`
      : `the ${what} has been silent for too long; closed it`;
  return new TransportError(message, { kind: 'idle-timeout', requestSent: true });
}

/** What a {@link Liveness} runs on. */
export interface LivenessOptions {
  readonly clock: Scheduler;
  readonly random: Random;
  /** `Infinity`: never, after a sleep neither. */
  readonly silenceMs: number;
}

/**
 * Says when a stream must be taken for dead. The limit is drawn anew for each stream, so that fifty that fell silent
 * together do not come back together. One timer per stream, which looks when it fires how long ago the last sign was: a busy
 * stream sets none per event.
 */
export class Liveness implements Disposable {
  readonly #clock: Scheduler;
  readonly #random: Random;
  readonly #limitMs: number;
  readonly #onDead: (reason: DeathReason) => void;
  readonly #sleep: Disposable | undefined;
  #timer: Timer | undefined;
  /** Set between waking up and giving up. */
  #waking: Timer | undefined;
  #lastSign: number;

  constructor({ clock, random, silenceMs }: LivenessOptions, onDead: (reason: DeathReason) => void) {
    this.#clock = clock;
    this.#random = random;
    this.#limitMs = random.jitter(silenceMs, spread);
    this.#onDead = onDead;
    this.#lastSign = clock.monotonic();
    if (silenceMs === Number.POSITIVE_INFINITY) return;
    this.#sleep = MachineSleep.on(clock).watch(() => this.#woke());
    this.#wait(this.#limitMs);
  }

  /** A sign of life. Gives the time, on the monotonic clock. */
  touch(): number {
    this.#lastSign = this.#clock.monotonic();
    if (this.#waking !== undefined) {
      this.#waking.cancel();
      this.#waking = undefined;
    }
    return this.#lastSign;
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel();
    this.#waking?.cancel();
    this.#sleep?.[Symbol.dispose]();
  }

  #wait(ms: number): void {
    this.#timer = this.#clock.after(ms, () => this.#look(), { background: true });
  }

  #look(): void {
    const remainingMs = this.#limitMs - (this.#clock.monotonic() - this.#lastSign);
    if (remainingMs <= 0) this.#die('silent');
    else this.#wait(Math.max(1, remainingMs));
  }

  #woke(): void {
    this.#waking ??= this.#clock.after(this.#random.next() * wakeSpreadMs, () => this.#die('slept'), {
      background: true,
    });
  }

  #die(reason: DeathReason): void {
    this[Symbol.dispose]();
    this.#onDead(reason);
  }
}
