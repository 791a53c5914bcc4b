import { compareResourceVersions } from '../../object/compare-resource-versions.js';
import { formatKey, keyId } from '../../object/key.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { ActiveReconcile } from './active-reconcile.js';
import { describeWrite, type NotedWrite } from './reconcile-record.js';
import { type Cause, mostCauses } from './request.js';

/** Reconciles in a row that a key may cause by its own writes without waiting: a state machine takes a few steps. */
const freeRuns = 20;
const firstWaitMs = 100;
const longestWaitMs = 60_000;
/** A reconcile that takes longer is work, whatever caused it. */
const longestRunMs = 1_000;
/** Interval between warnings. */
const againMs = 600_000;
/** At most this many keys are remembered, those that wrote last. */
const mostKeys = 100_000;

/** A key whose last reconcile has written. */
interface Loop {
  /** Reconciles in a row that its own writes caused, and that wrote again. */
  runs: number;
  writes: readonly NotedWrite[];
  /** The largest number of changes that one of them was caused by. */
  mostChanges: number;
  sinceMs: number;
  /** When it may run next, on the monotonic clock. */
  dueMs: number;
}

/** Why a key is reconciled: by its own writes alone, or also by others. `unclear`: own writes may be all there is. */
type Origin = { readonly by: 'own writes'; readonly changes: number } | { readonly by: 'others' | 'unclear' };

/**
 * Slows down keys that wake themselves: each reconcile writes something that differs, such as the time of day, the change
 * causes the next reconcile, and so on without end. A reconcile with any other cause is never delayed.
 */
export class SelfWakeBackoff {
  readonly #controller: string;
  readonly #runtime: Pick<Runtime, 'clock' | 'log'>;
  /** False: a key that wakes itself is reported, and not slowed down. */
  isSlowing: boolean;
  /** By key id, in the order of their last writes. */
  readonly #loops = new Map<string, Loop>();
  #warnedMs = Number.NEGATIVE_INFINITY;

  constructor(controller: string, runtime: Pick<Runtime, 'clock' | 'log'>, { isSlowing = true } = {}) {
    this.#controller = controller;
    this.#runtime = runtime;
    this.isSlowing = isSlowing;
  }

  /** How long a key has to wait before it is reconciled for these causes; 0: not at all. */
  waitMs(id: string, causes: readonly Cause[]): number {
    const loop = this.#loops.get(id);
    if (loop === undefined || loop.runs < freeRuns) return 0;
    const waitMs = loop.dueMs - this.#runtime.clock.monotonic();
    if (waitMs <= 0) return 0;
    const origin = originOf(causes, loop.writes);
    return origin.by === 'own writes' && origin.changes <= loop.mostChanges ? waitMs : 0;
  }

  /** A reconcile has succeeded. */
  succeeded(id: string, reconcile: ActiveReconcile): void {
    const loop = this.#loops.get(id);
    if (!reconcile.hasWritten) {
      if (loop !== undefined) this.#loops.delete(id);
      return;
    }
    const { noted: writes } = reconcile;
    const nowMs = this.#runtime.clock.monotonic();
    this.#loops.delete(id);
    if (this.#loops.size >= mostKeys) this.#forgetOldest();
    if (loop === undefined) this.#loops.set(id, { runs: 0, writes, mostChanges: 0, sinceMs: nowMs, dueMs: nowMs });
    else {
      this.#count(loop, reconcile, nowMs);
      loop.writes = writes;
      this.#loops.set(id, loop);
    }
  }

  #count(loop: Loop, reconcile: ActiveReconcile, nowMs: number): void {
    const origin = originOf(reconcile.reasons, loop.writes);
    if (origin.by === 'others') {
      loop.runs = 0;
      loop.mostChanges = 0;
      loop.sinceMs = nowMs;
    }
    if (origin.by !== 'own writes' || nowMs - reconcile.startedMs > longestRunMs) return;
    loop.runs += 1;
    loop.mostChanges = Math.max(loop.mostChanges, origin.changes);
    if (loop.runs < freeRuns) return;
    const waitMs = Math.min(firstWaitMs * 2 ** (loop.runs - freeRuns), longestWaitMs);
    loop.dueMs = nowMs + (this.isSlowing ? waitMs : 0);
    if (nowMs - this.#warnedMs >= againMs) this.#warn(loop, reconcile, nowMs);
  }

  #forgetOldest(): void {
    for (const id of this.#loops.keys()) {
      this.#loops.delete(id);
      return;
    }
  }

  #warn({ runs, sinceMs, dueMs }: Loop, reconcile: ActiveReconcile, nowMs: number): void {
    this.#warnedMs = nowMs;
    this.#runtime.log.warn(
      'the reconciler wakes itself by its own writes; write nothing that differs each time, or filter the changes with a predicate',
      {
        ...{ controller: this.#controller, key: keyId(reconcile.key), runs, inMs: Math.round(nowMs - sinceMs) },
        ...(this.isSlowing && { nextInMs: Math.round(dueMs - nowMs) }),
        writes: reconcile.noted.map(describeWrite).map(({ verb, object }) => `${verb} ${object}`),
      },
    );
  }
}

/**
 * Whether all changes among the causes are those writes. Changes of an object come in order, each once, and are counted:
 * if the last one is an own write, and there are no more changes than own writes up to it, all of them are own writes.
 */
function originOf(causes: readonly Cause[], writes: readonly NotedWrite[]): Origin {
  let changes = 0;
  // Of many causes, only the newest are kept.
  let isClear = causes.length > 0 && causes.length < mostCauses;
  for (const { change, object, resourceVersion: last, count } of causes) {
    if (change === undefined || change === 'Sync') {
      isClear = false;
      continue;
    }
    if (last === undefined) return { by: 'others' };
    const versions = new Set<string>();
    for (const { kind, namespace, name, resourceVersion } of writes) {
      if (resourceVersion === undefined || `${kind} ${formatKey({ namespace, name })}` !== object) continue;
      const order = compareResourceVersions(resourceVersion, last);
      if (order !== undefined && order <= 0) versions.add(resourceVersion);
    }
    if (!versions.has(last) || count > versions.size) return { by: 'others' };
    changes += count;
  }
  return isClear ? { by: 'own writes', changes } : { by: 'unclear' };
}
