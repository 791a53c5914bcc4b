import type { ActiveReconcile } from './active-reconcile.js';
import type { Request } from './request.js';

/** A reconcile that took its time, or still does. */
export interface SlowReconcile {
  readonly key: Request;
  readonly durationMs: number;
}

/** Shorter ones block nobody. */
const leastMs = 250;
const mostKept = 16;

/** The last few reconciles that took long: whoever has blocked the event loop is among them, though it has ended. */
export class SlowReconciles {
  readonly #ended: (SlowReconcile & { readonly endedMs: number })[] = [];

  /** `endedMs`: on the monotonic clock. */
  ended({ key }: Pick<ActiveReconcile, 'key'>, durationMs: number, endedMs: number): void {
    if (durationMs < leastMs) return;
    if (this.#ended.length === mostKept) this.#ended.shift();
    this.#ended.push({ key, durationMs, endedMs });
  }

  /** Those that took so long, or longer, and have ended since. */
  since(endedMs: number, durationMs: number): readonly SlowReconcile[] {
    return this.#ended.filter((each) => each.endedMs >= endedMs && each.durationMs >= durationMs);
  }
}
