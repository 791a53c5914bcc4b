/**
 * Runs an operator process: lifecycle, leader election, probes and metrics (controller-runtime's `pkg/manager`).
 *
 * @module
 */

export type { Cluster, ClusterProvider, ClusterSet } from './clusters/cluster.js';
export type { CacheLag } from './debug/cache-lag.js';
export type { ConditionChange } from './debug/condition-log.js';
export type { ControllerGroup } from './debug/controller-group.js';
export type { DashboardOptions } from './debug/dashboard-options.js';
export type {
  CacheState,
  ClusterState,
  ControllerState,
  DebugState,
  DeltaEvent,
  FailingKey,
  LatencyState,
  RecordsEvent,
  SnapshotEvent,
  WaitingKey,
  WebhookState,
} from './debug/debug-state.js';
export type { FieldChange } from './debug/field-diff.js';
export type { LoggedWrite } from './debug/write-log.js';
export { type FenceOptions, fence, type WriteGuard } from './election/fence.js';
export { type ElectionOutcome, type ElectionRunOptions, LeaderElector } from './election/leader-elector.js';
export type { LeaderCallbacks, LeaderElectorOptions } from './election/leader-elector-options.js';
export { candidateIdentity, type LeaseClient, LeaseLock, type LeaseLockOptions } from './election/lease-lock.js';
export type { LeaderElectionRecord, LockOptions, LockState, ResourceLock } from './election/resource-lock.js';
export { EventBroadcaster, type EventBroadcasterOptions } from './events/event-broadcaster.js';
export type { CorrelatorOptions } from './events/event-correlator.js';
export type { EventSubject } from './events/event-notice.js';
export type { EventInput, EventRecorder } from './events/event-recorder.js';
export type { EventClient } from './events/event-sink.js';
export { isMain } from './is-main.js';
export type { ReplaceOptions } from './managed-controllers.js';
export { type Addable, type Added, type AddedController, isAddable, Manager } from './manager.js';
export type { ManagerExit } from './manager-exit.js';
export type { LeaderElectionOptions, ManagerOptions, MetricsServerOptions } from './manager-options.js';
export { type CertificateFiles, type CertificatePair, watchCertificateFiles } from './probes/certificate-files.js';
export type { HealthCheck, HealthReport } from './probes/health-checks.js';
export type { HttpEndpointOptions } from './probes/http-endpoint.js';
export { type PromClient, type PromRegistry, promMetrics } from './probes/prom-metrics.js';
export { run, signalHandler } from './run.js';
export { type Runnable, type RunnableStage, startOrder } from './runnable.js';
export type { ShardingOptions } from './sharding/manager-shards.js';
export type { ShardRingClient } from './sharding/shard-register.js';
export { type ShardChange, type ShardListener, ShardRing, type ShardRunOptions } from './sharding/shard-ring.js';
export type { ShardRingOptions } from './sharding/shard-ring-options.js';
export type {
  CertManagerOptions,
  OwnCertificateOptions,
  WebhookCertificateFiles,
  WebhookServerOptions,
  WebhookServiceOptions,
} from './webhook-options.js';
