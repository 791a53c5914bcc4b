/** Leader election and fencing; later the manager itself. */
export { type FenceOptions, fence, type WriteGuard } from './fence.js';
export { type ElectionOutcome, type ElectionRunOptions, LeaderElector } from './leader-elector.js';
export type { LeaderCallbacks, LeaderElectorOptions } from './leader-elector-options.js';
export { candidateIdentity, type LeaseClient, LeaseLock, type LeaseLockOptions } from './lease-lock.js';
export type { LeaderElectionRecord, LockOptions, LockState, ResourceLock } from './resource-lock.js';
