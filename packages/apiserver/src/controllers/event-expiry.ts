import type { Scheduler, Timer } from 'riata/runtime';
import type { ObjectStore } from '../resource/object-store.js';
import type { Resource } from '../resource/resource.js';
import type { StorageEvent } from '../storage/storage.js';

/** How long an Event lives after its last change, as with kube-apiserver's `--event-ttl` by default. */
const lifeMs = 60 * 60 * 1000;

/** Dependencies of {@link EventExpiry}. */
export interface EventExpiryParts {
  readonly clock: Scheduler;
  readonly store: ObjectStore;
  readonly events: Resource;
}

/** Removes Events an hour after their last write; watches get DELETED events. */
export class EventExpiry {
  readonly #at: EventExpiryParts;
  /** Expiry times, earliest first, since all Events live equally long. */
  readonly #due = new Map<string, number>();
  #timer: Timer | undefined;

  constructor(parts: EventExpiryParts) {
    this.#at = parts;
  }

  /** Observes every write of the storage. */
  observe(table: string, { key, after }: StorageEvent): void {
    const { clock, events } = this.#at;
    if (table !== events.table) return;
    this.#due.delete(key);
    if (after === undefined) return;
    this.#due.set(key, clock.monotonic() + lifeMs);
    this.#wait();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#due.clear();
  }

  #wait(): void {
    const next = this.#due.values().next();
    if (this.#timer !== undefined || next.done) return;
    const { clock } = this.#at;
    this.#timer = clock.after(next.value - clock.monotonic(), () => this.#expire(), { background: true });
  }

  #expire(): void {
    const { clock, store, events } = this.#at;
    this.#timer = undefined;
    const now = clock.monotonic();
    for (const [key, due] of this.#due) {
      if (due > now) break;
      this.#due.delete(key);
      const stored = store.findByKey(events, key);
      if (stored !== undefined) store.remove(events, stored);
    }
    this.#wait();
  }
}
