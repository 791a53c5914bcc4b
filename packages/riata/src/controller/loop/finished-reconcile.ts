import type { ActiveReconcile } from './active-reconcile.js';
import type { Outcome } from './outcomes.js';
import { describeWrite, type NotedWrite, type ReconcileOutcome, type ReconcileRecord } from './reconcile-record.js';
import type { Cause, Request } from './request.js';

/** The record of an ended reconcile. */
export class FinishedReconcile {
  #key!: Request;
  #attempt = 0;
  #priority = 0;
  #reasons!: readonly Cause[];
  #writes!: readonly NotedWrite[];
  #outcome!: ReconcileOutcome;
  #error: string | undefined;
  #errorAt: string | undefined;
  #requeueAfterMs: number | undefined;
  #startedAt = 0;
  #startedMs = 0;
  #durationMs = 0;
  #id!: string;

  constructor(reconcile: ActiveReconcile, outcome: Outcome, durationMs: number) {
    this.fill(reconcile, outcome, durationMs);
  }

  /** Makes it the record of another reconcile. */
  fill(reconcile: ActiveReconcile, { outcome, error, errorAt, requeueAfterMs }: Outcome, durationMs: number): void {
    this.#key = reconcile.key;
    this.#attempt = reconcile.attempt;
    this.#priority = reconcile.priority;
    this.#reasons = reconcile.reasons;
    this.#writes = reconcile.noted;
    this.#outcome = outcome;
    this.#error = error;
    this.#errorAt = errorAt;
    this.#requeueAfterMs = requeueAfterMs;
    this.#startedAt = reconcile.startedAt;
    this.#startedMs = reconcile.startedMs;
    this.#durationMs = durationMs;
    this.#id = reconcile.reconcileID;
  }

  /** Its form in `explain`. */
  describe(controller: string): ReconcileRecord {
    const firstMs = this.#reasons.reduce((earliest, { atMs }) => Math.min(earliest, atMs), this.#startedMs);
    return {
      controller,
      key: this.#key,
      reconcileID: this.#id,
      attempt: this.#attempt,
      priority: this.#priority,
      reasons: this.#reasons,
      outcome: this.#outcome,
      durationMs: this.#durationMs,
      startedAt: this.#startedAt,
      queuedMs: this.#startedMs - firstMs,
      ...(this.#requeueAfterMs !== undefined && { requeueAfterMs: this.#requeueAfterMs }),
      ...(this.#error !== undefined && { error: this.#error }),
      ...(this.#errorAt !== undefined && { errorAt: this.#errorAt }),
      writes: this.#writes.map(describeWrite),
    };
  }
}
