import { durationMs } from '../../object/duration.js';
import { isConflict } from '../../rest/errors/error-guards.js';
import type { Logger } from '../../runtime/log/logger.js';
import type { ContainedCall } from '../calls/contained-call.js';
import { UndeclaredFieldError } from '../status/undeclared-field-error.js';
import type { ControllerMetrics } from './controller-metrics.js';
import type { ControllerOptions } from './controller-options.js';
import { failureFields, isMistake } from './failure-fields.js';
import type { Request } from './request.js';
import { isTerminalError } from './terminal-error.js';

/** What becomes of a key whose reconcile has failed. */
export type FailureVerdict =
  | { readonly outcome: 'terminal_error' | 'gave_up' }
  /** Tried again; undefined: when the rate limiter says. */
  | { readonly outcome: 'error'; readonly retryAfterMs: number | undefined };

/** Says whether a reconcile is tried again, and when; counts and logs it. `attempt`: which one this was, in a row. */
export function judgeFailure(
  error: unknown,
  attempt: number,
  parts: {
    readonly key: Request;
    readonly controller: string;
    readonly options: Pick<ControllerOptions, 'maxRetries' | 'backoff' | 'onGiveUp'>;
    readonly metrics: ControllerMetrics;
    readonly log: Logger;
    readonly call: ContainedCall;
  },
): FailureVerdict {
  const { key, controller, metrics, log, call } = parts;
  const { maxRetries = 'never', backoff, onGiveUp } = parts.options;
  metrics.result('error');
  if (isMistake(error)) metrics.panicked();
  if (isTerminalError(error)) {
    metrics.terminal();
    const words = 'the reconcile failed for good: not tried again until the object changes';
    log.error(words, { ...failureFields(error), attempt });
    return { outcome: 'terminal_error' };
  }
  if (maxRetries !== 'never' && attempt > maxRetries) {
    metrics.gaveUp();
    const words = 'the reconcile failed too often: given up until the object changes';
    log.error(words, { ...failureFields(error), attempt });
    call('onGiveUp', () => onGiveUp?.(key, error, attempt));
    return { outcome: 'gave_up' };
  }
  const retryAfterMs = call('backoff', () => {
    const wait = backoff?.(error, attempt);
    return wait === undefined ? undefined : durationMs(wait, `controller "${controller}": backoff`);
  });
  // Somebody else was faster: nothing to worry about, and the newest state is on its way.
  if (isConflict(error)) log.info('the object has changed meanwhile: trying again', { error, attempt });
  else {
    // Nothing can be done about it here, and one line has said what to do.
    const level = error instanceof UndeclaredFieldError && error.isKnown ? 'debug' : 'error';
    log[level]('the reconcile failed: trying again', { ...failureFields(error), attempt });
  }
  return { outcome: 'error', retryAfterMs };
}
