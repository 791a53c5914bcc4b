import type { Duration, KubeObject } from 'riata/object';
import type { History } from './history.js';
import type { RunFailure } from './run-failure.js';
import type { FaultKind, FaultPlace, RunPlan, SimulatedFault } from './simulated-fault.js';
import type { StoryStep } from './story-line.js';

/** A write that a controller made. */
export interface RunWrite {
  /** `create`, `update`, `patch` or `delete`. */
  readonly verb: string;
  /** `ConfigMap default/blog`, `Site default/blog/status`. */
  readonly object: string;
  readonly controller: string;
  /** How many steps the story had made by then. */
  readonly step: number;
  /** Whether the server would refuse it if the object had changed meanwhile. */
  readonly isConditional: boolean;
  code?: number;
}

/** A watch event that a process received. */
export interface RunEvent {
  readonly type: string;
  readonly object: string;
}

/** The cluster at one moment: objects that were created or changed in the run. */
export interface RunState {
  readonly objects: readonly KubeObject[];
  /** Names of objects by uid, of objects that are gone as well. */
  readonly uids: ReadonlyMap<string, string>;
  /** Whether the object with this uid was created in the run. */
  readonly isCreated: (uid: string) => boolean;
  /** The state of the world, as JSON. */
  readonly world: string | undefined;
}

/** How far a run had come, to know which faults can still happen after it. */
export type RunPoint = Readonly<Record<FaultPlace, number>>;

/** What became of the change of a run. */
export interface ChangeResult {
  /** Where the run was when the change was made. */
  readonly at: RunPoint;
  /** `Site default/blog`. */
  readonly object: string;
  /** The state before the change. */
  readonly before: RunState;
  /** Why the server refused the change, or to undo it: then nothing can be compared. */
  readonly refused?: string;
}

/** What a run has shown. */
export interface RunResult {
  readonly plan: RunPlan;
  readonly history: History;
  /** Writes of the story, of the change of the plan, and of the clean-up. */
  readonly steps: readonly StoryStep[];
  /** How many of the steps the story itself made. */
  readonly told: number;
  /** Where the story let time pass, after how many steps. */
  readonly advances: readonly { readonly after: number; readonly by: Duration }[];
  readonly writes: readonly RunWrite[];
  readonly events: readonly RunEvent[];
  readonly webhookCalls: number;
  readonly reconciles: number;
  /** Faults that happened; a run may be over before the others. */
  readonly happened: readonly SimulatedFault[];
  /** The state after each step of the story, where everything had settled, by its number. */
  readonly states: ReadonlyMap<number, RunState>;
  /** When the story was over; undefined if the run failed before. */
  readonly after?: RunState;
  /** When all that the story created had been deleted. */
  readonly end?: RunState;
  /** Names of all objects that were created. */
  readonly created: ReadonlySet<string>;
  /** Names of all objects that were removed, by anybody, with the step of the story in which this happened first. */
  readonly removed: ReadonlyMap<string, number>;
  /** Every condition that any object had, as `Site Ready=True=Reconciled`. */
  readonly conditions: ReadonlySet<string>;
  /** What became of the change of the plan, if it has one and the run came so far. */
  readonly change?: ChangeResult;
  readonly failure?: RunFailure;
}

/** Kinds of faults that apply to a write. */
export function appliesTo(kind: FaultKind, { isConditional }: RunWrite): boolean {
  return kind !== 'conflict' || isConditional;
}
