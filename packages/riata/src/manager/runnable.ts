import type { ControllerGroup } from './debug/controller-group.js';

/** Something that a manager runs (`manager.Runnable`): a server, a loop, anything that lives as long as the process. */
export interface Runnable {
  /** In logs, and in the exit reason when it fails. */
  readonly name: string;
  /** Works until the signal aborts; resolves when it has ended. If it rejects, the manager stops. May end early. */
  run(options: { readonly signal: AbortSignal }): Promise<void>;
  /**
   * Gets ready without working yet: called while another replica leads, and `run` later on, whether it has ended or not
   * (`warmupRunnable`). The signal is that of `run`; if it aborts before, `run` is not called. If it rejects, the manager
   * stops. @default nothing to do
   */
  warmUp?(options: { readonly signal: AbortSignal }): Promise<void>;
  /**
   * When and where it runs, unless `manager.add` gives another stage: `'leader'` for what only the leader may do
   * (`LeaderElectionRunnable`, `NeedLeaderElection`). @default 'others', on every replica
   */
  readonly stage?: RunnableStage;
  /** The controllers that it runs, for the debug endpoints and the dashboard. @default none */
  readonly controllerGroup?: ControllerGroup;
}

/**
 * When a runnable runs, in the order of starting; stopping goes the other way round. `servers`: probes and metrics.
 * `webhooks`: before anything is read. `caches`: and wait until they are synced. `others`: on every replica. `leader`: on
 * the replica that leads.
 */
export const startOrder = ['servers', 'webhooks', 'caches', 'others', 'leader'] as const;

/** One of {@link startOrder}. */
export type RunnableStage = (typeof startOrder)[number];

/** Why a value is no controller definition, runnable or options object; for callers without types. */
export function definitionProblem(given: unknown): string | undefined {
  if (typeof given !== 'object' || given === null) {
    return `expects a controller made by control(Foo).reconcile(…), got ${given === null ? 'null' : typeof given}`;
  }
  if ('reconciler' in given || !('reconcile' in given)) return undefined;
  return 'the controller has no reconciler yet: end it with .reconcile(async ({ object }) => { … })';
}

/** Throws what is wrong with a runnable. */
export function assertRunnable(given: Runnable): void {
  const problem = definitionProblem(given);
  const isRunnable = problem === undefined && typeof given.run === 'function';
  if (!isRunnable) throw new TypeError(`manager.add: ${problem ?? `"${given.name}" has no method run`}`);
}
