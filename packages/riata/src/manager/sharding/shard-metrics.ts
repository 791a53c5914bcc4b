import type { CounterSeries, GaugeSeries, Metrics } from '../../runtime/metrics.js';

/** The metrics of a ring. */
export interface ShardMetrics {
  /** Slots that this replica owns. */
  readonly owned: GaugeSeries;
  /** Replicas that share the work, as this one sees it. */
  readonly members: GaugeSeries;
  readonly gained: CounterSeries;
  /** Handed over in order. */
  readonly given: CounterSeries;
  /** By a lease that ran out. */
  readonly lost: CounterSeries;
}

/** The series of one ring. */
export function shardMetrics(metrics: Metrics, ring: string): ShardMetrics {
  const labels = ['ring'] as const;
  const gauge = (name: string, help: string) => metrics.gauge({ name, help, labels }).with({ ring });
  const moves = metrics.counter({
    name: 'riata_shard_moves_total',
    help: 'Slots that this replica acquired, gave to others, or lost as its lease expired.',
    labels: ['ring', 'move'],
  });
  return {
    owned: gauge('riata_shard_slots_owned', 'Slots that this replica owns.'),
    members: gauge('riata_shard_members', 'Replicas that share the work, as this one sees it.'),
    gained: moves.with({ ring, move: 'gained' }),
    given: moves.with({ ring, move: 'given' }),
    lost: moves.with({ ring, move: 'lost' }),
  };
}
