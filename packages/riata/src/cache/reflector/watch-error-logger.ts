import { describeError } from '../../runtime/log/describe-error.js';
import type { Logger } from '../../runtime/log/logger.js';
import { isReflectorError } from './reflector-error.js';
import type { ReflectorHealth } from './reflector-options.js';
import { isLost } from './watch-verdict.js';

/**
 * Logs why listing and watching fails (`cache.DefaultWatchErrorHandler`): at first and when it changes as a warning, or
 * as an error if it needs an operator; repetitions as debug. The default of every informer; a custom handler can call
 * this first.
 */
export function watchErrorLogger(log: Logger): (error: unknown, health: ReflectorHealth) => void {
  /** By informer: the last message, so that it is not repeated. */
  const said = new Map<string, string>();
  return (error, { name, consecutiveFailures: failures }) => {
    const text = describeError(error);
    const isNew = failures <= 1 || said.get(name) !== text;
    said.set(name, text);
    const level = !isNew ? 'debug' : isLost(error) ? 'info' : isReflectorError(error) ? 'error' : 'warn';
    const message = isLost(error) ? 'resourceVersion expired, relisting' : 'list or watch failed, retrying';
    // The message of a ReflectorError includes that of its cause.
    log[level](message, { reflector: name, failures, error: isReflectorError(error) ? error.message : error });
  };
}
