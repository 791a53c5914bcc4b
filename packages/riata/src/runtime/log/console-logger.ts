import { optionNames, refuseUnknownOptions } from '../option-names.js';
import type { Clock } from '../time/clock.js';
import { systemClock } from '../time/system-clock.js';
import { formatText, formatValue } from './format-value.js';
import { createLogger, type LogFields, type Logger, type LogLevel } from './logger.js';
import { writeToStandardError } from './write-to-standard-error.js';

/** How {@link consoleLogger} writes. */
export interface ConsoleLoggerOptions {
  /** Messages below this level are dropped. @default 'info' */
  readonly level?: LogLevel;
  /** Gives the time at the start of each line. @default systemClock */
  readonly clock?: Clock;
  /** Takes each line, without its line end. @default writes to standard error */
  readonly write?: (line: string) => void;
}

export const consoleLoggerOptionNames = optionNames<ConsoleLoggerOptions>({ level: true, clock: true, write: true });

/**
 * One readable line per message:
 * `2026-01-01T00:00:00.000Z INFO  cache synced kind=Pod objects=5000 took="1.2 s"`.
 */
export function consoleLogger(options: ConsoleLoggerOptions = {}): Logger {
  refuseUnknownOptions('consoleLogger', options, consoleLoggerOptionNames);
  const { level = 'info', clock = systemClock, write = (line) => writeToStandardError(`${line}\n`) } = options;
  return createLogger((own, message, fields) => {
    const time = new Date(clock.now()).toISOString();
    write(`${time} ${own.toUpperCase().padEnd(5)} ${formatText(String(message))}${formatFields(fields)}`);
  }, level);
}

function formatFields(fields: LogFields): string {
  let text = '';
  for (const key of Object.keys(fields)) {
    let value: unknown;
    try {
      value = fields[key];
    } catch (error) {
      value = error;
    }
    if (value !== undefined) text += ` ${formatText(key)}=${formatValue(value)}`;
  }
  return text;
}
