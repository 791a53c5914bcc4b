import type { SimulateOptions } from '@riata/testing';

/** A simulation of controllers of this repository: with a small budget in `npm test`, with a large one in the soak. */
export interface NamedSimulation {
  readonly name: string;
  readonly options: SimulateOptions;
  /** Runs in `npm test`, where this one takes longer than others. @default 4 */
  readonly runs?: number;
}
