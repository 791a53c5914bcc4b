import type { Logger } from '../../runtime/log/logger.js';
import { redactUrl } from '../errors/redact.js';
import { isRequestTimeout, RequestTimeout } from '../errors/request-timeout.js';
import {
  isConnectionReset,
  isProbableEof,
  isTimeoutError,
  isTransportError,
  TransportError,
} from '../errors/transport-error.js';
import { retryAfterMs } from '../request/header-values.js';
import { untilClosed } from '../stream/until-closed.js';
import type { ResponseHeaders, TransportFlow } from '../transport/transport.js';
import { DiscardSink } from './response-sinks.js';
import { codeLabel, type RestMetrics } from './rest-metrics.js';
import {
  type ApiRequest,
  type BodySink,
  ResponseFilter,
  type ResponseNotes,
  type ResponseSink,
  type Send,
} from './send.js';
import type { Throttle } from './throttle.js';

export interface RetryParts {
  /** Waits for the request's rate limiter before each retry. */
  readonly throttle: Throttle;
  readonly metrics: RestMetrics;
  readonly host: string;
  readonly log: Logger;
  /** Aborts when the client is closed; ends a wait. */
  readonly closing: AbortSignal;
}

/** Whether a request without a response may be sent again (`rest.IsRetryableErrorFunc`). */
function isRetryable({ mode, method, bodyStream }: ApiRequest, error: unknown): boolean {
  if (bodyStream !== undefined) return false;
  const isCut = isConnectionReset(error) || isProbableEof(error);
  // Of a watch nothing can happen twice; a write may have had its effect.
  if (mode === 'watch') return isCut || isTimeoutError(error);
  return mode === 'whole' && method === 'GET' && isCut;
}

/** Wait before a request without a response is sent again. */
const errorWaitMs = 1_000;

/** Longer waits that a server asks for are logged as warnings; else a call would hang for hours in silence. */
const longWaitMs = 60_000;

interface Again {
  readonly waitMs: number;
  readonly reason: string;
}

/**
 * Sends a request again as client-go does (`rest.WithRetry`): on a 429 or 5xx with a `Retry-After` of whole seconds,
 * after that time, whatever the verb; on a retryable error after 1 s. Stops when the signal aborts, which also ends
 * a wait. A final failure names the attempt before it.
 */
export function withRetry(send: Send, parts: RetryParts): Send {
  const attemptParts = { ...parts, send };
  return (request, sink) => {
    const attempt = new AttemptFilter(sink, request, attemptParts);
    const waitMs = request.settings.backoff.calculateBackoff(request.url);
    if (waitMs > 0) void attempt.sendAfter(waitMs);
    else attempt.send();
  };
}

/** One attempt to send a request; makes the next one, where that is worthwhile. */
class AttemptFilter extends ResponseFilter {
  readonly #request: ApiRequest;
  readonly #parts: AttemptParts;
  readonly #number: number;
  /** How the attempt before failed. */
  readonly #previous: string | undefined;
  #isSent = false;
  #isAnswered = false;

  constructor(next: ResponseSink, request: ApiRequest, parts: AttemptParts, number = 1, previous?: string) {
    super(next);
    this.#request = request;
    this.#parts = parts;
    this.#number = number;
    this.#previous = previous;
  }

  send(): void {
    const { signal } = this.#request;
    if (signal?.aborted) {
      this.onError(signal.reason);
      return;
    }
    this.#isSent = true;
    this.#parts.send(this.#request, this);
  }

  /** Sends after a wait, and when the rate limiter allows it, with the `reason` to send again. */
  async sendAfter(waitMs: number, reason?: string): Promise<void> {
    const { backoff, rateLimiter } = this.#request.settings;
    const { closing, throttle } = this.#parts;
    try {
      this.#request.signal?.throwIfAborted();
      if (waitMs > 0) {
        const wait = { closing, requestSent: true };
        await untilClosed(this.#request, wait, (options) => backoff.sleep(waitMs, options));
      }
      if (reason !== undefined && rateLimiter) await throttle(rateLimiter, this.#request, reason);
    } catch (error) {
      this.onError(error);
      return;
    }
    this.send();
  }

  override onHeaders(status: number, headers: ResponseHeaders, flow: TransportFlow, notes?: ResponseNotes): BodySink {
    const { url, settings } = this.#request;
    const { next } = this;
    this.#isAnswered = true;
    settings.backoff.updateBackoff(url, undefined, status);
    if (this.#number > 1) this.#count(status);
    const isFinal = this.#number > settings.maxRetries || this.#request.bodyStream !== undefined;
    const again = isFinal ? undefined : againAfter(status, headers, this.#number);
    if (again === undefined) {
      return next.onHeaders(status, headers, flow, this.#number > 1 ? { ...notes, attempts: this.#number } : notes);
    }
    this.#sendAgain(next, again, `HTTP ${status}, Retry-After: ${again.waitMs / 1000}`);
    return new DiscardSink(flow);
  }

  override onError(error: unknown): void {
    if (this.#isAnswered) {
      this.next.onError(error);
      return;
    }
    const { signal, url, settings } = this.#request;
    if (this.#isSent) settings.backoff.updateBackoff(url, error, 0);
    if (this.#number > 1 && !signal?.aborted && !this.#parts.closing.aborted) this.#count();
    if (signal?.aborted || this.#number > settings.maxRetries || !isRetryable(this.#request, error)) {
      this.next.onError(namePrevious(error, this.#previous, signal));
      return;
    }
    const previous = messageOf(error);
    this.#sendAgain(
      this.next,
      { waitMs: errorWaitMs, reason: `attempt ${this.#number} failed: ${previous}` },
      previous,
    );
  }

  #sendAgain(sink: ResponseSink, again: Again, previous: string): void {
    const { method, url, settings } = this.#request;
    this.#parts.log[again.waitMs > longWaitMs ? 'warn' : 'debug']('request will be sent again', {
      ...{ method, url: redactUrl(url), attempt: this.#number, ...again },
    });
    const next = new AttemptFilter(sink, this.#request, this.#parts, this.#number + 1, previous);
    void next.sendAfter(Math.max(settings.backoff.calculateBackoff(url), again.waitMs), again.reason);
  }

  #count(status?: number): void {
    const { metrics, host } = this.#parts;
    metrics.retries.with({ code: codeLabel(status), verb: this.#request.method, host }).inc();
  }
}

interface AttemptParts extends RetryParts {
  readonly send: Send;
}

function againAfter(status: number, headers: ResponseHeaders, attempt: number): Again | undefined {
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
