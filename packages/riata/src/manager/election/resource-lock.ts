/** Who leads, as it stands in the lock (`resourcelock.LeaderElectionRecord`). Times are RFC 3339 with microseconds. */
export interface LeaderElectionRecord {
  /** `''`: nobody; the last leader has given the lease up. */
  readonly holderIdentity: string;
  /** How long others wait after the last renewal that they have seen. */
  readonly leaseDurationSeconds: number;
  /** When this holder's term began, by its wall clock. For people to read: nobody decides by it. */
  readonly acquireTime: string;
  /** When it was last renewed, by the holder's wall clock. For people to read: nobody decides by it. */
  readonly renewTime: string;
  /** How often the holder has changed. */
  readonly leaderTransitions: number;
}

/** A record as it was read or stored. */
export interface LockState {
  readonly record: LeaderElectionRecord;
  /** Another text after each write to the lock, whoever made it and whatever it changed. */
  readonly version: string;
}

/** How each call to a lock is made. */
export interface LockOptions {
  readonly signal?: AbortSignal;
}

/**
 * Where candidates for one leadership meet (`resourcelock.Interface`). Writes must be compare-and-set: of two that start
 * from the same state, one fails with an error that `isConflict` (or, for `create`, `isAlreadyExists`) knows. The lock
 * stands on what it was told last: `update` replaces the state that the last call gave, and none newer.
 */
export interface ResourceLock {
  /** What this candidate is called. No other process may have the same. */
  readonly identity: string;
  /** What the lock is, for messages: `Lease shop/operator`. */
  readonly description: string;
  /** What metrics call it: `operator`. */
  readonly name: string;
  /** The state of now, undefined if there is none. */
  get(options?: LockOptions): Promise<LockState | undefined>;
  create(record: LeaderElectionRecord, options?: LockOptions): Promise<LockState>;
  update(record: LeaderElectionRecord, options?: LockOptions): Promise<LockState>;
}
