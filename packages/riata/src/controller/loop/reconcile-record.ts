import type { Cause, Request } from './request.js';

/** How a reconcile ended; the values of the label `result` of `controller_runtime_reconcile_total` and some more. */
export type ReconcileOutcome =
  | 'success'
  | 'requeue'
  | 'requeue_after'
  | 'error'
  | 'terminal_error'
  | 'gave_up'
  /** By shutdown, a lost lease, or because the controller was removed. */
  | 'stopped'
  /** No reconcile: a predicate, map function or the like fails for the object, and is retried. */
  | 'not_enqueued';

/** A write that a reconcile made. */
export interface ReconcileWrite {
  readonly verb: string;
  /** `Deployment shop/cart`, with `/status` and the like. */
  readonly object: string;
  readonly resourceVersion?: string;
}

/** One reconcile, to be looked at later: why it ran, how long it took, what it did; or why there was none (`not_enqueued`). */
export interface ReconcileRecord {
  readonly controller: string;
  /** What was reconciled; if nothing was, the object that a function fails for, which may be of another kind (`reasons`). */
  readonly key: Request;
  /** `''` if nothing was reconciled. */
  readonly reconcileID: string;
  /** Wall time, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** Between the first cause and the start. */
  readonly queuedMs: number;
  readonly durationMs: number;
  readonly attempt: number;
  readonly priority: number;
  readonly reasons: readonly Cause[];
  readonly outcome: ReconcileOutcome;
  /** What it threw, in words. */
  readonly error?: string;
  /** When it is looked at again without a change; undefined if not. */
  readonly requeueAfterMs?: number;
  /** No more than the first 64. */
  readonly writes: readonly ReconcileWrite[];
}

/** The newest so many of what is added. */
export class Ring<T> {
  readonly #slots: T[] = [];
  readonly #size: number;
  #next = 0;

  constructor(size: number) {
    this.#size = size;
  }

  add(item: T): void {
    if (this.#size === 0) return;
    this.#slots[this.#next] = item;
    this.#next = (this.#next + 1) % this.#size;
  }

  /** Oldest first. */
  items(): T[] {
    if (this.#slots.length < this.#size) return [...this.#slots];
    return [...this.#slots.slice(this.#next), ...this.#slots.slice(0, this.#next)];
  }
}
