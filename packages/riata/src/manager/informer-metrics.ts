import type { Cache } from '../cache/cache.js';
import type { Metrics } from '../runtime/metrics.js';

/**
 * How the informers of a cache are doing, as metrics: looked at when somebody asks for them, so that following changes
 * costs nothing more.
 */
export function informerMetrics(metrics: Metrics, cache: Pick<Cache, 'health'>): () => void {
  const labels = ['informer'] as const;
  const gauge = (name: string, help: string) => metrics.gauge({ name, help, labels });
  const objects = gauge('riata_informer_objects', 'Objects that an informer holds.');
  const synced = gauge('riata_informer_synced', '1 once an informer has had its first list.');
  const failures = gauge('riata_informer_consecutive_failures', 'Failed lists and watches in a row.');
  const silence = gauge('riata_informer_silence_seconds', 'Time since the server last gave an event or a bookmark.');
  const pending = metrics.gauge({
    name: 'riata_informer_handler_pending',
    help: 'Changes that wait for a handler.',
    labels: ['informer', 'handler'],
  });
  return () => {
    for (const { informers } of cache.health) {
      for (const health of informers) {
        const informer = health.name;
        objects.with({ informer }).set(health.objects);
        synced.with({ informer }).set(health.synced ? 1 : 0);
        failures.with({ informer }).set(health.consecutiveFailures);
        silence.with({ informer }).set((health.lastEventMs ?? 0) / 1000);
        for (const { name: handler, pending: count } of health.handlers) pending.with({ informer, handler }).set(count);
      }
    }
  };
}
