import type { FaultKind } from '../run/simulated-fault.js';

/** What the runs of a simulation have reached. */
export interface Coverage {
  readonly runs: number;
  readonly faults: ReadonlyMap<FaultKind, number>;
  readonly writes: ReadonlyMap<string, ReadonlySet<FaultKind>>;
  readonly events: ReadonlyMap<string, ReadonlySet<FaultKind>>;
  readonly conditions: ReadonlyMap<string, ReadonlySet<string>>;
  readonly reasons: ReadonlyMap<string, ReadonlySet<string>>;
  readonly changes: ReadonlyMap<string, ReadonlySet<FaultKind>>;
  readonly refused: ReadonlyMap<string, string>;
  readonly hash: string;
}
