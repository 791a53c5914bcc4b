import type { CounterSeries, GaugeSeries, HistogramSeries, Metrics } from '../../runtime/metrics.js';

/** From 10 ns to 1,000 s, as in controller-runtime. */
const buckets = Array.from({ length: 12 }, (_, at) => 10 ** (at - 8));

/** The series of one path. */
export interface RouteMetrics {
  readonly latency: HistogramSeries;
  readonly inFlight: GaugeSeries;
  requests(code: number): CounterSeries;
  /** Removes the gauge of a path that is no longer served. Counters stay. */
  close(): void;
}

/** Counts what a webhook server does, under the names of controller-runtime. */
export class WebhookMetrics {
  readonly enabled: boolean;
  readonly panics: CounterSeries;
  readonly #latency;
  readonly #requests;
  readonly #inFlight;

  constructor(metrics: Metrics) {
    this.enabled = metrics.enabled;
    this.#latency = metrics.histogram({
      name: 'controller_runtime_webhook_latency_seconds',
      help: 'Histogram of the latency of processing webhook requests.',
      labels: ['webhook'],
      buckets,
    });
    this.#requests = metrics.counter({
      name: 'controller_runtime_webhook_requests_total',
      help: 'Total number of webhook requests by HTTP status code.',
      labels: ['webhook', 'code'],
    });
    this.#inFlight = metrics.gauge({
      name: 'controller_runtime_webhook_requests_in_flight',
      help: 'Current number of webhook requests being served.',
      labels: ['webhook'],
    });
    this.panics = metrics
      .counter({ name: 'controller_runtime_webhook_panics_total', help: 'Total number of handlers that threw.' })
      .with({});
    this.panics.inc(0);
  }

  /** The series of a path. The most likely codes exist from the start. */
  forPath(path: string): RouteMetrics {
    const requests = (code: number) => this.#requests.with({ webhook: path, code: String(code) });
    for (const code of [200, 500]) requests(code).inc(0);
    return {
      latency: this.#latency.with({ webhook: path }),
      inFlight: this.#inFlight.with({ webhook: path }),
      requests,
      close: () => this.#inFlight.remove?.({ webhook: path }),
    };
  }
}
