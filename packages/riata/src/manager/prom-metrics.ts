import type { MetricSpec, Metrics } from '../runtime/metrics.js';

/** The part of the package `prom-client` that is used: any version with it will do. */
export interface PromClient {
  readonly Counter: new (options: PromOptions) => { labels(values: object): { inc(by?: number): void } };
  readonly Gauge: new (
    options: PromOptions,
  ) => {
    labels(values: object): { set(value: number): void; inc(by?: number): void };
  };
  readonly Histogram: new (options: PromOptions) => { labels(values: object): { observe(value: number): void } };
}

interface PromOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  readonly registers: readonly PromRegistry[];
  readonly buckets?: readonly number[];
}

/** A registry of `prom-client`. */
export interface PromRegistry {
  readonly contentType: string;
  metrics(): Promise<string>;
  getSingleMetric(name: string): unknown;
}

/** Counts with `prom-client`: `promMetrics(await import('prom-client'), registry)`. */
export function promMetrics(prom: PromClient, registry: PromRegistry): Metrics {
  const options = ({ name, help, labels = [] }: MetricSpec<string>, more: object = {}): PromOptions => ({
    ...{ name, help, labelNames: labels, registers: [registry] },
    ...more,
  });
  const known = <T>(name: string, make: () => T): T => (registry.getSingleMetric(name) as T | undefined) ?? make();
  return {
    enabled: true,
    counter: (spec) => {
      const counter = known(spec.name, () => new prom.Counter(options(spec)));
      return { with: (values) => counter.labels(values) };
    },
    gauge: (spec) => {
      const gauge = known(spec.name, () => new prom.Gauge(options(spec)));
      return { with: (values) => gauge.labels(values) };
    },
    histogram: (spec) => {
      const { buckets } = spec;
      const histogram = known(spec.name, () => new prom.Histogram(options(spec, buckets && { buckets: [...buckets] })));
      return { with: (values) => histogram.labels(values) };
    },
  };
}

/** A registry of its own, with the process's default metrics. Fails with the remedy if the package is not there. */
export async function loadPromMetrics(): Promise<{ readonly metrics: Metrics; readonly registry: PromRegistry }> {
  const name = 'prom-client';
  const prom = await import(name).then(
    (module: { readonly default?: LoadedProm } & LoadedProm) => module.default ?? module,
    (error: unknown) => {
      throw new Error('metrics: the package prom-client is not installed; run "npm install prom-client"', {
        cause: error,
      });
    },
  );
  const registry = new prom.Registry();
  prom.collectDefaultMetrics({ register: registry });
  return { metrics: promMetrics(prom, registry), registry };
}

interface LoadedProm extends PromClient {
  readonly Registry: new () => PromRegistry;
  collectDefaultMetrics(options: { readonly register: PromRegistry }): void;
}
