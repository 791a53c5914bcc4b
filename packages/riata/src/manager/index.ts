/**
 * What keeps an operator process going: lifecycle, leader election, probes and metrics (controller-runtime's `pkg/manager`).
 *
 * @module
 */

export type { CertificateFiles } from './certificate-files.js';
export type { Cluster, ClusterProvider, ClusterSet } from './clusters.js';
export { EventBroadcaster, type EventBroadcasterOptions } from './event-broadcaster.js';
export type { CorrelatorOptions } from './event-correlator.js';
export type { EventSubject } from './event-notice.js';
export type { EventInput, EventRecorder } from './event-recorder.js';
export type { EventClient } from './event-sink.js';
export { type FenceOptions, fence, type WriteGuard } from './fence.js';
export type { HealthCheck, HealthReport } from './health-checks.js';
export type { HttpEndpointOptions } from './http-endpoint.js';
export { type ElectionOutcome, type ElectionRunOptions, LeaderElector } from './leader-elector.js';
export type { LeaderCallbacks, LeaderElectorOptions } from './leader-elector-options.js';
export { candidateIdentity, type LeaseClient, LeaseLock, type LeaseLockOptions } from './lease-lock.js';
export { type Added, Manager } from './manager.js';
export type { ManagerExit } from './manager-exit.js';
export type { LeaderElectionOptions, ManagerOptions, MetricsServerOptions } from './manager-options.js';
export type { ShardingOptions } from './manager-shards.js';
export { type PromClient, type PromRegistry, promMetrics } from './prom-metrics.js';
export type { LeaderElectionRecord, LockOptions, LockState, ResourceLock } from './resource-lock.js';
export { run, signalHandler } from './run.js';
export { type Runnable, type RunnableStage, startOrder } from './runnable.js';
export type { ShardRingClient } from './shard-register.js';
export { type ShardChange, type ShardListener, ShardRing, type ShardRunOptions } from './shard-ring.js';
export type { ShardRingOptions } from './shard-ring-options.js';
