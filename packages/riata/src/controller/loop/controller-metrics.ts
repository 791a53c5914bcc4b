import type { CounterSeries, GaugeSeries, HistogramSeries, Metrics } from '../../runtime/metrics.js';

const seconds = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];

/** The values of the label `result`. */
const results = ['success', 'error', 'requeue', 'requeue_after'] as const;

type Result = (typeof results)[number];

/** A controller's metrics, under the names that controller-runtime gives them. */
export class ControllerMetrics {
  readonly #total: Readonly<Record<Result, CounterSeries>>;
  readonly #errors: CounterSeries;
  readonly #terminalErrors: CounterSeries;
  readonly #panics: CounterSeries;
  readonly #timeouts: CounterSeries;
  readonly #gaveUp: CounterSeries;
  readonly #notInShard: CounterSeries;
  readonly #time: HistogramSeries;
  readonly #most: GaugeSeries;
  readonly #active: GaugeSeries;
  readonly #overdue: GaugeSeries;

  constructor(metrics: Metrics, controller: string, concurrency: number) {
    const labels = ['controller'] as const;
    const counter = (name: string, help: string) => metrics.counter({ name, help, labels }).with({ controller });
    const gauge = (name: string, help: string) => metrics.gauge({ name, help, labels }).with({ controller });
    const total = metrics.counter({
      name: 'controller_runtime_reconcile_total',
      help: 'Reconciles, by how they ended.',
      labels: ['controller', 'result'],
    });
    this.#total = Object.fromEntries(
      results.map((result) => [result, total.with({ controller, result })]),
    ) as unknown as Readonly<Record<Result, CounterSeries>>;
    for (const series of Object.values(this.#total)) series.inc(0);
    this.#errors = counter('controller_runtime_reconcile_errors_total', 'Reconciles that failed.');
    this.#terminalErrors = counter(
      'controller_runtime_terminal_reconcile_errors_total',
      'Reconciles that failed with a TerminalError.',
    );
    this.#panics = counter(
      'controller_runtime_reconcile_panics_total',
      'Reconciles that failed by a bug in the program: a TypeError and the like, or a thrown value that is not an Error.',
    );
    this.#panics.inc(0);
    this.#timeouts = counter(
      'controller_runtime_reconcile_timeouts_total',
      'Reconciles that took longer than allowed.',
    );
    this.#gaveUp = counter('riata_reconcile_given_up_total', 'Keys given up after too many failures.');
    this.#notInShard = counter('riata_not_in_shard_total', 'Keys that were dropped as another replica owns them.');
    this.#time = metrics
      .histogram({
        name: 'controller_runtime_reconcile_time_seconds',
        help: 'How long reconciles take.',
        labels,
        buckets: seconds,
      })
      .with({ controller });
    this.#active = gauge('controller_runtime_active_workers', 'Reconciles that are running.');
    this.#overdue = gauge(
      'riata_overdue_reconciles',
      'Reconciles that run past their timeout, or ignore their aborted signal.',
    );
    this.#most = gauge('controller_runtime_max_concurrent_reconciles', 'Reconciles that may run at once.');
    this.#most.set(concurrency);
    this.#active.set(0);
  }

  /** From now on this many reconciles may run at once. */
  most(concurrency: number): void {
    this.#most.set(concurrency);
  }

  started(): void {
    this.#active.inc(1);
  }

  ended(durationMs: number): void {
    this.#active.inc(-1);
    this.#time.observe(durationMs / 1000);
  }

  result(result: Result): void {
    this.#total[result].inc();
    if (result === 'error') this.#errors.inc();
  }

  terminal(): void {
    this.#terminalErrors.inc();
  }

  panicked(): void {
    this.#panics.inc();
  }

  timedOut(): void {
    this.#timeouts.inc();
  }

  gaveUp(): void {
    this.#gaveUp.inc();
  }

  notInShard(): void {
    this.#notInShard.inc();
  }

  overdue(count: number): void {
    this.#overdue.set(count);
  }
}
