/**
 * The client: every verb on every kind, wrappers around it, discovery (controller-runtime's `pkg/client`).
 *
 * @module
 */

export type { ApplyFields } from './apply-fields.js';
export { type ClientOptions, ConnectedClient, createClient } from './create-client.js';
export { type DelegatingClientParts, delegatingClient } from './delegating-client.js';
export {
  type ApiGroup,
  type ApiResource,
  Discovery,
  type ServerResources,
  type ServerVersion,
} from './discovery/discovery.js';
export { type DiscoveredKind, isNoMatch, NoMatchError, RestMapper } from './discovery/rest-mapper.js';
export type {
  AppliedAt,
  At,
  Client,
  Explicit,
  FieldIndexer,
  FieldManagerRequired,
  FieldOwned,
  ForwardTo,
  Implied,
  InNamespace,
  Key,
  LogSelection,
  NamespaceRequired,
  Placement,
  ProxyTo,
  Reader,
  StatusClient,
  StatusWriter,
  SubResourceClient,
  WriteObject,
  Writer,
} from './interfaces.js';
export { KubeClient, type KubeClientParts } from './kube-client.js';
export {
  type Answers,
  isDryRun,
  isWrite,
  type Operation,
  type Run,
  type Verb,
  type WriteVerb,
} from './operation/operation.js';
export type { PodLogOptions } from './operation/pod-log-operation.js';
export type { OnWriteOptions, Write, WriteListener } from './operation/write-hook.js';
export type {
  ApplyOptions,
  CallOptions,
  CreateOptions,
  DeleteCollectionOptions,
  DeleteOptions,
  FieldValidation,
  GetOptions,
  ListOptions,
  PagesOptions,
  PatchOptions,
  Preconditions,
  Propagation,
  Selection,
  UpdateOptions,
  WatchOptions,
  WriteOptions,
} from './options.js';
export {
  jsonPatchFrom,
  type MergeBody,
  type MergePatchBody,
  mergeFrom,
  type Patch,
  type PatchFromOptions,
  strategicMergeFrom,
} from './patch.js';
export type { Copied, CopyOptions, CopyProgress } from './stream/copy/copy.js';
export { fromLocal, inPod, type LocalPlace, type PodPlace, toLocal } from './stream/copy/copy-place.js';
export { type DebugOptions, DebugSession } from './stream/debug-session.js';
export { ExecCall } from './stream/exec-call.js';
export { ExecError, type ExecErrorParts, isExecError } from './stream/exec-error.js';
export type { ExecOptions, Input } from './stream/exec-options.js';
export { type ExecInput, type ExecResult, ExecSession } from './stream/exec-session.js';
export { Forward, type ForwardedPort, type ForwardOptions } from './stream/forward.js';
export type { LogLine, MergedLogOptions, MergedLogs } from './stream/merged-logs.js';
export type { ProxyOptions } from './stream/proxy/proxy.js';
export { ProxyCall } from './stream/proxy/proxy-call.js';
export { isProxyError, ProxyError } from './stream/proxy/proxy-error.js';
export type { ProxyQuery } from './stream/proxy/proxy-path.js';
export { ProxyResponse } from './stream/proxy/proxy-response.js';
export type { Table, TableColumn, TableRow } from './table.js';
export { lines } from './watch/lines.js';
export {
  RetryingWatch,
  type RetryingWatchEvent,
  type RetryingWatchOptions,
  type RetryingWatchSource,
} from './watch/retrying-watch.js';
export {
  dryRun,
  type Interceptor,
  impersonating,
  inNamespace,
  intercept,
  withFieldOwner,
  withFieldValidation,
  withUserAgent,
} from './wrappers.js';
