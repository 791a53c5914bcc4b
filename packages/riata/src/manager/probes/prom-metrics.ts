import { createRequire } from 'node:module';
import process from 'node:process';
import type { MetricSpec, Metrics } from '../../runtime/metrics.js';

/** The part of the package `prom-client` that is used: any version with it will do. */
export interface PromClient {
  readonly Counter: new (options: PromOptions) => PromInstrument<{ inc(by?: number): void }>;
  readonly Gauge: new (options: PromOptions) => PromInstrument<{ set(value: number): void; inc(by?: number): void }>;
  readonly Histogram: new (options: PromOptions) => PromInstrument<{ observe(value: number): void }>;
}

interface PromInstrument<Series> {
  labels(values: object): Series;
  remove(values: object): void;
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
  const instrument = <Series>(prom: PromInstrument<Series>) => ({
    with: (values: object) => prom.labels(values),
    remove: (values: object) => prom.remove(values),
  });
  const known = <T>(name: string, make: () => T): T => (registry.getSingleMetric(name) as T | undefined) ?? make();
  return {
    enabled: true,
    counter: (spec) => {
      const counter = known(spec.name, () => new prom.Counter(options(spec)));
      return instrument(counter);
    },
    gauge: (spec) => {
      const gauge = known(spec.name, () => new prom.Gauge(options(spec)));
      return instrument(gauge);
    },
    histogram: (spec) => {
      const { buckets } = spec;
      const histogram = known(spec.name, () => new prom.Histogram(options(spec, buckets && { buckets: [...buckets] })));
      return instrument(histogram);
    },
  };
}

/**
 * A registry with the process's default metrics. Loads the package now, and only if metrics are enabled. Throws, with
 * the remedy, if it is not installed.
 */
export function loadPromMetrics(): { readonly metrics: Metrics; readonly registry: PromRegistry } {
  const prom = requireProm();
  const registry = new prom.Registry();
  prom.collectDefaultMetrics({ register: registry });
  return { metrics: promMetrics(prom, registry), registry };
}

function requireProm(): LoadedProm {
  // In a bundle of CommonJS there is no such address.
  const require = createRequire(import.meta.url ?? `${process.cwd()}/`);
  try {
    return require('prom-client') as LoadedProm;
  } catch (error) {
    throw new Error('metrics: the package prom-client is not installed; run "npm install prom-client"', {
      cause: error,
    });
  }
}

interface LoadedProm extends PromClient {
  readonly Registry: new () => PromRegistry;
  collectDefaultMetrics(options: { readonly register: PromRegistry }): void;
}
