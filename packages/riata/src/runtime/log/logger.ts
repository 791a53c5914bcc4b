/** From the most talkative to the gravest. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error'] as const;

/** One of {@link logLevels}. */
export type LogLevel = (typeof logLevels)[number];

/**
 * The details of a message, by name. An error among them is shown with its causes; by convention it is named `error`.
 */
export type LogFields = Readonly<Record<string, unknown>>;

/**
 * Where Riata writes what it does. The message is a constant sentence, what varies goes into the fields. A logger
 * never throws. Go: `logr.Logger`; `child` is its `WithValues`.
 */
export interface Logger {
  /** Every step, to look for a bug in Riata itself. */
  trace(message: string, fields?: LogFields): void;
  /** Helps to understand one run of a program. */
  debug(message: string, fields?: LogFields): void;
  /** What an operator needs to know of a healthy run. */
  info(message: string, fields?: LogFields): void;
  /** Something went wrong and is being dealt with. */
  warn(message: string, fields?: LogFields): void;
  /** Something failed and needs attention. */
  error(message: string, fields?: LogFields): void;
  /** A logger that adds these fields to every message; a field given with the message itself wins. */
  child(fields: LogFields): Logger;
  /** Whether messages of this level go anywhere: ask before building costly fields. */
  enabled(level: LogLevel): boolean;
}

/** Takes one message that is meant to be seen. `fields` holds those of the children too. */
export type LogSink = (level: LogLevel, message: string, fields: LogFields) => void;

const noFields: LogFields = Object.freeze({});

/**
 * Makes a {@link Logger} from one function. Messages below `level` never reach it. If it throws, the message is
 * dropped: work does not fail because a disk is full.
 */
export function createLogger(sink: LogSink, level: LogLevel, base: LogFields = noFields): Logger {
  const lowest = logLevels.indexOf(level);
  if (lowest < 0) throw new TypeError(`logger: level must be one of ${logLevels.join(', ')}, got ${String(level)}`);
  const enabled = (asked: LogLevel): boolean => logLevels.indexOf(asked) >= lowest;
  const at = (own: LogLevel) => {
    if (!enabled(own)) return () => {};
    return (message: string, fields?: LogFields | null): void => {
      try {
        sink(own, message, !fields ? base : base === noFields ? fields : mergeFields(base, fields));
      } catch {
        // There is nowhere else to report it.
      }
    };
  };
  return Object.freeze({
    trace: at('trace'),
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields: LogFields) => createLogger(sink, level, mergeFields(base, fields)),
    enabled,
  });
}

/** Carries accessors over as they are: reading one may throw, which is for the sink to show. */
function mergeFields(base: LogFields, fields: LogFields): LogFields {
  const merged: Record<string, unknown> = {};
  Object.defineProperties(merged, Object.getOwnPropertyDescriptors(base));
  Object.defineProperties(merged, Object.getOwnPropertyDescriptors(fields));
  return merged;
}

/** Drops everything. */
export const silentLogger: Logger = Object.freeze({
  trace() {},
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLogger,
  enabled: () => false,
});
