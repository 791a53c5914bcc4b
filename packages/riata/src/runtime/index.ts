/**
 * The seams: time, chance, signals, logs, metrics and traces. Nothing else in Riata touches them directly.
 *
 * @module
 */
export { type CertificateRequest, readCertificateRequest } from './certificate-request.js';
export type { Clock, Scheduler, Timer, TimerOptions } from './clock.js';
export { type ConsoleLoggerOptions, consoleLogger } from './console-logger.js';
export { describeError } from './describe-error.js';
export { listenProblem } from './listen-problem.js';
export {
  createLogger,
  type LogFields,
  type Logger,
  type LogLevel,
  type LogSink,
  logLevels,
  silentLogger,
} from './logger.js';
export { type LogRecord, type MemoryLogger, memoryLogger } from './memory-logger.js';
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
export { type PinoLike, pinoLogger } from './pino-logger.js';
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
export { writeToStandardError } from './standard-error.js';
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
export { systemClock } from './system-clock.js';
export { noSpan, noTracer, type Span, type SpanAttributes, type Tracer } from './tracing.js';
export { VirtualClock, type VirtualClockOptions } from './virtual-clock.js';
export { type Authority, createAuthority, type Identity, loadAuthority, type Validity } from './x509.js';
export { leaveYoungGeneration } from './young-generation.js';
