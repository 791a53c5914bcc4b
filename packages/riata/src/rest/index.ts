/**
 * Where the cluster is, who one is there, requests, errors, and lists and watches as streams of objects (client-go's `rest`).
 *
 * @module
 */

export { ExecPluginError, isExecPluginError } from './auth/exec-plugin-error.js';
export { anonymous, type StaticCredentialsOptions, staticCredentials } from './auth/static-credentials.js';
export { type BackoffManager, noBackoff, type UrlBackoffOptions, urlBackoff } from './chain/backoff-manager.js';
export { defaultUserAgent } from './chain/default-headers.js';
export { alwaysRateLimiter, neverRateLimiter, type RateLimiter, tokenBucketRateLimiter } from './chain/rate-limiter.js';
export {
  collectedWarnings,
  dedupedWarnings,
  noWarnings,
  type Warning,
  type WarningHandler,
  warningLogger,
} from './chain/warnings.js';
export {
  ConfigError,
  type ConfigErrorReason,
  type ConfigPlace,
  isConfigError,
} from './config/config-error.js';
export { type ConfigOverrides, configFromKubeconfig, type KubeconfigOptions } from './config/config-from-kubeconfig.js';
export { type InClusterOptions, inClusterConfig } from './config/in-cluster-config.js';
export type {
  Kubeconfig,
  KubeconfigCluster,
  KubeconfigContext,
  KubeconfigExec,
  KubeconfigUser,
} from './config/kubeconfig.js';
export { type KubeconfigForOptions, kubeconfigFor } from './config/kubeconfig-for.js';
export { type LoadConfigOptions, loadConfig } from './config/load-config.js';
export type {
  CachedCredentials,
  Credentials,
  Impersonation,
  Pem,
  RestConfig,
  TlsMaterial,
} from './config/rest-config.js';
export type { AuthOptions } from './config/user-credentials.js';
export {
  ApiError,
  type ApiErrorContext,
  apiErrorFrom,
  type ErrorAnswer,
  findApiError,
  isApiError,
} from './errors/api-error.js';
export { DecodeError, isDecodeError } from './errors/decode-error.js';
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
} from './errors/error-guards.js';
export { isRequestTimeout, RequestTimeout } from './errors/request-timeout.js';
export { type KnownStatusReason, type StatusReason, statusReasons } from './errors/status-reason.js';
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
} from './errors/transport-error.js';
export { defaultParameterCodec, type ParameterCodec } from './request/parameter-codec.js';
export type { SendOptions } from './request/request-spec.js';
export { type ExchangeOptions, RestRequest } from './request/rest-request.js';
export { RestResult } from './request/rest-result.js';
export { type PatchType, patchTypes, RestClient, type RestClientOptions } from './rest-client.js';
export type { Exchanger, ExchangerOptions } from './stream/body-reader.js';
export { ByteStream } from './stream/byte-stream.js';
export { type ListDecodeOptions, ListDecoder, type ListEnd } from './stream/list-decoder.js';
export {
  type ListPageFn,
  ListPager,
  type ListPagerOptions,
  type PagedList,
  type PageOptions,
} from './stream/list-pager.js';
export { ListStream, type ListStreamOptions, listStream } from './stream/list-stream.js';
export type { NamedExchanger, StreamOrigin } from './stream/stream-origin.js';
export type { ElementTimer } from './stream/stream-timer.js';
export { type WatchDecodeOptions, WatchDecoder } from './stream/watch-decoder.js';
export type { Bookmark, WatchEvent, WatchEventType } from './stream/watch-event.js';
export { type WatchConsumer, WatchStream, type WatchStreamOptions, watchStream } from './stream/watch-stream.js';
export { defaultTransport } from './transport/default-transport.js';
export { type ProxyEnvironment, proxyFromEnvironment } from './transport/http/proxy-environment.js';
export { httpTransport } from './transport/http-transport.js';
export type { HttpTransport, HttpTransportOptions, HttpTransportStats } from './transport/http-transport-options.js';
export { nodeTransport } from './transport/node-transport.js';
export {
  type Script,
  type ScriptedAnswer,
  type ScriptedChunk,
  type ScriptedRequest,
  type ScriptedTransport,
  type ScriptedTransportOptions,
  scriptedFailure,
  scriptedTransport,
} from './transport/scripted-transport.js';
export type {
  ResponseHeaders,
  Transport,
  TransportFlow,
  TransportRequest,
  TransportSink,
} from './transport/transport.js';
