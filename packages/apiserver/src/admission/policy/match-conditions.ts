import type { JsonObject } from 'riata/object';
import { aggregate } from '../../authorization/authorizer.js';
import { type Activation, conditionBudget, OutOfBudget } from '../../cel/admission/activation.js';
import type { AdmissionCompiler, CompiledExpression, ExpressionNames } from '../../cel/admission/admission-compiler.js';
import { boolType } from '../../cel/language/cel-type.js';
import { recordsOf, textOf } from '../../resource/metadata.js';

/** The result of match conditions: whether the request matches, or why they could not be evaluated. */
export type ConditionsResult = { readonly matches: boolean } | { readonly error: string };

/** The conditions of a policy or a webhook (`matchconditions.Matcher`). */
export class MatchConditions {
  readonly #conditions: readonly CompiledExpression[];
  readonly #ignoresErrors: boolean;

  constructor(spec: JsonObject, compiler: AdmissionCompiler, names: ExpressionNames) {
    this.#conditions = recordsOf(spec.matchConditions).map(({ expression }) =>
      compiler.compile(textOf(expression), [boolType], names),
    );
    this.#ignoresErrors = spec.failurePolicy === 'Ignore';
  }

  get isEmpty(): boolean {
    return this.#conditions.length === 0;
  }

  match(activation: Activation): ConditionsResult {
    const budget = { left: conditionBudget };
    const errors: string[] = [];
    try {
      const results = this.#conditions.map((condition) => activation.run(condition, budget));
      for (const result of results) {
        if ('error' in result) errors.push(result.error);
        // A false condition decides, whatever the others return.
        else if (result.value === false) return { matches: false };
      }
    } catch (error) {
      if (!(error instanceof OutOfBudget)) throw error;
      errors.push(error.message);
    }
    if (errors.length === 0) return { matches: true };
    return this.#ignoresErrors ? { matches: false } : { error: aggregate(errors) };
  }
}
