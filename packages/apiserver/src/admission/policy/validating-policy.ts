import { Buffer } from 'node:buffer';
import type { JsonObject } from 'riata/object';
import { Activation, type Budget, type Evaluated, OutOfBudget, policyBudget } from '../../cel/admission/activation.js';
import { AdmissionCompiler, type CompiledExpression } from '../../cel/admission/admission-compiler.js';
import { boolType, nullType, stringType } from '../../cel/language/cel-type.js';
import { typeNameOf } from '../../cel/language/value.js';
import { isGiven, recordOf, recordsOf, textOf } from '../../resource/metadata.js';
import type { Steps } from '../../steps.js';
import { type AdmissionInput, admissionValues } from '../matching/admission-values.js';
import { MatchConditions } from './match-conditions.js';

/** The result of a validation. */
export interface PolicyDecision {
  readonly denies: boolean;
  readonly message: string;
  /** `''` for an error. */
  readonly reason: string;
}

/** An audit annotation, or why its expression failed. */
export type AnnotationResult = { readonly key: string } & ({ readonly value: string } | { readonly error: string });

export interface ValidationResult {
  readonly decisions: readonly PolicyDecision[];
  readonly annotations: readonly AnnotationResult[];
}

interface Validation {
  readonly expression: CompiledExpression;
  readonly messageExpression: CompiledExpression | undefined;
  readonly message: string;
  readonly reason: string;
}

const maxMessageBytes = 5 * 1024;
const nothing: ValidationResult = { decisions: [], annotations: [] };

/** A ValidatingAdmissionPolicy with compiled expressions (`validating.Validator`). */
export class ValidatingPolicy {
  readonly #compiler = new AdmissionCompiler(true);
  readonly #ignoresErrors: boolean;
  readonly #conditions: MatchConditions;
  readonly #validations: readonly Validation[];
  readonly #annotations: readonly { readonly key: string; readonly value: CompiledExpression }[];

  constructor(policy: JsonObject) {
    const spec = recordOf(policy.spec);
    const names = { params: isGiven(spec.paramKind), authorizer: true };
    const withoutAuthorizer = { ...names, authorizer: false };
    const compiler = this.#compiler;
    this.#ignoresErrors = spec.failurePolicy === 'Ignore';
    for (const { name, expression } of recordsOf(spec.variables)) {
      compiler.declare(textOf(name), textOf(expression), names);
    }
    this.#conditions = new MatchConditions(spec, compiler, names);
    this.#validations = recordsOf(spec.validations).map(({ expression, messageExpression, message, reason }) => ({
      expression: compiler.compile(textOf(expression), [boolType], names),
      messageExpression:
        textOf(messageExpression) === ''
          ? undefined
          : compiler.compile(textOf(messageExpression), [stringType], withoutAuthorizer),
      message: textOf(message).trim(),
      reason: textOf(reason) || 'Invalid',
    }));
    this.#annotations = recordsOf(spec.auditAnnotations).map(({ key, valueExpression }) => ({
      key: textOf(key),
      value: compiler.compile(textOf(valueExpression), [stringType, nullType], names),
    }));
  }

  /** Runs all validations and annotations for one set of params. */
  *validate(input: AdmissionInput): Steps<ValidationResult> {
    const { variables } = this.#compiler;
    if (!this.#conditions.isEmpty) {
      const asked = { resource: input.attributes.resource, kind: input.matched.kind };
      const values = admissionValues({ ...input, matched: asked, namespace: undefined });
      const result = this.#conditions.match(new Activation(values, variables));
      if ('error' in result) return { ...nothing, decisions: [this.#failed(result.error)] };
      if (!result.matches) return nothing;
    }
    try {
      const budget = { left: policyBudget };
      const decided = new Activation(admissionValues(input), variables);
      const results: Evaluated[] = [];
      for (const { expression } of this.#validations) {
        results.push(decided.run(expression, budget));
        yield;
      }
      const values = admissionValues({ ...input, decide: undefined });
      const messages = yield* this.#messages(new Activation(values, variables), budget);
      const decisions = results.map((result, i) => this.#decision(i, result, messages));
      const annotations = yield* this.#annotate(new Activation(values, variables));
      return { decisions, annotations };
    } catch (error) {
      if (error instanceof OutOfBudget) return { ...nothing, decisions: [this.#failed(error.message)] };
      throw error;
    }
  }

  #failed(message: string): PolicyDecision {
    return { denies: !this.#ignoresErrors, message, reason: '' };
  }

  /** The results of message expressions, also of validations that passed; or the error that prevented them. */
  *#messages(activation: Activation, budget: Budget): Steps<readonly (Evaluated | undefined)[] | string> {
    const messages: (Evaluated | undefined)[] = [];
    try {
      for (const { messageExpression } of this.#validations) {
        messages.push(messageExpression === undefined ? undefined : activation.run(messageExpression, budget));
        yield;
      }
      return messages;
    } catch (error) {
      if (error instanceof OutOfBudget) return error.message;
      throw error;
    }
  }

  #decision(index: number, result: Evaluated, messages: readonly (Evaluated | undefined)[] | string): PolicyDecision {
    const { expression, message, reason } = this.#validations[index] as Validation;
    if ('error' in result) return this.#failed(result.error);
    if (typeof messages === 'string') return this.#failed(`failed messageExpression: ${messages}`);
    if (result.value === true) return { denies: false, message: '', reason };
    const text = messageText(messages[index]) || message || `failed expression: ${expression.source.trim()}`;
    return { denies: true, message: text, reason };
  }

  *#annotate(activation: Activation): Steps<readonly AnnotationResult[]> {
    const budget = { left: policyBudget };
    const results: AnnotationResult[] = [];
    for (const { key, value } of this.#annotations) {
      const result = activation.run(value, budget);
      yield;
      if ('error' in result) {
        if (!this.#ignoresErrors) results.push({ key, error: result.error });
      } else if (typeof result.value === 'string') {
        const text = result.value.trim();
        if (text !== '') results.push({ key, value: text });
      } else if (result.value !== null) {
        const type = typeNameOf(result.value);
        const error = `valueExpression '${value.source}' resulted in unsupported return type: ${type}. Return type must be either string or null.`;
        results.push({ key, error });
      }
    }
    return results;
  }
}

/** The text of a message; `''` for one that cannot be shown. */
function messageText(message: Evaluated | undefined): string {
  if (message === undefined || 'error' in message || typeof message.value !== 'string') return '';
  const text = message.value.trim();
  return Buffer.byteLength(text) > maxMessageBytes || text.includes('\n') ? '' : text;
}
