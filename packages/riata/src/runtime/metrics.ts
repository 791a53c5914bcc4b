/** A value for each of an instrument's labels. */
export type Labels<L extends string> = Readonly<Record<L, string>>;

/** The name of an instrument and the labels of its series. */
export interface MetricSpec<L extends string = never> {
  /** In Prometheus' form, such as `workqueue_adds_total`. */
  readonly name: string;
  readonly help: string;
  /** @default none */
  readonly labels?: readonly L[];
}

/** As {@link MetricSpec}, with the bounds that values are sorted into. */
export interface HistogramSpec<L extends string = never> extends MetricSpec<L> {
  /** Upper bounds, smallest first. @default the provider's own */
  readonly buckets?: readonly number[];
}

/** The series of one set of label values: only goes up. */
export interface CounterSeries {
  /** @default by = 1 */
  inc(by?: number): void;
}

/** The series of one set of label values: goes up and down. */
export interface GaugeSeries {
  /** Replaces the value. */
  set(value: number): void;
  /** May be negative. @default by = 1 */
  inc(by?: number): void;
}

/** The series of one set of label values: how often values of which size came. */
export interface HistogramSeries {
  /** Adds one value, in the unit that the instrument's name says; Prometheus expects seconds. */
  observe(value: number): void;
}

/** An instrument: pick a series once, keep it, and write to it on the hot path. Without labels: `with({})`. */
export interface Instrument<L extends string, Series> {
  /** The series of these label values; the same one each time. */
  with(labels: Labels<L>): Series;
  /** Removes the series of these label values: the thing that it described no longer exists. @default it stays */
  remove?(labels: Labels<L>): void;
}

/** Counts what happens: {@link CounterSeries} by labels. */
export type Counter<L extends string = never> = Instrument<L, CounterSeries>;
/** Says how much there is: {@link GaugeSeries} by labels. */
export type Gauge<L extends string = never> = Instrument<L, GaugeSeries>;
/** Says how values are spread: {@link HistogramSeries} by labels. */
export type Histogram<L extends string = never> = Instrument<L, HistogramSeries>;

/**
 * Where Riata counts. Asking twice for one name has to give the same instrument, as several controllers share it.
 * Each method is a few lines over a metrics library.
 *
 * @example
 * // prom-client: `labels` picks the series, which already has inc, set and observe
 * counter: ({ name, help, labels = [] }) => {
 *   const counter = register.getSingleMetric(name) ?? new prom.Counter({ name, help, labelNames: labels });
 *   return { with: (values) => counter.labels(values), remove: (values) => counter.remove(values) };
 * }
 * // OpenTelemetry: instruments take the attributes with each value
 * counter: ({ name, help }) => {
 *   const counter = meter.createCounter(name, { description: help });
 *   return { with: (values) => ({ inc: (by = 1) => counter.add(by, values) }) };
 * }
 */
export interface Metrics {
  /**
   * False when measurements are dropped: the caller may then skip measurements that cost something, such as reading a
   * clock.
   */
  readonly enabled: boolean;
  /** The counter of that name, created on first use. */
  counter<L extends string = never>(spec: MetricSpec<L>): Counter<L>;
  /** The gauge of that name. */
  gauge<L extends string = never>(spec: MetricSpec<L>): Gauge<L>;
  /** The histogram of that name. */
  histogram<L extends string = never>(spec: HistogramSpec<L>): Histogram<L>;
}

const noSeries = Object.freeze({ inc() {}, set() {}, observe() {} });
const noInstrument = Object.freeze({ with: () => noSeries });

/** Counts nothing: every call ends in one shared empty function. */
export const noMetrics: Metrics = Object.freeze({
  enabled: false,
  counter: () => noInstrument,
  gauge: () => noInstrument,
  histogram: () => noInstrument,
});

/** Keeps the numbers, for tests that ask what was counted. */
export interface MemoryMetrics extends Metrics {
  /** Value of a counter or gauge; undefined when nothing was written with just these labels. */
  value(name: string, labels?: Readonly<Record<string, string>>): number | undefined;
  /** The values that a histogram got, in order. */
  observed(name: string, labels?: Readonly<Record<string, string>>): readonly number[];
}

/** {@link Metrics} that remember, to be asked by `value` and `observed`. */
export function memoryMetrics(): MemoryMetrics {
  const values = new Map<string, number>();
  const observations = new Map<string, number[]>();
  const idOf = (name: string, labels: Readonly<Record<string, string>>): string =>
    JSON.stringify([name, Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))]);
  const instrument = ({ name }: MetricSpec<string>) => ({
    with(labels: Readonly<Record<string, string>>) {
      const id = idOf(name, labels);
      return {
        inc: (by = 1) => void values.set(id, (values.get(id) ?? 0) + by),
        set: (value: number) => void values.set(id, value),
        observe: (value: number) => void observations.set(id, [...(observations.get(id) ?? []), value]),
      };
    },
    remove(labels: Readonly<Record<string, string>>) {
      values.delete(idOf(name, labels));
      observations.delete(idOf(name, labels));
    },
  });
  return Object.freeze({
    enabled: true,
    counter: instrument,
    gauge: instrument,
    histogram: instrument,
    value: (name: string, labels = {}) => values.get(idOf(name, labels)),
    observed: (name: string, labels = {}) => observations.get(idOf(name, labels)) ?? [],
  });
}
