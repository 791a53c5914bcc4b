import type { KindRef } from '../object/kind.js';
import type { GaugeSeries, Metrics } from '../runtime/metrics.js';

const labels = ['ctx', 'controller_name', 'handler_name', 'has_error'] as const;

/** The metrics of one controller's handlers, under lasso's names. */
export class HandlerMetrics {
  readonly enabled: boolean;
  readonly #executions;
  readonly #time;
  readonly #fixed: { readonly ctx: string; readonly controller_name: string };

  constructor(metrics: Metrics, { context, controller }: { readonly context: string; readonly controller: string }) {
    this.enabled = metrics.enabled;
    this.#fixed = { ctx: context, controller_name: controller };
    this.#executions = metrics.counter({
      name: 'lasso_controller_total_handler_execution',
      help: 'Calls of handlers.',
      labels,
    });
    this.#time = metrics.histogram({
      name: 'lasso_controller_reconcile_time_seconds',
      help: 'How long handlers take.',
      labels,
    });
  }

  ended(handler: string, hasError: boolean, ms: number): void {
    if (!this.enabled) return;
    const series = { ...this.#fixed, handler_name: handler, has_error: String(hasError) };
    this.#executions.with(series).inc();
    this.#time.with(series).observe(ms / 1000);
  }
}

/** How many objects of a kind the cache holds, under lasso's name. */
export function cachedObjects(metrics: Metrics, context: string, { group, version, kind }: KindRef): GaugeSeries {
  const gauge = metrics.gauge({
    name: 'lasso_controller_total_cached_object',
    help: 'Objects in the cache.',
    labels: ['ctx', 'group', 'version', 'kind'],
  });
  return gauge.with({ ctx: context, group, version, kind });
}
