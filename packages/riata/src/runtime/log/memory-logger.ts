import { createLogger, type LogFields, type Logger, type LogLevel } from './logger.js';

/** One message that a {@link MemoryLogger} has recorded. */
export interface LogRecord {
  readonly level: LogLevel;
  readonly message: string;
  /** The message's own fields and those of the child loggers it went through. */
  readonly fields: LogFields;
}

/** A logger that records messages. Children write to the same list. */
export interface MemoryLogger extends Logger {
  /** All records so far, oldest first. */
  readonly records: readonly LogRecord[];
  /** The messages so far, of one level or of all. */
  messages(level?: LogLevel): string[];
  /** Forgets the records. */
  clear(): void;
}

/** Keeps messages from `level` up, for tests that ask what was logged. */
export function memoryLogger(level: LogLevel = 'trace'): MemoryLogger {
  const records: LogRecord[] = [];
  const logger = createLogger((own, message, fields) => records.push({ level: own, message, fields }), level);
  return Object.freeze({
    ...logger,
    records,
    messages: (own?: LogLevel) =>
      records.filter((record) => own === undefined || record.level === own).map((record) => record.message),
    clear: () => {
      records.length = 0;
    },
  });
}
