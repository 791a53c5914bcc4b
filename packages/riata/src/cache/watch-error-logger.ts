import { describeError } from '../runtime/describe-error.js';
import type { Logger } from '../runtime/logger.js';
import { isReflectorError } from './reflector-error.js';
import type { WatchErrorHandler } from './shared-informer.js';

/**
 * Tells the log why listing and watching fails: at first and when it changes as a warning, or as an error if somebody
 * has to do something about it; what goes on and on as debug.
 */
export function watchErrorLogger(log: Logger): WatchErrorHandler {
  const lastOf = new Map<string, string>();
  return (error, health) => {
    const { name: informer, consecutiveFailures: failures, resourceVersion } = health;
    const text = describeError(error);
    const isNew = failures <= 1 || lastOf.get(informer) !== text;
    lastOf.set(informer, text);
    const level = !isNew ? 'debug' : isReflectorError(error) ? 'error' : 'warn';
    log[level]('the list or watch of an informer failed; trying again', { informer, failures, resourceVersion, error });
  };
}
