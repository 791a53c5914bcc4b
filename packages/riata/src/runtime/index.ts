/**
 * The seams: time, chance, signals, logs, metrics and traces. Nothing else in Riata touches them directly.
 *
 * @module
 */
export { ByteChannel } from './byte-channel.js';
export { closeIdleSession } from './close-idle-session.js';
export { type CertificateRequest, readCertificateRequest } from './crypto/certificate-request.js';
export { type Authority, createAuthority, type Identity, loadAuthority, type Validity } from './crypto/x509.js';
export { listenProblem } from './listen-problem.js';
export { type ConsoleLoggerOptions, consoleLogger } from './log/console-logger.js';
export { describeError } from './log/describe-error.js';
export {
  createLogger,
  type LogFields,
  type Logger,
  type LogLevel,
  type LogSink,
  logLevels,
  silentLogger,
} from './log/logger.js';
export { type LogRecord, type MemoryLogger, memoryLogger } from './log/memory-logger.js';
export { type PinoLike, pinoLogger } from './log/pino-logger.js';
export { writeToStandardError } from './log/write-to-standard-error.js';
export {
  type Counter,
  type CounterSeries,
  type Gauge,
  type GaugeSeries,
  type Histogram,
  type HistogramSeries,
  type HistogramSpec,
  type Instrument,
  type Labels,
  type MemoryMetrics,
  type MetricSpec,
  type Metrics,
  memoryMetrics,
  noMetrics,
} from './metrics.js';
export { type OptionNames, optionNames, refuseUnknownOptions } from './option-names.js';
export { type Random, seededRandom, systemRandom } from './random.js';
export { defaultRuntime, type Runtime, resolveRuntime } from './runtime.js';
export {
  abortable,
  isAbortOf,
  type LinkedSignal,
  type LinkOptions,
  link,
  onAbort,
  throwIfAborted,
} from './signals.js';
export { SpdySession, SpdyStream } from './spdy/spdy-session.js';
export {
  isLostLease,
  isRemoved,
  isShutdown,
  isStopReason,
  isTimeout,
  LostLease,
  Removed,
  Shutdown,
  type StopKind,
  type StopReason,
  stopReason,
  Timeout,
} from './stop-reasons.js';
export type { Clock, Scheduler, Timer, TimerOptions } from './time/clock.js';
export { systemClock } from './time/system-clock.js';
export { TimeSlice } from './time/time-slice.js';
export { VirtualClock, type VirtualClockOptions } from './time/virtual-clock.js';
export { noSpan, noTracer, type Span, type SpanAttributes, type Tracer } from './tracing.js';
export { webSocketAccept, webSocketKey } from './websocket/handshake.js';
export {
  type BytePort,
  type WebSocketEnd,
  WebSocketError,
  type WebSocketEvents,
  WebSocketLink,
} from './websocket/web-socket.js';
