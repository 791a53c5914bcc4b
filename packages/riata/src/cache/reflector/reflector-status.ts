import { describeError } from '../../runtime/log/describe-error.js';
import type { Logger } from '../../runtime/log/logger.js';
import type { Clock } from '../../runtime/time/clock.js';
import type { ReflectorHealth, ReflectorPhase } from './reflector-options.js';
import type { ReflectorPosition } from './reflector-position.js';
import type { WatchStatus } from './reflector-watcher.js';

const goodWatchMs = 1_000;

/** What a {@link ReflectorStatus} works with. */
export interface ReflectorStatusOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly position: ReflectorPosition;
  /** How many objects are withheld. */
  readonly withheld: () => number;
  readonly onError: (error: unknown, health: ReflectorHealth) => void;
}

/** How a Reflector is doing, and the error handler that failures are reported to. */
export class ReflectorStatus implements WatchStatus {
  readonly #options: ReflectorStatusOptions;
  #phase: ReflectorPhase = 'idle';
  #since: number;
  #listed = false;
  #watches = 0;
  #failures = 0;
  /** When the first of them came. */
  #failingSince = 0;
  #lastError: unknown;
  #lastSign: number | undefined;
  /** Set while a watch is open. */
  #openedAt: number | undefined;

  constructor(options: ReflectorStatusOptions) {
    this.#options = options;
    this.#since = options.clock.monotonic();
  }

  /** In a row: since the server last gave something, or a watch lasted. */
  get failures(): number {
    this.#recover();
    return this.#failures;
  }

  get health(): ReflectorHealth {
    this.#recover();
    const { name, clock, position, withheld } = this.#options;
    const now = clock.monotonic();
    return {
      name,
      phase: this.#phase,
      phaseMs: now - this.#since,
      listed: this.#listed,
      resourceVersion: position.version,
      consecutiveFailures: this.#failures,
      watches: this.#watches,
      withheld: withheld(),
      ...(this.#lastError !== undefined && { lastError: this.#lastError }),
      ...(this.#lastSign !== undefined && { lastEventMs: now - this.#lastSign }),
    };
  }

  enter(phase: ReflectorPhase): void {
    if (phase === this.#phase) return;
    this.#phase = phase;
    this.#since = this.#options.clock.monotonic();
  }

  opened(): void {
    this.#watches += 1;
    this.#openedAt = this.#options.clock.monotonic();
  }

  closed(): void {
    this.#recover();
    this.#openedAt = undefined;
  }

  /** A complete list is in the store. */
  listed(): void {
    this.#listed = true;
    this.#recordContact(this.#options.clock.monotonic());
  }

  /** The server gave something. A part of a list is nothing yet: one that always fails half-way would look well. */
  sign(at: number): void {
    if (this.#phase !== 'listing') this.#recordContact(at);
  }

  failed(error: unknown): void {
    const { onError, log } = this.#options;
    if (this.#failures === 0) this.#failingSince = this.#options.clock.monotonic();
    this.#failures += 1;
    this.#lastError = error;
    try {
      onError(error, this.health);
    } catch (thrown) {
      log.error('error handler failed', { error: thrown, reported: describeError(error) });
    }
  }

  #recordContact(at: number): void {
    this.#lastSign = at;
    if (this.#failures > 0) this.#forget();
  }

  /** A watch that is open for a while shows that all is well, also where nothing happens and no bookmarks come. */
  #recover(): void {
    if (this.#failures === 0 || this.#openedAt === undefined || this.#phase === 'listing') return;
    if (this.#options.clock.monotonic() - this.#openedAt >= goodWatchMs) this.#forget();
  }

  #forget(): void {
    const { clock, log } = this.#options;
    const afterMs = Math.round(clock.monotonic() - this.#failingSince);
    log.info('recovered, following the server', { failures: this.#failures, afterMs });
    this.#failures = 0;
    this.#lastError = undefined;
  }
}
