import type { Cache } from '../../cache/cache.js';
import type { Gauge, Metrics } from '../../runtime/metrics.js';

/** Caches whose informers are reported. */
export interface InformerPlaces {
  readonly cache: Pick<Cache, 'health'>;
  /** Those of added clusters, which come and go. */
  readonly clusters: () => Iterable<{ readonly name: string; readonly cache: Pick<Cache, 'health'>; check(): void }>;
}

/**
 * The state of a manager's informers, as metrics: collected on each scrape, so that following changes costs nothing
 * more. The label `cluster` is the name of an added cluster, empty for the manager's own. A removed cluster, informer
 * or handler has no series any more.
 */
export function informerMetrics(metrics: Metrics, { cache, clusters }: InformerPlaces): () => void {
  const gauge = <L extends string>(name: string, help: string, ...labels: L[]) =>
    new PresentGauge(metrics.gauge({ name, help, labels }));
  const objects = gauge('riata_informer_objects', 'Objects that an informer holds.', 'cluster', 'informer');
  const synced = gauge('riata_informer_synced', '1 once an informer has had its first list.', 'cluster', 'informer');
  const failures = gauge(
    'riata_informer_consecutive_failures',
    'Failed lists and watches in a row.',
    ...(['cluster', 'informer'] as const),
  );
  const failing = gauge(
    'riata_informer_failing_objects',
    'Objects that a transform or index function fails for, and malformed ones.',
    ...(['cluster', 'informer'] as const),
  );
  const silence = gauge(
    'riata_informer_silence_seconds',
    'Time since the server last gave an event or a bookmark.',
    ...(['cluster', 'informer'] as const),
  );
  const pending = gauge(
    'riata_informer_handler_pending',
    'Changes that wait for a handler.',
    ...(['cluster', 'informer', 'handler'] as const),
  );
  const healthy = gauge('riata_cluster_healthy', '1 while the informers of an added cluster are well.', 'cluster');
  const report = (cluster: string, { health: kinds }: Pick<Cache, 'health'>) => {
    for (const health of kinds.flatMap(({ informers }) => informers)) {
      const informer = health.name;
      const labels = { cluster, informer };
      objects.set(labels, health.objects);
      synced.set(labels, health.synced ? 1 : 0);
      failures.set(labels, health.consecutiveFailures);
      failing.set(labels, health.failingObjects);
      silence.set(labels, (health.lastEventMs ?? 0) / 1000);
      for (const { name: handler, pending: count } of health.handlers) pending.set({ ...labels, handler }, count);
    }
  };
  return () => {
    report('', cache);
    for (const cluster of clusters()) {
      report(cluster.name, cluster.cache);
      healthy.set({ cluster: cluster.name }, isWell(cluster) ? 1 : 0);
    }
    for (const each of [objects, synced, failures, failing, silence, pending, healthy]) each.forgetOthers();
  };
}

/** A gauge that has just the series that were set since it last forgot others. */
class PresentGauge<L extends string> {
  readonly #gauge: Gauge<L>;
  #present = new Map<string, Readonly<Record<L, string>>>();
  #before = new Map<string, Readonly<Record<L, string>>>();

  constructor(gauge: Gauge<L>) {
    this.#gauge = gauge;
  }

  set(labels: Readonly<Record<L, string>>, value: number): void {
    this.#gauge.with(labels).set(value);
    this.#present.set(JSON.stringify(labels), labels);
  }

  forgetOthers(): void {
    for (const [id, labels] of this.#before) if (!this.#present.has(id)) this.#gauge.remove?.(labels);
    this.#before = this.#present;
    this.#present = new Map();
  }
}

function isWell({ check }: { check(): void }): boolean {
  try {
    check();
    return true;
  } catch {
    return false;
  }
}
