import type { Scheduler, Timer } from '../../runtime/time/clock.js';

const never = Number.POSITIVE_INFINITY;

/**
 * Why a stream is given up. `silent`: no element for too long. `slept`: the machine slept, and no element came since.
 */
export type DeathReason = 'silent' | 'slept';

/** What the reader of a stream's bytes reports to the timer of the stream. */
export interface ElementTimer {
  /**
   * A part of an element is there. The time counts from the first one, however slowly the others come; `onDue` is called
   * if the element is not {@link whole} by then. 0: there is no limit.
   */
  part(limitMs: number, onDue: () => void): void;
  /** No element is incomplete. */
  whole(): void;
}

/**
 * The one timer of a stream, from its request to its end. Its owner, which opens the stream, limits silence: first
 * until the answer begins, then between two elements, whether the server replays its state or reports changes. The
 * reader of the bytes reports parts of an element, which are no sign of life, but must become complete in time, too.
 * The timer checks what is due when it fires: a busy stream sets none per element.
 */
export class StreamTimer implements ElementTimer, Disposable {
  readonly #clock: Scheduler;
  readonly #onDead: (reason: DeathReason) => void;
  #silenceMs = never;
  #lastSign: number;
  /** When a stream that is suspected to be dead is given up. */
  #suspectDueMs = never;
  /** When the element that has begun must be whole. */
  #partDueMs = never;
  #onPartDue: (() => void) | undefined;
  #timer: Timer | undefined;
  #firesMs = never;
  #isOver = false;

  /** `onDead` is called at most once; nothing is timed after it. */
  constructor(clock: Scheduler, onDead: (reason: DeathReason) => void = () => {}) {
    this.#clock = clock;
    this.#onDead = onDead;
    this.#lastSign = clock.monotonic();
  }

  /** Limits silence, from now on. `Infinity`: not at all. */
  limitSilence(ms: number): void {
    this.#silenceMs = ms;
    this.touch();
    this.#arm();
  }

  /** An element came. Returns the time, on the monotonic clock. */
  touch(): number {
    this.#lastSign = this.#clock.monotonic();
    this.#suspectDueMs = never;
    return this.#lastSign;
  }

  /** The stream may be dead: it has so much time for an element. */
  suspect(ms: number): void {
    if (this.#suspectDueMs !== never) return;
    this.#suspectDueMs = this.#clock.monotonic() + ms;
    this.#arm();
  }

  part(limitMs: number, onDue: () => void): void {
    if (this.#partDueMs !== never || limitMs <= 0) return;
    this.#partDueMs = this.#clock.monotonic() + limitMs;
    this.#onPartDue = onDue;
    this.#arm();
  }

  whole(): void {
    this.#partDueMs = never;
  }

  /** Nothing is timed from now on, whatever a reader still reports. */
  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  get #dueMs(): number {
    return Math.min(this.#lastSign + this.#silenceMs, this.#suspectDueMs, this.#partDueMs);
  }

  #arm(): void {
    const dueMs = this.#dueMs;
    if (this.#isOver || dueMs === never || (this.#timer !== undefined && this.#firesMs <= dueMs)) return;
    this.#timer?.cancel();
    this.#firesMs = dueMs;
    const waitMs = Math.max(1, dueMs - this.#clock.monotonic());
    // Background: the stream keeps the process alive, the watch over it need not.
    this.#timer = this.#clock.after(waitMs, () => this.#look(), { background: true });
  }

  #look(): void {
    this.#timer = undefined;
    const now = this.#clock.monotonic();
    if (this.#lastSign + this.#silenceMs <= now) this.#die('silent');
    else if (this.#suspectDueMs <= now) this.#die('slept');
    else if (this.#partDueMs <= now) {
      this.#partDueMs = never;
      this.#onPartDue?.();
    }
    this.#arm();
  }

  #die(reason: DeathReason): void {
    this[Symbol.dispose]();
    this.#onDead(reason);
  }
}
