/** The leader, as the lock records it (`resourcelock.LeaderElectionRecord`). Times are RFC 3339 with microseconds. */
export interface LeaderElectionRecord {
  /** `''` if the last leader has released the lease. */
  readonly holderIdentity: string;
  /** How long others wait after the last renewal that they have seen. */
  readonly leaseDurationSeconds: number;
  /** When this holder's term began, by its wall clock. Informational: no decision depends on it. */
  readonly acquireTime: string;
  /** When it was last renewed, by the holder's wall clock. Informational: no decision depends on it. */
  readonly renewTime: string;
  /** How often the holder has changed. */
  readonly leaderTransitions: number;
}

/** A record as it was read or stored. */
export interface LockState {
  readonly record: LeaderElectionRecord;
  /** Differs after each write to the lock, whichever client made it and whatever it changed. */
  readonly version: string;
}

/** How each call to a lock is made. */
export interface LockOptions {
  readonly signal?: AbortSignal;
}

/**
 * The lock that candidates for one leadership share (`resourcelock.Interface`). Writes must be compare-and-set: of two
 * that start from the same state, one fails with an error that `isConflict` (or, for `create`, `isAlreadyExists`)
 * recognises. `update` replaces exactly the state that the last call returned, and none newer.
 */
export interface ResourceLock {
  /** The identity of this candidate. No two processes may have the same. */
  readonly identity: string;
  /** The lock's name in messages: `Lease shop/operator`. */
  readonly description: string;
  /** The lock's name in metrics: `operator`. */
  readonly name: string;
  /** The current state, undefined if the lock does not exist. */
  get(options?: LockOptions): Promise<LockState | undefined>;
  create(record: LeaderElectionRecord, options?: LockOptions): Promise<LockState>;
  update(record: LeaderElectionRecord, options?: LockOptions): Promise<LockState>;
}
