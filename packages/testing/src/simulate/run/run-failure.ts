import type { SimulationRule } from '../simulate-options.js';

/** What a run has violated: a rule, a check of the test's own, or the story itself failed. */
export type ViolatedRule = SimulationRule | 'always' | 'eventually' | 'atTheEnd' | 'story' | 'manager' | 'settling';

/** A run that failed. */
export class RunFailure extends Error {
  override readonly name = 'RunFailure';
  readonly rule: ViolatedRule;

  constructor(rule: ViolatedRule, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.rule = rule;
  }
}
