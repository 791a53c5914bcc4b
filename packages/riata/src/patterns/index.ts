/** Ways to write controllers over those that are shared: typed controllers, status and generating handlers, desired sets (wrangler). */
export {
  type ComputeStatusOptions,
  computeStatus,
  type ObjectState,
  type ObjectStatusResult,
} from './compute-status.js';
export { Cond, type CondUpdate } from './cond.js';
export { ConditionError } from './condition-error.js';
export {
  Reconciling,
  Stalled,
  setStatusActive,
  setStatusError,
  setStatusTransitioning,
} from './kstatus-conditions.js';
export type { SetApplier, SetApplyOptions } from './set-applier.js';
