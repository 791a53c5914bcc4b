/**
 * A Kubernetes API server in this process, with or without a socket.
 *
 * @module
 */
export type { AdmissionOperation, AdmissionOptions } from './admission/admission.js';
export {
  type AdmissionReviewRequest,
  type AdmissionReviewResponse,
  admissionWebhook,
} from './admission/webhook/admission-webhook.js';
export { type ActingAs, ApiServer, type InProcessConfig, type Listening } from './api-server.js';
export type {
  ApiServerOptions,
  ConnectOptions,
  ListenOptions,
  RestartOptions,
  SuspendOptions,
} from './api-server-options.js';
export type { AuditEvent, AuditObjectReference, AuditSink } from './audit/audit-event.js';
export { auditFile } from './audit/audit-file.js';
export { auditFromFiles } from './audit/audit-from-files.js';
export type { AuditOptions } from './audit/audit-log.js';
export type { AuditLevel, AuditPolicy, AuditResources, AuditRule, AuditStage } from './audit/audit-policy.js';
export { AuditStream } from './audit/audit-stream.js';
export { readAuditPolicy } from './audit/read-audit-policy.js';
export type { ServiceAccountIdentity, UserIdentity } from './authentication/identity.js';
export type {
  ContainerIo,
  ContainerRuntime,
  LogRequest,
  PodConnection,
  PodObject,
  ProcessEnd,
} from './containers/container-runtime.js';
export {
  type Fault,
  type FaultAnswer,
  type FaultEvent,
  type FaultPoint,
  type FaultRates,
  type FaultRequest,
  type Faults,
  randomFaults,
} from './faults.js';
export { adminKubeconfig, type KubeconfigParts } from './http/admin-kubeconfig.js';
export { InProcessTransport, type InProcessTransportOptions } from './http/in-process/in-process-transport.js';
export { ServerSnapshot } from './server-snapshot.js';
export { DataDirectoryError } from './storage/durable/data-directory-error.js';
export { MemoryStorage, type MemoryStorageOptions } from './storage/memory-storage.js';
export {
  CompactedError,
  type Seed,
  type Storage,
  type StorageEvent,
  type StorageSnapshot,
  type Stored,
} from './storage/storage.js';
export type { InProcessHandler } from './webhook-client/in-process-handlers.js';
export type { ResolveService, ServiceAddress, ServiceReference } from './webhook-client/service-resolver.js';
