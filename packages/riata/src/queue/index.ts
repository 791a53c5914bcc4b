/**
 * Workqueues: each key once, one worker at a time, delayed, limited and ordered. Knows keys, not Kubernetes.
 *
 * @module
 */
export {
  type BucketOptions,
  bucketRateLimiter,
  defaultControllerRateLimiter,
  type ItemExponentialFailureOptions,
  type ItemFastSlowOptions,
  type ItemRateLimiter,
  itemExponentialFailureRateLimiter,
  itemFastSlowRateLimiter,
  maxOfRateLimiter,
  type RateLimiterContext,
  withMaxWaitRateLimiter,
} from './item-rate-limiter.js';
export type { WorkItem } from './queue-entry.js';
export { WorkQueue } from './work-queue.js';
export type {
  AddOptions,
  PriorityOptions,
  WaitOptions,
  WorkQueueArguments,
  WorkQueueOptions,
} from './work-queue-options.js';
