/**
 * Where the cluster is, who one is there, requests, errors, and lists and watches as streams of objects (client-go's `rest`).
 *
 * @module
 */
export {
  ApiError,
  type ApiErrorContext,
  apiErrorFrom,
  type ErrorAnswer,
  findApiError,
  isApiError,
} from './api-error.js';
export { ExecPluginError, isExecPluginError } from './auth/exec-plugin-error.js';
export { anonymous, type StaticCredentialsOptions, staticCredentials } from './auth/static.js';
export { type BackoffManager, noBackoff, type UrlBackoffOptions, urlBackoff } from './backoff-manager.js';
export type { Exchanger, ExchangerOptions } from './body-reader.js';
export { ByteStream } from './byte-stream.js';
export {
  ConfigError,
  type ConfigErrorReason,
  type ConfigPlace,
  isConfigError,
} from './config/config-error.js';
export { type ConfigOverrides, configFromKubeconfig, type KubeconfigOptions } from './config/config-from-kubeconfig.js';
export { type InClusterOptions, inClusterConfig } from './config/in-cluster.js';
export type {
  Kubeconfig,
  KubeconfigCluster,
  KubeconfigContext,
  KubeconfigExec,
  KubeconfigUser,
} from './config/kubeconfig.js';
export { type KubeconfigForOptions, kubeconfigFor } from './config/kubeconfig-for.js';
export { type LoadConfigOptions, loadConfig } from './config/load-config.js';
export type { AuthOptions } from './config/user-credentials.js';
export type { Credentials, CredentialsAtHand, Impersonation, Pem, RestConfig, TlsMaterial } from './config.js';
export { DecodeError, isDecodeError } from './decode-error.js';
export {
  hasStatusCause,
  ignoreAlreadyExists,
  ignoreConflict,
  ignoreGone,
  ignoreNotFound,
  isAlreadyExists,
  isBadRequest,
  isConflict,
  isFieldManagerConflict,
  isForbidden,
  isGone,
  isInternalError,
  isInvalid,
  isMethodNotSupported,
  isNamespaceTerminating,
  isNotAcceptable,
  isNotFound,
  isRequestEntityTooLarge,
  isResourceExpired,
  isServerTimeout,
  isServiceUnavailable,
  isStoreReadError,
  isTimeout,
  isTooLargeResourceVersion,
  isTooManyRequests,
  isUnauthorized,
  isUnexpectedServerError,
  isUnsupportedMediaType,
  reasonForError,
  statusCause,
  suggestsClientDelay,
} from './error-guards.js';
export { type ProxyEnvironment, proxyFromEnvironment } from './http/proxy-environment.js';
export {
  type HttpTransport,
  type HttpTransportOptions,
  type HttpTransportStats,
  httpTransport,
} from './http-transport.js';
export { type ListDecodeOptions, ListDecoder, type ListEnd } from './list-decoder.js';
export { ListStream, type ListStreamOptions, listStream } from './list-stream.js';
export { type ListPageFn, ListPager, type ListPagerOptions, type PagedList, type PageOptions } from './pager.js';
export { defaultParameterCodec, type ParameterCodec } from './parameter-codec.js';
export { alwaysRateLimiter, neverRateLimiter, type RateLimiter, tokenBucketRateLimiter } from './rate-limiter.js';
export { type ExchangeOptions, RestRequest, type SendOptions } from './request.js';
export { type PatchType, patchTypes, RestClient, type RestClientOptions } from './rest-client.js';
export { RestResult } from './result.js';
export {
  type Script,
  type ScriptedAnswer,
  type ScriptedChunk,
  type ScriptedRequest,
  type ScriptedTransport,
  type ScriptedTransportOptions,
  scriptedFailure,
  scriptedTransport,
} from './scripted-transport.js';
export { type KnownStatusReason, type StatusReason, statusReasons } from './status-reason.js';
export type { NamedExchanger, StreamOrigin } from './stream-origin.js';
export type { ResponseHeaders, Transport, TransportFlow, TransportRequest, TransportSink } from './transport.js';
export {
  isConnectError,
  isConnectionRefused,
  isConnectionReset,
  isProbableEof,
  isTimeoutError,
  isTlsError,
  isTransportError,
  TransportError,
  type TransportErrorKind,
  type TransportErrorOptions,
} from './transport-error.js';
export { defaultUserAgent } from './user-agent.js';
export {
  collectedWarnings,
  dedupedWarnings,
  noWarnings,
  type Warning,
  type WarningHandler,
  warningLogger,
} from './warnings.js';
export { type WatchDecodeOptions, WatchDecoder } from './watch-decoder.js';
export type { Bookmark, WatchEvent, WatchEventType } from './watch-event.js';
export { type WatchConsumer, WatchStream, type WatchStreamOptions, watchStream } from './watch-stream.js';
export { isRequestTimeout, RequestTimeout } from './with-deadline.js';
