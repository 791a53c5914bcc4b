import type { ReconcileRecord } from '../../controller/loop/reconcile-record.js';
import { keyId } from '../../object/key.js';
import type { FailingKey, LatencyState } from './debug-state.js';

/** Failing keys beyond this are counted only while they are known. */
const mostFailing = 10_000;
const mostListed = 100;

/** Counts the reconciles of one controller while somebody looks. */
export class ReconcileTally {
  readonly #outcomes: Record<string, number> = {};
  readonly #failing = new Map<string, FailingKey>();
  #durations: number[] = [];
  #queued: number[] = [];

  /** One that ended; `isOld` of one that ended before somebody looked, which says what fails and nothing else. */
  add(record: ReconcileRecord, { isOld = false } = {}): void {
    const { key, outcome, error } = record;
    const id = keyId(key);
    if (outcome !== 'stopped') this.#failing.delete(id);
    if (
      error !== undefined &&
      outcome !== 'stopped' &&
      outcome !== 'not_enqueued' &&
      this.#failing.size < mostFailing
    ) {
      this.#failing.set(id, failingKey(record, error));
    }
    if (isOld) return;
    this.#outcomes[outcome] = (this.#outcomes[outcome] ?? 0) + 1;
    this.#durations.push(record.durationMs);
    this.#queued.push(record.queuedMs);
  }

  get outcomes(): Readonly<Record<string, number>> {
    return { ...this.#outcomes };
  }

  /** How many keys fail. */
  get failing(): number {
    return this.#failing.size;
  }

  /** The first 100 of them. */
  get failingKeys(): readonly FailingKey[] {
    return [...this.#failing.values()].slice(0, mostListed);
  }

  /** Of the reconciles since this was last called. */
  takeLatency(): LatencyState {
    const [durations, queued] = [sorted(this.#durations), sorted(this.#queued)];
    this.#durations = [];
    this.#queued = [];
    return {
      count: durations.length,
      ...{ p50: quantile(durations, 0.5), p95: quantile(durations, 0.95), max: durations.at(-1) ?? 0 },
      ...{ queuedP95: quantile(queued, 0.95), queuedMax: queued.at(-1) ?? 0 },
    };
  }
}

/** Of sorted numbers; 0 without any. */
export function quantile(values: readonly number[], share: number): number {
  return values[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;
}

function sorted(values: readonly number[]): readonly number[] {
  return values.map((value) => Math.round(value * 100) / 100).sort((a, b) => a - b);
}

function failingKey(record: ReconcileRecord, error: string): FailingKey {
  const { key, attempt, startedAt, durationMs, requeueAfterMs, outcome, errorAt } = record;
  const at = Math.round(startedAt + durationMs);
  return {
    ...{ key, attempt, at, outcome, error },
    ...(requeueAfterMs !== undefined && { retryAt: Math.round(at + requeueAfterMs) }),
    ...(errorAt !== undefined && { errorAt }),
  };
}
