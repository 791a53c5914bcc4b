import type { ActiveReconcile } from './active-reconcile.js';
import { FinishedReconcile } from './finished-reconcile.js';
import type { Outcome } from './outcomes.js';
import type { ReconcileRecord } from './reconcile-record.js';

/** What {@link ReconcileHistory} needs. */
export interface ReconcileHistoryParts {
  readonly controller: string;
  /** How many reconciles are kept. */
  readonly size: number;
}

/**
 * The newest reconciles that have ended. The oldest is overwritten rather than replaced: with a new object for each reconcile,
 * all of them would survive the collections of the young generation, and most of a collection's pause would be copying
 * them.
 */
export class ReconcileHistory {
  readonly #parts: ReconcileHistoryParts;
  #slots: FinishedReconcile[] = [];
  #size: number;
  #next = 0;

  constructor(parts: ReconcileHistoryParts) {
    this.#parts = parts;
    this.#size = parts.size;
  }

  /** Changes how many are kept. */
  keep(size: number): void {
    if (size === this.#size) return;
    this.#slots = this.#inOrder.slice(-size || this.#slots.length);
    this.#size = size;
    this.#next = size === 0 ? 0 : this.#slots.length % size;
  }

  add(reconcile: ActiveReconcile, outcome: Outcome, durationMs: number): void {
    const size = this.#size;
    if (size === 0) return;
    const slot = this.#slots[this.#next];
    if (slot === undefined) this.#slots.push(new FinishedReconcile(reconcile, outcome, durationMs));
    else slot.fill(reconcile, outcome, durationMs);
    this.#next = (this.#next + 1) % size;
  }

  /** Oldest first. */
  get records(): readonly ReconcileRecord[] {
    return this.#inOrder.map((slot) => slot.describe(this.#parts.controller));
  }

  get #inOrder(): FinishedReconcile[] {
    const from = this.#slots.length < this.#size ? 0 : this.#next;
    return [...this.#slots.slice(from), ...this.#slots.slice(0, from)];
  }
}
