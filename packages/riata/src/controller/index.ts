/**
 * Controllers: what they watch, which changes matter, and the loop that reconciles (controller-runtime's `pkg/controller`).
 *
 * @module
 */
export type { ActiveReconcileInfo } from './active-reconcile.js';
export { lowPriority } from './change-intake.js';
export { type Channel, type ChannelItem, type ChannelSourceOptions, channelSource } from './channel-source.js';
export {
  ControlBuilder,
  control,
  type HandledBy,
  type OwnsOptions,
  type ReferencedBy,
  type WatchOptions,
} from './control.js';
export { Controller, type ControllerHealth, type ControllerPhase, type ControllerWork } from './controller.js';
export type { ControllerOptions, RequestQueueOptions } from './controller-options.js';
export {
  type CreateOrOptions,
  createOrPatch,
  createOrUpdate,
  type Draft,
  type MutateFn,
  type OperationOutcome,
  type OperationResult,
} from './create-or-update.js';
export { type CronSchedule, parseCron } from './cron-schedule.js';
export { type CronSourceOptions, cronSource } from './cron-source.js';
export type { ControllerPlace } from './defined-reconciler.js';
export {
  type ControllerDefinition,
  type ControlOptions,
  type FinalizeDefinition,
  type IndexDefinition,
  kindsOf,
  type MapFunc,
  type References,
  type SourceParts,
  type WatchDefinition,
} from './definition.js';
export { type ControllerParts, controllerFor, DefinedController } from './definition-controller.js';
export {
  type Enqueue,
  type EventHandler,
  enqueueRequestForObject,
  enqueueRequestForOwner,
  enqueueRequestsFromMap,
  handlerFuncs,
  type OwnerOptions,
} from './event-handler.js';
export { type FinalizeResult, type Finalizer, Finalizers } from './finalizer-registry.js';
export { informerSource } from './informer-source.js';
export { type IntervalSourceOptions, intervalSource } from './interval-source.js';
export type { KeyGate } from './key-gate.js';
export { type KindSourceOptions, kindSource } from './kind-source.js';
export { isNotInShard, NotInShard } from './not-in-shard.js';
export { type PollerSourceOptions, pollerSource } from './poller-source.js';
export {
  and,
  annotationsChanged,
  changed,
  generationChanged,
  labelsChanged,
  matchesLabels,
  not,
  or,
  type Predicate,
  predicateFuncs,
  resourceVersionChanged,
} from './predicate.js';
export { PushChannel } from './push-channel.js';
export type {
  OwnedApply,
  ReconcileContext,
  ReconcileEvent,
  StatusCondition,
  StatusFields,
} from './reconcile-context.js';
export type { ReconcileOutcome, ReconcileRecord, ReconcileWrite } from './reconcile-record.js';
export type { ReconcileRun, Reconciler, ReconcilerObject } from './reconciler.js';
export type { Cause, Request, RequestQueue } from './request.js';
export type { Result } from './result.js';
export {
  type Backoff,
  defaultBackoff,
  defaultRetry,
  type RetryOptions,
  retryOnConflict,
  retryOnError,
} from './retry.js';
export type { Source, SourceOptions, SyncingSource } from './source.js';
export type { FailingSource, FailingSourceObject, SourceFailures } from './source-failures.js';
export { isTerminalError, TerminalError } from './terminal-error.js';
export { allOf, type TimedKeys } from './timed-keys.js';
export { type WaitForOptions, type WaitSource, waitFor, waitForCondition, waitForDeletion } from './wait-for.js';
export { isWaitTimeout, WaitTimeoutError, type WaitTimeoutParts } from './wait-timeout-error.js';
