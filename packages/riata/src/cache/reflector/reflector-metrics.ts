import type { CounterSeries, GaugeSeries, HistogramSeries, Metrics } from '../../runtime/metrics.js';

/** The metrics of Reflectors, under the names of the original (`cache.SetReflectorMetricsProvider`), by reflector. */
export interface ReflectorMetrics {
  readonly enabled: boolean;
  /** Complete lists, by WatchList or LIST. */
  readonly lists: CounterSeries;
  readonly listDuration: HistogramSeries;
  readonly itemsPerList: HistogramSeries;
  /** Watches opened. */
  readonly watches: CounterSeries;
  /** Of them, those that ended within a second, without an event. */
  readonly shortWatches: CounterSeries;
  /** Of them, those that were replaced because of silence. */
  readonly silentWatches: CounterSeries;
  readonly watchDuration: HistogramSeries;
  readonly itemsPerWatch: HistogramSeries;
  /** Written after each list, bookmark and watch. */
  readonly lastResourceVersion: GaugeSeries;
}

const labels = ['name'] as const;
const durations = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180, 300, 600];
const sizes = [0, 1, 10, 100, 1_000, 5_000, 10_000, 50_000, 100_000, 500_000];

export function reflectorMetrics(metrics: Metrics, name: string): ReflectorMetrics {
  const counter = (metric: string, help: string) =>
    metrics.counter({ name: `reflector_${metric}`, help, labels }).with({ name });
  const histogram = (metric: string, help: string, buckets: readonly number[]) =>
    metrics.histogram({ name: `reflector_${metric}`, help, labels, buckets }).with({ name });
  const lastResourceVersion = 'Last resource version seen by the reflector';
  return {
    enabled: metrics.enabled,
    lists: counter('lists_total', 'Complete lists, by LIST or WatchList'),
    listDuration: histogram('list_duration_seconds', 'How long a complete list took', durations),
    itemsPerList: histogram('items_per_list', 'How many objects a list had', sizes),
    watches: counter('watches_total', 'Watches opened'),
    shortWatches: counter('short_watches_total', 'Watches that ended within a second, without an event'),
    silentWatches: counter('silent_watches_total', 'Watches replaced as nothing came any more'),
    watchDuration: histogram('watch_duration_seconds', 'How long a watch lasted', durations),
    itemsPerWatch: histogram('items_per_watch', 'How many events a watch gave', sizes),
    lastResourceVersion: metrics
      .gauge({ name: 'reflector_last_resource_version', help: lastResourceVersion, labels })
      .with({ name }),
  };
}
