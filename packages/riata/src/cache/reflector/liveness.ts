import { TransportError } from '../../rest/errors/transport-error.js';
import { type DeathReason, StreamTimer } from '../../rest/stream/stream-timer.js';
import type { Random } from '../../runtime/random.js';
import type { Scheduler } from '../../runtime/time/clock.js';
import { MachineSleep } from './machine-sleep.js';

/** How much longer than configured a silence may last before it is noticed. */
const spread = 0.2;
/** After the machine woke up, all watches are suspect at the same moment: they are given up within this time. */
const wakeSpreadMs = 2_000;

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
 * Decides when a stream counts as dead: after a silence, and soon after the machine slept. Limits are random for each
 * stream, so that fifty that fell silent together do not reconnect together.
 */
export class Liveness implements Disposable {
  /** For the source, which may report parts of elements to it. */
  readonly timer: StreamTimer;
  /** Called for a dead stream; what it does depends on how far the stream has come. */
  onDead: (reason: DeathReason) => void;
  readonly #random: Random;
  readonly #sleep: Disposable | undefined;

  constructor({ clock, random, silenceMs }: LivenessOptions, onDead: (reason: DeathReason) => void = () => {}) {
    this.#random = random;
    this.onDead = onDead;
    this.timer = new StreamTimer(clock, (reason) => {
      this[Symbol.dispose]();
      this.onDead(reason);
    });
    if (silenceMs === Number.POSITIVE_INFINITY) return;
    this.#sleep = MachineSleep.on(clock).watch(() => this.timer.suspect(random.next() * wakeSpreadMs));
    this.limitSilence(silenceMs);
  }

  /** Another limit, from now on. */
  limitSilence(ms: number): void {
    this.timer.limitSilence(this.#random.jitter(ms, spread));
  }

  /** A sign of life. Returns the time, on the monotonic clock. */
  touch(): number {
    return this.timer.touch();
  }

  [Symbol.dispose](): void {
    this.timer[Symbol.dispose]();
    this.#sleep?.[Symbol.dispose]();
  }
}
