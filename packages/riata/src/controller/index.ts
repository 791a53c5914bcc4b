/**
 * Controllers: what they watch, which changes matter, and the loop that reconciles (controller-runtime's `pkg/controller`).
 *
 * @module
 */

export {
  ControlBuilder,
  control,
  type HandledBy,
  type OwnsOptions,
  type ReferencedBy,
  type WatchOptions,
} from './define/control.js';
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
} from './define/controller-definition.js';
export {
  type ControllerParts,
  controllerFor,
  DefinedController,
  type ReplaceScope,
} from './define/defined-controller.js';
export type { ControllerPlace } from './define/defined-reconciler.js';
export { reconcileAnnotations } from './define/pausing.js';
export type {
  OwnedApply,
  ReconcileContext,
  ReconcileEvent,
  StatusCondition,
  StatusFields,
} from './define/reconcile-context.js';
export type { ActiveReconcileInfo } from './loop/active-reconcile.js';
export { Controller } from './loop/controller.js';
export type { ControllerHealth, ControllerPhase } from './loop/controller-health.js';
export type { ControllerOptions, ControllerWork, RequestQueueOptions } from './loop/controller-options.js';
export type { KeyGate } from './loop/key-gate.js';
export { isNotInShard, NotInShard } from './loop/not-in-shard.js';
export type { ReconcileOutcome, ReconcileRecord, ReconcileWrite } from './loop/reconcile-record.js';
export type { ReconcileRun, Reconciler, ReconcilerObject } from './loop/reconciler.js';
export { type Cause, describeCause, type Request, type RequestQueue } from './loop/request.js';
export { isRestartRequired, RestartRequiredError } from './loop/restart-required-error.js';
export type { Result } from './loop/result.js';
export { isTerminalError, TerminalError } from './loop/terminal-error.js';
export { lowPriority } from './source/change-intake.js';
export { type Channel, type ChannelSourceOptions, channelSource } from './source/channel-source.js';
export { type CronSchedule, parseCron } from './source/cron-schedule.js';
export { type CronSourceOptions, cronSource } from './source/cron-source.js';
export {
  type Enqueue,
  type EventHandler,
  enqueueRequestForObject,
  enqueueRequestForOwner,
  enqueueRequestsFromMap,
  handlerFuncs,
  type OwnerOptions,
} from './source/event-handler.js';
export { informerSource } from './source/informer-source.js';
export { type IntervalSourceOptions, intervalSource } from './source/interval-source.js';
export { type KindSourceOptions, kindSource } from './source/kind-source.js';
export { type PollerSourceOptions, pollerSource } from './source/poller-source.js';
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
} from './source/predicate.js';
export { type ChannelItem, PushChannel } from './source/push-channel.js';
export type { Source, SourceOptions, SyncingSource } from './source/source.js';
export type { FailingSource, FailingSourceObject, SourceFailures } from './source/source-failures.js';
export { allOf, type TimedKeys } from './source/timed-keys.js';
export {
  type CreateOrOptions,
  createOrPatch,
  createOrUpdate,
  type Draft,
  type MutateFn,
  type OperationOutcome,
  type OperationResult,
} from './utilities/create-or-update.js';
export { type FinalizeResult, type Finalizer, Finalizers } from './utilities/finalizers.js';
export {
  type Backoff,
  defaultBackoff,
  defaultRetry,
  type RetryOptions,
  retryOnConflict,
  retryOnError,
} from './utilities/retry-on-error.js';
export {
  type WaitForOptions,
  type WaitSource,
  waitFor,
  waitForCondition,
  waitForDeletion,
} from './utilities/wait-for.js';
export { isWaitTimeout, WaitTimeoutError, type WaitTimeoutParts } from './utilities/wait-timeout-error.js';
