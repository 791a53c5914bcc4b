import type { CounterSeries, GaugeSeries } from 'riata/runtime';
import type { TextMetrics } from '../metrics/text-metrics.js';
import type { FlowSchema } from './flow-classifier.js';
import type { RejectReason } from './priority-level.js';

interface SchemaSeries {
  readonly dispatched: CounterSeries;
  readonly executing: GaugeSeries;
}

/** The metrics of flow control, by upstream's names. */
export class FlowMetrics {
  readonly #rejected;
  readonly #dispatched;
  readonly #inQueue;
  readonly #executing;
  readonly #nominal;
  /** To find a series by its labels costs more than every request may. */
  #known = new WeakMap<FlowSchema, SchemaSeries>();
  #shown: readonly string[] = [];
  /** The seats of each level. */
  nominalLimits: () => readonly (readonly [level: string, seats: number])[] = () => [];

  constructor(registry: TextMetrics) {
    const labels = ['priority_level', 'flow_schema'] as const;
    const name = (rest: string) => `apiserver_flowcontrol_${rest}`;
    this.#rejected = registry.counter({
      name: name('rejected_requests_total'),
      help: '[BETA] Number of requests rejected by API Priority and Fairness subsystem',
      labels: [...labels, 'reason'],
    });
    this.#dispatched = registry.counter({
      name: name('dispatched_requests_total'),
      help: '[BETA] Number of requests executed by API Priority and Fairness subsystem',
      labels,
    });
    this.#inQueue = registry.gauge({
      name: name('current_inqueue_requests'),
      help: '[BETA] Number of requests currently pending in queues of the API Priority and Fairness subsystem',
      labels,
    });
    this.#executing = registry.gauge({
      name: name('current_executing_requests'),
      help: '[BETA] Number of requests in initial (for a WATCH) or any (for a non-WATCH) execution stage in the API Priority and Fairness subsystem',
      labels,
    });
    this.#nominal = registry.gauge({
      name: name('nominal_limit_seats'),
      help: '[BETA] Nominal number of execution seats configured for each priority level',
      labels: ['priority_level'],
    });
  }

  dispatched(schema: FlowSchema): void {
    const { dispatched, executing } = this.#seriesOf(schema);
    dispatched.inc();
    executing.inc();
  }

  finished(schema: FlowSchema): void {
    this.#seriesOf(schema).executing.inc(-1);
  }

  queued(schema: FlowSchema, by: 1 | -1): void {
    this.#inQueue.with(labelsOf(schema)).inc(by);
  }

  rejected(schema: FlowSchema, reason: RejectReason): void {
    this.#rejected.with({ ...labelsOf(schema), reason }).inc();
  }

  /** Brings the numbers up to date that nobody counts. */
  collect(): void {
    for (const level of this.#shown) this.#nominal.remove({ priority_level: level });
    const limits = this.nominalLimits();
    for (const [level, seats] of limits) this.#nominal.with({ priority_level: level }).set(seats);
    this.#shown = limits.map(([level]) => level);
  }

  /** The counters begin from zero. */
  reset(): void {
    this.#known = new WeakMap();
  }

  #seriesOf(schema: FlowSchema): SchemaSeries {
    let series = this.#known.get(schema);
    if (series === undefined) {
      const labels = labelsOf(schema);
      series = { dispatched: this.#dispatched.with(labels), executing: this.#executing.with(labels) };
      this.#known.set(schema, series);
    }
    return series;
  }
}

function labelsOf({ name, level }: FlowSchema) {
  return { flow_schema: name, priority_level: level };
}
