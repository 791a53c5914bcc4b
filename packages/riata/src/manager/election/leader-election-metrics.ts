import type { CounterSeries, GaugeSeries, Metrics } from '../../runtime/metrics.js';

/** The metrics of an election, under the names of the original. */
export interface LeaderElectionMetrics {
  /** 1 while this process leads. */
  readonly masterStatus: GaugeSeries;
  /** Renewals that had to read the lock first, as it was not as this process had left it. */
  readonly slowPath: CounterSeries;
}

/** The series of one election. */
export function leaderElectionMetrics(metrics: Metrics, name: string): LeaderElectionMetrics {
  const masterStatus = metrics.gauge({
    name: 'leader_election_master_status',
    help: 'Whether this process leads: 1 while it holds the lease, else 0.',
    labels: ['name'],
  });
  const slowPath = metrics.counter({
    name: 'leader_election_slowpath_total',
    help: 'Renewals that had to read the lease first, as it differed from the last renewal.',
    labels: ['name'],
  });
  return { masterStatus: masterStatus.with({ name }), slowPath: slowPath.with({ name }) };
}
