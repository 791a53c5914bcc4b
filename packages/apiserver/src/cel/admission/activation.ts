import { CelError } from '../language/cel-error.js';
import type { Mapping, Value } from '../language/value.js';
import type { CompiledExpression } from './admission-compiler.js';

/** The cost limit of one expression. */
const perCall = 1_000_000;

/** The cost limit of all expressions of one policy and binding together, for one object and one set of params. */
export const policyBudget = 10_000_000;
/** The same for the conditions of one webhook or policy. */
export const conditionBudget = 2_500_000;

/** No expression is computed any more: those before have cost too much. */
export class OutOfBudget extends Error {
  override readonly name = 'OutOfBudget';

  constructor() {
    super('validation failed due to running out of cost budget, no further validation rules will be run');
  }
}

/** The remaining budget. */
export interface Budget {
  left: number;
}

/** The result of an expression, or its error, in upstream's words. */
export type Evaluated = { readonly value: Value } | { readonly error: string };

/** Computes expressions on the values of one request (`evaluationActivation`). */
export class Activation {
  readonly #values: ReadonlyMap<string, Value>;
  /** The cost of variables since the last expression. */
  #spent = 0;

  /** `values` by their names; `variables` are computed on first use, once. */
  constructor(values: ReadonlyMap<string, Value>, variables?: ReadonlyMap<string, CompiledExpression>) {
    const all = new Map(values);
    this.#values = all;
    if (variables !== undefined) all.set('variables', this.#lazily(variables));
  }

  /** Computes an expression. Throws {@link OutOfBudget}. */
  run(expression: CompiledExpression, budget: Budget): Evaluated {
    if ('problem' in expression) return { error: `compilation error: ${expression.problem}` };
    this.#spent = 0;
    const outcome = expression.program.run(this.#values, perCall);
    for (const cost of [this.#spent, outcome.cost]) {
      if (cost > budget.left) throw new OutOfBudget();
      budget.left -= cost;
    }
    if (!('error' in outcome)) return { value: outcome.value };
    return { error: `expression '${expression.source}' resulted in error: ${outcome.error.message}` };
  }

  #lazily(variables: ReadonlyMap<string, CompiledExpression>): Mapping {
    const known = new Map<string, Value | CelError>();
    return {
      isMapping: true,
      size: variables.size,
      typeName: 'kubernetes.variables',
      countsNull: true,
      keys: () => [...variables.keys()],
      get: (key) => {
        const expression = variables.get(String(key));
        if (expression === undefined) return undefined;
        const value = known.get(String(key)) ?? this.#variable(String(key), expression);
        known.set(String(key), value);
        if (value instanceof CelError) throw value;
        return value;
      },
    };
  }

  #variable(name: string, expression: CompiledExpression): Value | CelError {
    if ('problem' in expression) {
      return new CelError(`composited variable "${name}" fails to compile: ${expression.problem}`);
    }
    const outcome = expression.program.run(this.#values, perCall);
    this.#spent += outcome.cost;
    if (!('error' in outcome)) return outcome.value;
    return new CelError(`composited variable "${name}" fails to evaluate: ${outcome.error.message}`);
  }
}
