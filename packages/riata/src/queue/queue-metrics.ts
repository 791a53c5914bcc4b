import type { CounterSeries, Gauge, GaugeSeries, HistogramSeries, Metrics } from '../runtime/metrics.js';
import type { Scheduler, Timer } from '../runtime/time/clock.js';
import { LinkedList } from './linked-list.js';
import type { QueueEntry } from './queue-entry.js';

/** From ten nanoseconds up, ten steps of ten: the buckets of the original. */
const buckets: readonly number[] = Array.from({ length: 12 }, (_, step) => Number(`1e${step - 8}`));

/** How often the two gauges about unfinished work are brought up to date while there is some. */
const unfinishedEveryMs = 500;

/** The numbers of one queue, under the names that client-go and controller-runtime use. Times are milliseconds. */
export class QueueMetrics<K, Note> {
  readonly #clock: Scheduler;
  readonly #name: string;
  readonly #priorities: boolean;
  readonly #depth: Gauge<'name' | 'priority'>;
  readonly #depthOf = new Map<number, GaugeSeries>();
  readonly #adds: CounterSeries;
  readonly #queueDuration: HistogramSeries;
  readonly #workDuration: HistogramSeries;
  readonly #unfinished: GaugeSeries;
  readonly #longest: GaugeSeries;
  readonly #retries: CounterSeries;
  /** The entries that are being worked on, the one that was handed out first first. */
  readonly #running = new LinkedList<QueueEntry<K, Note>>();
  /** The last result of `#depthAt`. */
  #latestLevel = Number.NaN;
  #latestDepth: GaugeSeries | undefined;
  /** Set exactly while something is being worked on, or was at the last look. */
  #timer: Timer | undefined;

  constructor(metrics: Metrics, name: string, priorities: boolean, clock: Scheduler) {
    this.#clock = clock;
    this.#name = name;
    this.#priorities = priorities;
    const labels = ['name'] as const;
    const of = { name };
    this.#depth = metrics.gauge({
      name: 'workqueue_depth',
      help: 'Keys that wait in the queue; the priority is empty for queues without priorities.',
      labels: ['name', 'priority'],
    });
    this.#adds = metrics
      .counter({ name: 'workqueue_adds_total', help: 'Keys added, those merged into a waiting one left out.', labels })
      .with(of);
    this.#queueDuration = metrics
      .histogram({
        name: 'workqueue_queue_duration_seconds',
        help: 'How long keys wait from being added until a worker gets them.',
        labels,
        buckets,
      })
      .with(of);
    this.#workDuration = metrics
      .histogram({
        name: 'workqueue_work_duration_seconds',
        help: 'How long workers take for a key.',
        labels,
        buckets,
      })
      .with(of);
    this.#unfinished = metrics
      .gauge({
        name: 'workqueue_unfinished_work_seconds',
        help: 'Time spent so far on all keys that are being worked on. Steady growth means stuck workers.',
        labels,
      })
      .with(of);
    this.#longest = metrics
      .gauge({
        name: 'workqueue_longest_running_processor_seconds',
        help: 'Time spent so far on the key that has been worked on longest.',
        labels,
      })
      .with(of);
    this.#retries = metrics
      .counter({ name: 'workqueue_retries_total', help: 'Keys added with a delay or a rate limit.', labels })
      .with(of);
  }

  added(entry: QueueEntry<K, Note>, now: number): void {
    entry.dirtyAt = now;
    this.#adds.inc();
    this.#depthAt(entry.priority).inc(1);
  }

  raised(from: number, to: number): void {
    if (!this.#priorities) return;
    this.#depthAt(from).inc(-1);
    this.#depthAt(to).inc(1);
  }

  taken(entry: QueueEntry<K, Note>): void {
    const now = this.#clock.monotonic();
    this.#depthAt(entry.priority).inc(-1);
    this.#queueDuration.observe((now - entry.dirtyAt) / 1000);
    entry.startedAt = now;
    this.#running.append(entry);
    if (this.#timer === undefined) this.#watch();
  }

  done(entry: QueueEntry<K, Note>, now: number): void {
    this.#running.remove(entry);
    this.#workDuration.observe((now - entry.startedAt) / 1000);
  }

  retried(): void {
    this.#retries.inc();
  }

  #depthAt(priority: number): GaugeSeries {
    const level = this.#priorities ? priority : 0;
    if (level === this.#latestLevel && this.#latestDepth !== undefined) return this.#latestDepth;
    let series = this.#depthOf.get(level);
    if (series === undefined) {
      series = this.#depth.with({ name: this.#name, priority: this.#priorities ? String(level) : '' });
      this.#depthOf.set(level, series);
    }
    this.#latestLevel = level;
    this.#latestDepth = series;
    return series;
  }

  #watch(): void {
    this.#timer = this.#clock.after(unfinishedEveryMs, this.#look, { background: true });
  }

  readonly #look = (): void => {
    const now = this.#clock.monotonic();
    const first = this.#running.first;
    let total = 0;
    for (let entry = first; entry !== undefined; entry = entry.next) total += now - entry.startedAt;
    this.#unfinished.set(total / 1000);
    this.#longest.set(first === undefined ? 0 : (now - first.startedAt) / 1000);
    this.#timer = undefined;
    if (first !== undefined) this.#watch();
  };
}
