import { consoleLogger } from './log/console-logger.js';
import type { Logger } from './log/logger.js';
import { type Metrics, noMetrics } from './metrics.js';
import { optionNames, refuseUnknownOptions } from './option-names.js';
import { type Random, systemRandom } from './random.js';
import { requireSupportedNode } from './require-supported-node.js';
import type { Scheduler } from './time/clock.js';
import { systemClock } from './time/system-clock.js';
import { noTracer, type Tracer } from './tracing.js';

// Here, as whatever runs takes something from this file.
requireSupportedNode(process.versions.node);

/**
 * Everything that Riata takes from its environment, besides bytes. Whatever waits, uses randomness or reports takes
 * `runtime?: Partial<Runtime>` among its options, or the one member it needs.
 */
export interface Runtime {
  /** @default systemClock */
  readonly clock: Scheduler;
  /** @default systemRandom */
  readonly random: Random;
  /** @default consoleLogger() on the same clock */
  readonly log: Logger;
  /** @default noMetrics */
  readonly metrics: Metrics;
  /** @default noTracer */
  readonly tracer: Tracer;
}

export const runtimeOptionNames = optionNames<Runtime>({
  clock: true,
  random: true,
  log: true,
  metrics: true,
  tracer: true,
});

/** The machine's own time and chance, messages from info up on standard error, no metrics, no tracing. */
export function defaultRuntime(): Runtime {
  return resolveRuntime();
}

/** Fills in what is missing or undefined. */
export function resolveRuntime(given: Partial<Runtime> = {}): Runtime {
  refuseUnknownOptions('runtime', given, runtimeOptionNames);
  const clock = given.clock ?? systemClock;
  return Object.freeze({
    clock,
    random: given.random ?? systemRandom,
    log: given.log ?? consoleLogger({ clock }),
    metrics: given.metrics ?? noMetrics,
    tracer: given.tracer ?? noTracer,
  });
}
