import type { Logger } from '../../runtime/log/logger.js';
import type { Scheduler } from '../../runtime/time/clock.js';
import { redactUrl } from '../errors/redact.js';
import { isTransportError } from '../errors/transport-error.js';
import { untilClosed } from '../stream/until-closed.js';
import type { RateLimiter } from './rate-limiter.js';
import type { RestMetrics } from './rest-metrics.js';
import type { ApiRequest } from './send.js';

/** From here on a wait is worth a line in the log. */
const longWaitMs = 1_000;
/** Lines about waits come no closer together than this; in between they are for debugging only. */
const quietMs = 10_000;

/** Waits until a request may go; `reason` says why it goes again. A client that is closed waits no longer. */
export type Throttle = (limiter: RateLimiter, request: ApiRequest, reason?: string) => Promise<void>;

/** Makes the {@link Throttle} of one client: it also measures the waits, and logs long ones now and then. */
export function createThrottle(options: {
  readonly clock: Scheduler;
  readonly log: Logger;
  readonly metrics: RestMetrics;
  readonly host: string;
  /** Ends all waits: when this aborts, no request can be sent any more. */
  readonly closing?: AbortSignal;
}): Throttle {
  const { clock, log, metrics, host, closing } = options;
  let lastLine = Number.NEGATIVE_INFINITY;
  return async (limiter, request, again) => {
    const reason = again ?? 'client-side throttling, not priority and fairness';
    const start = clock.monotonic();
    try {
      await untilClosed(request, { closing, requestSent: again !== undefined }, (options) => limiter.wait(options));
    } catch (error) {
      if (request.signal?.aborted || (closing?.aborted && isTransportError(error))) throw error;
      throw new Error(`${request.method} ${redactUrl(request.url)}: the client's rate limiter refused the request`, {
        cause: error,
      });
    } finally {
      const end = clock.monotonic();
      if (metrics.enabled) metrics.throttled.with({ verb: request.method, host }).observe((end - start) / 1000);
      if (end - start > longWaitMs) {
        const loud = end - lastLine >= quietMs;
        if (loud) lastLine = end;
        log[loud ? 'info' : 'debug']('waited before sending a request', {
          waitedMs: Math.round(end - start),
          reason,
          method: request.method,
          url: redactUrl(request.url),
        });
      }
    }
  };
}
