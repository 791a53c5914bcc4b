import type { Counter, Histogram, Metrics } from '../../runtime/metrics.js';
import type { Send } from './send.js';

/** The series that client-go's users know, under the same names. */
export interface RestMetrics {
  /** False when nobody listens. */
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
export function withMetrics(send: Send, { enabled, requests }: RestMetrics, host: string): Send {
  if (!enabled) return send;
  return async (request) => {
    const count = (status?: number) => requests.with({ code: codeLabel(status), method: request.method, host }).inc();
    try {
      const response = await send(request);
      count(response.status);
      return response;
    } catch (error) {
      count();
      throw error;
    }
  };
}
