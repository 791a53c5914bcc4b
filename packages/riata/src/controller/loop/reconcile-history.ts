import type { Random } from '../../runtime/random.js';
import type { ActiveReconcile } from './active-reconcile.js';
import { FinishedReconcile } from './finished-reconcile.js';
import type { Outcome } from './outcomes.js';
import type { ReconcileRecord } from './reconcile-record.js';

/** What {@link ReconcileHistory} needs. */
export interface ReconcileHistoryParts {
  readonly controller: string;
  /** How many reconciles are kept. */
  readonly size: number;
  readonly random: Pick<Random, 'uuid'>;
}

/**
 * The newest reconciles that have ended. The oldest is overwritten rather than replaced: with a new object for each reconcile,
 * all of them would survive the collections of the young generation, and most of a collection's pause would be copying
 * them.
 */
export class ReconcileHistory {
  readonly #parts: ReconcileHistoryParts;
  readonly #slots: FinishedReconcile[] = [];
  #next = 0;

  constructor(parts: ReconcileHistoryParts) {
    this.#parts = parts;
  }

  add(reconcile: ActiveReconcile, outcome: Outcome, durationMs: number): void {
    const { size } = this.#parts;
    if (size === 0) return;
    const slot = this.#slots[this.#next];
    if (slot === undefined) this.#slots.push(new FinishedReconcile(reconcile, outcome, durationMs));
    else slot.fill(reconcile, outcome, durationMs);
    this.#next = (this.#next + 1) % size;
  }

  /** Oldest first. */
  get records(): readonly ReconcileRecord[] {
    const { controller, size, random } = this.#parts;
    const from = this.#slots.length < size ? 0 : this.#next;
    const inOrder = [...this.#slots.slice(from), ...this.#slots.slice(0, from)];
    return inOrder.map((slot) => slot.describe(controller, random));
  }
}
