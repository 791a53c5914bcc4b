import type { Counter, Histogram, Metrics } from '../../runtime/metrics.js';
import type { ResponseHeaders, TransportFlow } from '../transport/transport.js';
import { type BodySink, ResponseFilter, type ResponseNotes, type ResponseSink, type Send } from './send.js';

/** The series that client-go's users know, under the same names. */
export interface RestMetrics {
  /** False without a metrics registry. */
  readonly enabled: boolean;
  readonly requests: Counter<'code' | 'method' | 'host'>;
  readonly retries: Counter<'code' | 'verb' | 'host'>;
  readonly durations: Histogram<'verb' | 'host'>;
  readonly throttled: Histogram<'verb' | 'host'>;
}

export function restMetrics(metrics: Metrics): RestMetrics {
  return {
    enabled: metrics.enabled,
    requests: metrics.counter({
      name: 'rest_client_requests_total',
      help: 'Requests sent, by status, method and host; repetitions count.',
      labels: ['code', 'method', 'host'],
    }),
    retries: metrics.counter({
      name: 'rest_client_request_retries_total',
      help: 'Repetitions of requests, by status, verb and host.',
      labels: ['code', 'verb', 'host'],
    }),
    durations: metrics.histogram({
      name: 'rest_client_request_duration_seconds',
      help: 'Seconds from a call to its whole answer, waits and repetitions included; watches and logs have none.',
      labels: ['verb', 'host'],
      buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
    }),
    throttled: metrics.histogram({
      name: 'rest_client_rate_limiter_duration_seconds',
      help: "Seconds that requests waited for the client's own rate limiter.",
      labels: ['verb', 'host'],
      buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
    }),
  };
}

/** The label for an outcome: errors are all alike, as their texts would make a series each. */
export function codeLabel(status: number | undefined): string {
  return status === undefined ? '<error>' : String(status);
}

/** Counts each attempt. */
export function withMetrics(send: Send, metrics: RestMetrics, host: string): Send {
  if (!metrics.enabled) return send;
  return (request, sink) => {
    const count = (status?: number) =>
      metrics.requests.with({ code: codeLabel(status), method: request.method, host }).inc();
    send(request, new CountFilter(sink, count));
  };
}

class CountFilter extends ResponseFilter {
  readonly #count: (status?: number) => void;
  #isCounted = false;

  constructor(next: ResponseSink, count: (status?: number) => void) {
    super(next);
    this.#count = count;
  }

  override onHeaders(status: number, headers: ResponseHeaders, flow: TransportFlow, notes?: ResponseNotes): BodySink {
    this.#isCounted = true;
    this.#count(status);
    return this.next.onHeaders(status, headers, flow, notes);
  }

  override onError(error: unknown): void {
    if (!this.#isCounted) this.#count();
    this.next.onError(error);
  }
}
