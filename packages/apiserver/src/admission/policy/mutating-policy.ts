import type { JsonObject } from 'riata/object';
import { Activation, OutOfBudget, policyBudget } from '../../cel/admission/activation.js';
import { AdmissionCompiler, type CompiledExpression } from '../../cel/admission/admission-compiler.js';
import type { Value } from '../../cel/language/value.js';
import { applyConfigurationType, jsonPatchesType } from '../../cel/library/patches.js';
import { isGiven, recordOf, recordsOf, textOf } from '../../resource/metadata.js';
import { type AdmissionInput, admissionValues } from '../matching/admission-values.js';
import { type ConditionsResult, MatchConditions } from './match-conditions.js';
import { MutationError } from './mutation-error.js';

/** One mutation of a policy. */
export interface Mutation {
  readonly type: 'JSONPatch' | 'ApplyConfiguration';
  readonly expression: CompiledExpression;
}

/** A MutatingAdmissionPolicy with compiled expressions (`mutating.PolicyEvaluator`). */
export class MutatingPolicy {
  readonly #compiler = new AdmissionCompiler(true);
  readonly #conditions: MatchConditions;
  readonly mutations: readonly Mutation[];
  /** Whether it runs again after a later change. */
  readonly isReinvoked: boolean;

  constructor(policy: JsonObject) {
    const spec = recordOf(policy.spec);
    const names = { params: isGiven(spec.paramKind), authorizer: true };
    const compiler = this.#compiler;
    this.isReinvoked = spec.reinvocationPolicy === 'IfNeeded';
    for (const { name, expression } of recordsOf(spec.variables)) {
      compiler.declare(textOf(name), textOf(expression), names);
    }
    this.#conditions = new MatchConditions(spec, compiler, names);
    this.mutations = recordsOf(spec.mutations).map(({ patchType, jsonPatch, applyConfiguration }) => {
      const isPatch = patchType === 'JSONPatch';
      const source = textOf(recordOf(isPatch ? jsonPatch : applyConfiguration).expression);
      const result = isPatch ? jsonPatchesType : applyConfigurationType;
      return {
        type: isPatch ? 'JSONPatch' : 'ApplyConfiguration',
        expression: compiler.compile(source, [result], { ...names, patches: true }),
      };
    });
  }

  /** Whether its conditions match a request. */
  matches(input: AdmissionInput): ConditionsResult {
    if (this.#conditions.isEmpty) return { matches: true };
    const asked = { resource: input.attributes.resource, kind: input.matched.kind };
    const values = admissionValues({ ...input, matched: asked, namespace: undefined });
    return this.#conditions.match(new Activation(values, this.#compiler.variables));
  }

  /** The result of a mutation's expression. Throws a {@link MutationError}. */
  evaluate({ expression }: Mutation, input: AdmissionInput): Value {
    if ('problem' in expression) throw new MutationError(expression.problem);
    try {
      const activation = new Activation(admissionValues(input), this.#compiler.variables);
      const result = activation.run(expression, { left: policyBudget });
      if ('error' in result) throw new MutationError(result.error);
      return result.value;
    } catch (error) {
      if (error instanceof OutOfBudget) throw new MutationError(error.message);
      throw error;
    }
  }
}
