import type { HistogramSpec, Labels, MetricSpec, Metrics } from 'riata/runtime';

/** The media type of {@link TextMetrics.text}. */
export const metricsType = 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores';

const defaultBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

type Type = 'counter' | 'gauge' | 'histogram';

interface Family {
  readonly type: Type;
  readonly help: string;
  /** In the order in which they are written. */
  readonly labels: readonly string[];
  readonly buckets: readonly number[];
  /** By the text of their labels. */
  readonly series: Map<string, Series>;
}

/** The numbers of one set of label values. */
class Series {
  readonly #buckets: readonly number[];
  readonly #counts: number[];
  #value = 0;
  #observed = 0;

  constructor(buckets: readonly number[]) {
    this.#buckets = buckets;
    this.#counts = buckets.map(() => 0);
  }

  inc(by = 1): void {
    this.#value += by;
  }

  set(value: number): void {
    this.#value = value;
  }

  observe(value: number): void {
    this.#observed += 1;
    this.#value += value;
    const buckets = this.#buckets;
    let at = 0;
    while (at < buckets.length && value > (buckets[at] as number)) at++;
    if (at < buckets.length) this.#counts[at] = (this.#counts[at] as number) + 1;
  }

  lines(name: string, labels: string, type: Type): string {
    const inBraces = labels === '' ? '' : `{${labels}}`;
    if (type !== 'histogram') return `${name}${inBraces} ${goFloat(this.#value)}\n`;
    const before = labels === '' ? '' : `${labels},`;
    let total = 0;
    const buckets = this.#buckets.map((bound, at) => {
      total += this.#counts[at] as number;
      return `${name}_bucket{${before}le="${goFloat(bound)}"} ${goFloat(total)}\n`;
    });
    const all = goFloat(this.#observed);
    return `${buckets.join('')}${name}_bucket{${before}le="+Inf"} ${all}\n${name}_sum${inBraces} ${goFloat(this.#value)}\n${name}_count${inBraces} ${all}\n`;
  }
}

/** {@link Metrics} that are read as Prometheus' text format. */
export class TextMetrics implements Metrics {
  readonly enabled = true;
  readonly #families = new Map<string, Family>();

  counter<L extends string = never>(spec: MetricSpec<L>) {
    return this.#instrument<L>('counter', spec);
  }

  gauge<L extends string = never>(spec: MetricSpec<L>) {
    return this.#instrument<L>('gauge', spec);
  }

  histogram<L extends string = never>(spec: HistogramSpec<L>) {
    return this.#instrument<L>('histogram', spec);
  }

  /** Removes all series of counters and histograms. Those who kept one count on unseen. Gauges stay. */
  reset(): void {
    for (const { type, series } of this.#families.values()) if (type !== 'gauge') series.clear();
  }

  /** All metrics that have a series, sorted as Prometheus' own library does. */
  text(): string {
    const families = [...this.#families].filter(([, { series }]) => series.size > 0).sort(byKey);
    return families
      .map(([name, { type, help, series }]) => {
        const lines = [...series].sort(byKey).map(([labels, one]) => one.lines(name, labels, type));
        return `# HELP ${name} ${help.replace(/\\/g, '\\\\').replace(/\n/g, '\\n')}\n# TYPE ${name} ${type}\n${lines.join('')}`;
      })
      .join('');
  }

  #instrument<L extends string>(type: Type, spec: HistogramSpec<L>) {
    const { name, help, labels = [], buckets = defaultBuckets } = spec;
    let family = this.#families.get(name);
    if (family === undefined) {
      family = {
        ...{ type, help, labels: [...labels].sort(), series: new Map() },
        buckets: type === 'histogram' ? buckets : [],
      };
      this.#families.set(name, family);
    }
    return {
      with: (values: Labels<L>) => seriesOf(family, values),
      remove: (values: Labels<L>) => remove(family, values),
    };
  }
}

function seriesOf(family: Family, values: Readonly<Record<string, string>>): Series {
  const key = labelText(family, values);
  const known = family.series.get(key);
  if (known !== undefined) return known;
  const made = new Series(family.buckets);
  family.series.set(key, made);
  return made;
}

function remove(family: Family, values: Readonly<Record<string, string>>): void {
  family.series.delete(labelText(family, values));
}

function labelText({ labels }: Family, values: Readonly<Record<string, string>>): string {
  return labels.map((name) => `${name}="${escaped(values[name] ?? '')}"`).join(',');
}

function escaped(value: string): string {
  return value.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

/** A number as Go writes it: from a million on with an exponent. */
function goFloat(value: number): string {
  const size = Math.abs(value);
  if (size === 0 || (size >= 1e-4 && size < 1e6)) return String(value);
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
}
