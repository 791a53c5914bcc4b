import type { HorizontalPodAutoscaler, Pod } from 'riata/kinds';
import { parseQuantity } from 'riata/object';
import { optionNames } from 'riata/runtime';

/** Metrics by name, as quantities: `{ cpu: '250m', memory: '64Mi', requests_per_second: 12 }`. */
export type MetricValues = Readonly<Record<string, string | number>>;

/** Where a HorizontalPodAutoscaler gets its metrics from. */
export interface MetricsOptions {
  /**
   * The current usage of a Pod: `cpu`, `memory`, and any named Pod metrics; undefined if it is unknown.
   *
   * @default the annotation `sandbox.riata.dev/metrics` of the Pod, as JSON
   */
  readonly metrics?: (pod: Pod) => MetricValues | undefined;
}

export const metricsOptionNames = optionNames<MetricsOptions>({ metrics: true });

const annotation = 'sandbox.riata.dev/metrics';

/** The value of a metric in thousandths; undefined if it isn't known. */
export function milliValue(values: MetricValues | undefined, name: string): number | undefined {
  const value = values !== undefined && Object.hasOwn(values, name) ? values[name] : undefined;
  return value === undefined ? undefined : Number(parseQuantity(value).milliValue());
}

/** The metrics of a Pod; for an autoscaler, object and external metrics. A malformed annotation is ignored. */
export function annotatedMetrics({ metadata }: Pod | HorizontalPodAutoscaler): MetricValues | undefined {
  const text = metadata.annotations?.[annotation];
  if (text === undefined) return undefined;
  try {
    const values: unknown = JSON.parse(text);
    return typeof values === 'object' && values !== null ? (values as MetricValues) : undefined;
  } catch {
    return undefined;
  }
}
