import type { FaultKind } from '../run/simulated-fault.js';

/** What the runs of a simulation have reached. */
export interface Coverage {
  readonly runs: number;
  readonly faults: ReadonlyMap<FaultKind, number>;
  readonly writes: ReadonlyMap<string, ReadonlySet<FaultKind>>;
  readonly events: ReadonlyMap<string, ReadonlySet<FaultKind>>;
  readonly conditions: ReadonlyMap<string, ReadonlySet<string>>;
  readonly hash: string;
}
