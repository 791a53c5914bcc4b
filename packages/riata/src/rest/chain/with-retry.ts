import type { Logger } from '../../runtime/log/logger.js';
import { redactUrl } from '../errors/redact.js';
import {
  isConnectionReset,
  isProbableEof,
  isTimeoutError,
  isTransportError,
  TransportError,
} from '../errors/transport-error.js';
import { retryAfterMs } from '../request/header-values.js';
import { untilClosed } from '../stream/until-closed.js';
import type { BackoffManager } from './backoff-manager.js';
import type { ApiRequest, ApiResponse, Send } from './send.js';
import { isRequestTimeout, RequestTimeout } from './with-deadline.js';

/** Whether a request that got no answer may be sent again (`rest.IsRetryableErrorFunc`). */
export type RetryableError = (request: ApiRequest, error: unknown) => boolean;

/** For requests with one answer: a cut connection, and only for reads, as a write may have had its effect. */
export const retryReads: RetryableError = ({ method }, error) =>
  method === 'GET' && (isConnectionReset(error) || isProbableEof(error));

/** For watches: a cut connection or a timeout; nothing can have happened twice. */
export const retryWatches: RetryableError = (_request, error) =>
  isConnectionReset(error) || isProbableEof(error) || isTimeoutError(error);

/** For streams: never. */
export const retryNoErrors: RetryableError = () => false;

export interface RetryOptions {
  /** How often at most a request is sent again. */
  readonly maxRetries: number;
  readonly retryable: RetryableError;
  readonly backoff: BackoffManager;
  /** Called before each repetition, after the wait, with the reason for it: the place for a rate limiter. */
  readonly throttle?: (request: ApiRequest, reason: string) => Promise<void>;
  /** Called after each repetition with the HTTP status, if there was one. */
  readonly onRetried?: (request: ApiRequest, status: number | undefined) => void;
  readonly log?: Logger;
  /** Ends a wait: when this aborts, no request can be sent any more. */
  readonly closing?: AbortSignal;
}

/** Wait before a request that got no answer is sent again. */
const errorWaitMs = 1_000;

/** Who waits longer than this because a server said so, hears of it; else a call would hang for hours in silence. */
const longWaitMs = 60_000;

interface Again {
  readonly waitMs: number;
  readonly reason: string;
}

/**
 * Sends a request again as client-go does (`rest.WithRetry`): on a 429 or 5xx with a `Retry-After` of whole seconds,
 * after that time, whatever the verb; on a `retryable` error after 1 s. Stops when the signal aborts, which also ends
 * a wait. A final failure names the attempt before it.
 */
export function withRetry(send: Send, options: RetryOptions): Send {
  const { maxRetries, backoff, throttle, onRetried, log } = options;
  return async (request) => {
    const { signal, url } = request;
    let again: Again | undefined;
    let previous: string | undefined;
    for (let attempt = 1; ; attempt++) {
      let response: ApiResponse | undefined;
      let next: Again | undefined;
      try {
        signal?.throwIfAborted();
        await waitFor(Math.max(backoff.calculateBackoff(url), again?.waitMs ?? 0), request, options);
        if (again) await throttle?.(request, again.reason);
        response = await attemptWith(send, request, backoff);
        if (attempt > 1) onRetried?.(request, response.status);
        response.attempts = attempt;
        next = attempt > maxRetries ? undefined : againAfterResponse(response, attempt);
        if (!next) return response;
        response.discard();
        previous = `HTTP ${response.status}, Retry-After: ${next.waitMs / 1000}`;
      } catch (error) {
        if (attempt > 1 && !response && !signal?.aborted && !options.closing?.aborted) onRetried?.(request, undefined);
        const hopeless = signal?.aborted || attempt > maxRetries || !options.retryable(request, error);
        if (hopeless) throw namePrevious(error, previous, signal);
        previous = messageOf(error);
        next = { waitMs: errorWaitMs, reason: `attempt ${attempt} failed: ${previous}` };
      }
      again = next;
      log?.[again.waitMs > longWaitMs ? 'warn' : 'debug']('request will be sent again', {
        method: request.method,
        url: redactUrl(url),
        attempt,
        ...again,
      });
    }
  };
}

async function waitFor(ms: number, request: ApiRequest, { backoff, closing }: RetryOptions): Promise<void> {
  if (ms <= 0) return backoff.sleep(ms, { signal: request.signal });
  await untilClosed(request, { closing, requestSent: true }, (options) => backoff.sleep(ms, options));
}

async function attemptWith(send: Send, request: ApiRequest, backoff: BackoffManager): Promise<ApiResponse> {
  try {
    const response = await send(request);
    backoff.updateBackoff(request.url, undefined, response.status);
    return response;
  } catch (error) {
    backoff.updateBackoff(request.url, error, 0);
    throw error;
  }
}

function againAfterResponse({ status, headers }: ApiResponse, attempt: number): Again | undefined {
  if (status !== 429 && status < 500) return undefined;
  const waitMs = retryAfterMs(headers);
  if (waitMs === undefined) return undefined;
  const flowSchema = headers['x-kubernetes-pf-flowschema-uid'];
  const why = status === 429 && flowSchema ? `server-side throttling, FlowSchema UID ${flowSchema}` : `HTTP ${status}`;
  return { waitMs, reason: `attempt ${attempt} got ${why}, retry after ${waitMs} ms` };
}

/** The last error with the one before it in its message; a caller's own abort reason stays as it is. */
function namePrevious(error: unknown, previous: string | undefined, signal: AbortSignal | undefined): unknown {
  if (previous === undefined || messageOf(error) === previous) return error;
  const message = `${messageOf(error)}; the attempt before it failed: ${previous}`;
  if (isRequestTimeout(error)) return new RequestTimeout(message, { cause: error });
  if (signal?.aborted) return error;
  if (isTransportError(error)) {
    return new TransportError(message, { kind: error.kind, requestSent: error.requestSent, cause: error });
  }
  return new Error(message, { cause: error });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
