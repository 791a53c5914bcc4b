import type { KubeObject } from '../object/meta.js';
import type { Clock } from '../runtime/time/clock.js';

const rememberedMs = 60_000;

/**
 * Remembers objects whose last finalizer was removed: the server has deleted them, but a cache may return them a moment
 * longer, with their finalizers. A handler that acted on that would clean up twice, or recreate what it cleaned up.
 */
export class FinalizerGuard {
  readonly #clock: Clock;
  /** UID → until when it is remembered, on the monotonic clock; oldest first. */
  readonly #gone = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes note of how handlers have left an object. */
  left(object: KubeObject | undefined): void {
    if (object === undefined || !isFinalized(object)) return;
    this.#gone.delete(object.metadata.uid);
    this.#gone.set(object.metadata.uid, this.#clock.monotonic() + rememberedMs);
  }

  /** True if this is what is left in a cache of an object that is gone. */
  isStale(object: KubeObject | undefined): boolean {
    this.#forget();
    return object?.metadata.deletionTimestamp !== undefined && this.#gone.has(object.metadata.uid);
  }

  get size(): number {
    return this.#gone.size;
  }

  #forget(): void {
    const now = this.#clock.monotonic();
    for (const [uid, untilMs] of this.#gone) {
      if (untilMs > now) return;
      this.#gone.delete(uid);
    }
  }
}

/** True if nothing keeps the object: it has neither finalizers nor, as Pods do, a grace period. The server has deleted it. */
export function isFinalized({ metadata }: KubeObject): boolean {
  if (metadata.deletionTimestamp === undefined || !metadata.uid) return false;
  return (metadata.finalizers?.length ?? 0) === 0 && (metadata.deletionGracePeriodSeconds ?? 0) === 0;
}
