import type { ViolatedRule } from './run/run-failure.js';

/** A simulation that found a failing run. */
export class SimulationError extends Error {
  override readonly name = 'SimulationError';
  /** What was violated. */
  readonly rule: ViolatedRule | 'determinism';
  /** For the option `replay`. */
  readonly replay: string;
  /** Runs that it took to find it, shrinking aside. */
  readonly runs: number;

  constructor(
    message: string,
    found: { rule: ViolatedRule | 'determinism'; replay: string; runs: number; cause?: unknown },
  ) {
    super(message, found.cause === undefined ? undefined : { cause: found.cause });
    this.rule = found.rule;
    this.replay = found.replay;
    this.runs = found.runs;
  }
}
