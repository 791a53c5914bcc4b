import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import type { Clock } from '../../runtime/time/clock.js';
import { systemClock } from '../../runtime/time/system-clock.js';
import type { DeletedFinalStateUnknown } from '../informer/deleted-final-state-unknown.js';
import { defaultKeyFunc, type KeyFunc, keyed, resourceVersionOf } from '../store/key-func.js';
import type { Store } from '../store/store.js';

/** An object and when it came in (`cache.TimestampedEntry`), in milliseconds on the clock's monotonic scale. */
export interface TimestampedEntry<out T> {
  readonly obj: T;
  readonly timestamp: number;
}

/** Options of an {@link ExpirationCache}. */
export interface ExpirationCacheOptions<T> {
  /** @default keyOf: `namespace/name` */
  readonly keyFunc?: KeyFunc<T>;
  /** Objects older than this are dropped (`cache.TTLPolicy`); never when it is 0 or less. @default 0 */
  readonly ttlMs?: number;
  /** Another rule than age (`cache.ExpirationPolicy`); `ttlMs` then counts for nothing. */
  readonly isExpired?: (entry: TimestampedEntry<T>) => boolean;
  /** @default systemClock */
  readonly clock?: Clock;
}

export const expirationCacheOptionNames = optionNames<ExpirationCacheOptions<unknown>>({
  keyFunc: true,
  ttlMs: true,
  isExpired: true,
  clock: true,
});

/**
 * A store whose objects expire after a while (`cache.ExpirationCache`, `NewTTLStore`, `NewExpirationStore`). There is
 * no timer: expired objects are dropped when they would be read, and take up memory until then. An update starts an
 * object's time again.
 */
export class ExpirationCache<T> implements Store<T> {
  readonly #entries = new Map<string, TimestampedEntry<T>>();
  readonly #keyOf: KeyFunc<T | DeletedFinalStateUnknown<T>>;
  readonly #isExpired: (entry: TimestampedEntry<T>) => boolean;
  readonly #clock: Clock;
  #resourceVersion = '';

  constructor(options: ExpirationCacheOptions<T> = {}) {
    refuseUnknownOptions('ExpirationCache', options, expirationCacheOptionNames);
    const { keyFunc = defaultKeyFunc, ttlMs = 0, clock = systemClock } = options;
    if (Number.isNaN(ttlMs)) throw new TypeError('ExpirationCache: ttlMs must be a number of milliseconds, got NaN');
    this.#keyOf = keyed(keyFunc);
    this.#clock = clock;
    this.#isExpired = options.isExpired ?? ((entry) => ttlMs > 0 && clock.monotonic() - entry.timestamp > ttlMs);
  }

  add(obj: T): void {
    this.#entries.set(this.#keyOf(obj), { obj, timestamp: this.#clock.monotonic() });
    this.#saw(obj);
  }

  update(obj: T): void {
    this.add(obj);
  }

  delete(obj: T | DeletedFinalStateUnknown<T>): void {
    this.#entries.delete(this.#keyOf(obj));
    this.#saw(obj);
  }

  replace(list: readonly T[], resourceVersion: string): void {
    const timestamp = this.#clock.monotonic();
    const entries = list.map((obj) => [this.#keyOf(obj), { obj, timestamp }] as const);
    this.#entries.clear();
    for (const [key, entry] of entries) this.#entries.set(key, entry);
    this.#resourceVersion = resourceVersion;
  }

  list(): T[] {
    this.#purge();
    return Array.from(this.#entries.values(), ({ obj }) => obj);
  }

  listKeys(): string[] {
    this.#purge();
    return [...this.#entries.keys()];
  }

  get(obj: T): T | undefined {
    return this.getByKey(this.#keyOf(obj));
  }

  getByKey(key: string): T | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (!this.#isExpired(entry)) return entry.obj;
    this.#entries.delete(key);
    return undefined;
  }

  bookmark(resourceVersion: string): void {
    this.#resourceVersion = resourceVersion;
  }

  lastStoreSyncResourceVersion(): string {
    return this.#resourceVersion;
  }

  resync(): void {}

  #purge(): void {
    for (const [key, entry] of this.#entries) if (this.#isExpired(entry)) this.#entries.delete(key);
  }

  #saw(obj: unknown): void {
    const version = resourceVersionOf(obj);
    if (version !== undefined) this.#resourceVersion = version;
  }
}
