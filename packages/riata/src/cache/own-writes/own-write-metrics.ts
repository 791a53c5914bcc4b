import type { GaugeSeries, HistogramSeries, Metrics } from '../../runtime/metrics.js';

/** How many own writes the watch has not shown yet, and how long they had to wait for it. */
export class OwnWriteMetrics {
  readonly #entries: GaugeSeries;
  readonly #age: HistogramSeries;

  constructor(metrics: Metrics, name: string) {
    const labels = ['name'] as const;
    this.#entries = metrics
      .gauge({
        name: 'riata_cache_overlay_entries',
        help: 'Own writes that the watch of the cache has not shown yet.',
        labels,
      })
      .with({ name });
    this.#age = metrics
      .histogram({
        name: 'riata_cache_overlay_age_seconds',
        help: 'Time from the answer to an own write until the watch of the cache has shown it.',
        labels,
        buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60, 300],
      })
      .with({ name });
  }

  count(entries: number): void {
    this.#entries.set(entries);
  }

  dropped(ageMs: number, entries: number): void {
    this.#age.observe(ageMs / 1000);
    this.#entries.set(entries);
  }
}
