import { describeError } from './describe-error.js';
import type { LogFields, Logger, LogLevel } from './logger.js';

/** The part of a pino logger that {@link pinoLogger} calls. */
export interface PinoLike {
  trace(fields: object, message: string): void;
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: Record<string, unknown>): PinoLike;
  isLevelEnabled(level: string): boolean;
}

/**
 * Writes to a pino logger, whose level and format stay its own. pino renders only errors named `err`; here any field
 * may be one and becomes `{ type, message, stack }`, the message holding all causes.
 *
 * @example
 * const manager = await Manager.create({ runtime: { log: pinoLogger(pino()) } });
 */
export function pinoLogger(pino: PinoLike): Logger {
  const at = (level: LogLevel) => (message: string, fields?: LogFields) => pino[level](plainFields(fields), message);
  return Object.freeze({
    trace: at('trace'),
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields: LogFields) => pinoLogger(pino.child(plainFields(fields))),
    enabled: (level: LogLevel) => pino.isLevelEnabled(level),
  });
}

function plainFields(fields: LogFields | undefined): Record<string, unknown> {
  const given = fields ?? {};
  return Object.fromEntries(Object.keys(given).map((key) => [key, plainValue(given, key)]));
}

function plainValue(fields: LogFields, key: string): unknown {
  try {
    const value = fields[key];
    return value instanceof Error ? { type: value.name, message: describeError(value), stack: value.stack } : value;
  } catch (error) {
    return `[unreadable: ${describeError(error)}]`;
  }
}
