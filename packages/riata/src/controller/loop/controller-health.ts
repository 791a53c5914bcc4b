import type { FailingSourceObject } from '../source/source-failures.js';
import type { ActiveReconcileInfo } from './active-reconcile.js';

/** `syncing`: waits for its sources. `warm`: its sources are synced, and it waits to be run. `running`: reconciles. */
export type ControllerPhase = 'idle' | 'syncing' | 'warm' | 'running' | 'stopping' | 'stopped';

/** The state of a controller: a plain snapshot. */
export interface ControllerHealth {
  readonly name: string;
  readonly phase: ControllerPhase;
  /** Sources that aren't synced yet; of a running controller, added clusters that aren't, as `cluster` and the name. */
  readonly waitingFor: readonly string[];
  readonly queued: number;
  /** Keys that wait for their time, and objects in `failing` that wait for a retry. */
  readonly delayed: number;
  /** Until the first of those is due, 0 if it is overdue; undefined if there are no delayed keys. */
  readonly nextDelayedMs: number | undefined;
  readonly active: readonly ActiveReconcileInfo[];
  /** Objects that a predicate, map function or the like fails for, each retried while all others pass; the first 100. */
  readonly failing: readonly FailingSourceObject[];
}
