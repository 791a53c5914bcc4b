import type { MessagePort } from 'node:worker_threads';
import { type RunSummary, summarise } from '../explore/run-summary.js';
import { FailedReference, RunTrials } from '../explore/run-trials.js';
import type { RunPlan } from '../run/simulated-fault.js';
import type { SimulateOptions } from '../simulate-options.js';

/** Where a simulation is exported, so that worker threads can import it. */
export interface SimulationModule {
  /** The address of the module: `import.meta.url`. */
  readonly module: string | URL;
  /** The name of the export. */
  readonly export: string;
}

/** How a worker thread finds {@link SimulationSource}, in whichever copy of this package. */
export const sourceKey: unique symbol = Symbol.for('riata.simulation') as never;

/** What a worker thread needs of a simulation. */
export interface SimulationSource {
  readonly module: string;
  readonly export: string;
  /** Makes the runs that it is sent, until the port is closed. */
  readonly serve: (port: MessagePort) => Promise<void>;
}

/** Options that a module exports, to be simulated in several threads. */
export type DefinedSimulation<W = undefined> = SimulateOptions<W> & { readonly [sourceKey]: SimulationSource };

/** From a worker thread. */
export type WorkerMessage =
  | { readonly type: 'ready'; readonly hash: string }
  | { readonly type: 'done'; readonly id: number; readonly summary: RunSummary }
  | { readonly type: 'failed'; readonly error: unknown };

/** To a worker thread. */
export interface WorkerTask {
  readonly id: number;
  readonly plan: RunPlan;
}

/**
 * Options of `simulate` for several threads. Functions can't be sent to worker threads: they import the module that exports
 * this value, which must not be a test file.
 *
 * @example
 * export const sites = defineSimulation({ kinds: [Site], run: [control(Site)…], story }, { module: import.meta.url, export: 'sites' });
 * test('sites survive anything', () => simulate({ ...sites, threads: 4 }));
 */
export function defineSimulation<W = undefined>(
  options: SimulateOptions<W>,
  place: SimulationModule,
): DefinedSimulation<W> {
  const source: SimulationSource = {
    ...{ module: String(place.module), export: place.export },
    serve: (port) => serveRuns(options, port),
  };
  return { ...options, [sourceKey]: source };
}

/** Where options were defined; undefined if not by {@link defineSimulation}. */
export function sourceOf(options: object): SimulationSource | undefined {
  return (options as Partial<DefinedSimulation<unknown>>)[sourceKey];
}

async function serveRuns<W>(options: SimulateOptions<W>, port: MessagePort): Promise<void> {
  const send = (message: WorkerMessage) => port.postMessage(message);
  const trials = await RunTrials.create(options);
  const reference = await trials.reference({ seed: options.seed ?? 1, faults: [] });
  port.on('message', ({ id, plan }: WorkerTask) => {
    makeRun(trials, plan).then(
      (summary) => send({ type: 'done', id, summary }),
      (error: unknown) => send({ type: 'failed', error }),
    );
  });
  send({ type: 'ready', hash: summarise(reference).hash ?? '' });
}

async function makeRun<W>(trials: RunTrials<W>, plan: RunPlan): Promise<RunSummary> {
  const run = await trials.run(plan);
  try {
    return summarise(run, (await trials.judge(run))?.failure.rule);
  } catch (error) {
    if (!(error instanceof FailedReference)) throw error;
    return summarise(run, error.verdict.failure.rule);
  }
}
