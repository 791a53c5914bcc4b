import type { ViolatedRule } from '../run/run-failure.js';
import type { RunEvent, RunPoint, RunResult, RunWrite } from '../run/run-result.js';
import type { RunPlan, SimulatedFault } from '../run/simulated-fault.js';

/** What exploring needs to know about a run; it can be sent from one thread to another. */
export interface RunSummary {
  readonly plan: RunPlan;
  /** Of a run without faults and changes: the hash of its history. */
  readonly hash?: string;
  readonly steps: number;
  readonly writes: readonly RunWrite[];
  readonly events: readonly RunEvent[];
  readonly webhookCalls: number;
  readonly happened: readonly SimulatedFault[];
  readonly conditions: ReadonlySet<string>;
  /** The object that was changed, and where; undefined if the plan has no change. */
  readonly changed?: { readonly kind: string; readonly at: RunPoint };
  /** Why the server refused the change, or to undo it. */
  readonly refused?: string;
  /** What the run has violated; undefined if nothing. */
  readonly violated?: ViolatedRule;
}

/** Summarises a run and what it was judged to be. */
export function summarise(run: RunResult, violated?: ViolatedRule): RunSummary {
  const { plan, history, steps, writes, events, webhookCalls, happened, conditions, change } = run;
  return {
    ...{ plan, steps: steps.length, writes, events, webhookCalls, happened, conditions },
    ...(plan.faults.length === 0 && plan.change === undefined && { hash: history.hash() }),
    ...(change !== undefined && { changed: { kind: change.object.split(' ', 1)[0] ?? '', at: change.at } }),
    ...(change?.refused !== undefined && { refused: change.refused }),
    ...(violated !== undefined && { violated }),
  };
}
