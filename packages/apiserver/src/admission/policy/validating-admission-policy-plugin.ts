import { Buffer } from 'node:buffer';
import type { JsonObject } from 'riata/object';
import { withConversions } from '../../resource/custom/stored-conversions.js';
import { stringsOf } from '../../resource/metadata.js';
import type { Refusal } from '../../status/refusal.js';
import type { Steps } from '../../steps.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.js';
import type { AdmissionParts } from '../admission-parts.js';
import { objectsIn } from '../matching/objects-in.js';
import { RequestMatcher } from '../matching/request-matcher.js';
import { policyDenial } from './policy-denial.js';
import { isExempt, type PolicyInvocation, policyInvocations } from './policy-invocations.js';
import { type PolicyBinding, PolicySource } from './policy-source.js';
import { ValidatingPolicy, type ValidationResult } from './validating-policy.js';

const maxAnnotationBytes = 10 * 1024;

/** A validation that a request fails, or an error that fails it. */
export interface PolicyFailure {
  readonly policy: string;
  /** Undefined if the policy itself is at fault. */
  readonly binding: PolicyBinding | undefined;
  /** Of the validation; undefined for an error that is not one of a validation. */
  readonly expressionIndex: number | undefined;
  readonly message: string;
  /** `''` for an error. */
  readonly reason: string;
}

/** All that policies have to say about a request. */
export interface PolicyFindings {
  readonly failures: readonly PolicyFailure[];
  /** The audit annotations, by `policy/key`. */
  readonly annotations: ReadonlyMap<string, string>;
}

/** Enforces ValidatingAdmissionPolicies. */
export class ValidatingAdmissionPolicyPlugin implements AdmissionPlugin {
  readonly name = 'ValidatingAdmissionPolicy';
  readonly #parts: AdmissionParts;
  readonly #source: PolicySource<ValidatingPolicy>;
  readonly #matcher: RequestMatcher;

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
    this.#source = new PolicySource(parts.storage, 'validating', (policy) => new ValidatingPolicy(policy));
    this.#matcher = new RequestMatcher(parts);
  }

  observe(table: string): void {
    this.#source.observe(table);
  }

  handles(attributes: AdmissionAttributes): boolean {
    return this.#source.hooks.length > 0 && !isExempt(attributes);
  }

  *validate(attributes: AdmissionAttributes): Steps<void> {
    const { failures, annotations } = yield* this.findings(attributes);
    const denials = failures.filter((failure) => enforce(failure, attributes));
    for (const [key, value] of annotations) attributes.annotate(key, value);
    const [first] = denials;
    if (first !== undefined) throw denied(first, attributes);
  }

  /** Runs every policy that a request is meant by, and enforces nothing. */
  *findings(attributes: AdmissionAttributes): Steps<PolicyFindings> {
    const failures: PolicyFailure[] = [];
    const annotations = new Annotations();
    for (const invocation of yield* policyInvocations(this.#source.hooks, attributes, this.#matcher, this.#parts)) {
      const { name: policy, spec } = invocation.hook;
      const { binding } = invocation;
      const failed = (message: string) =>
        failures.push({ policy, binding, expressionIndex: undefined, message, reason: '' });
      if ('error' in invocation) {
        if (spec.failurePolicy !== 'Ignore') failed(invocation.error);
        continue;
      }
      const results: ValidationResult[] = [];
      for (const params of invocation.params) {
        results.push(yield* this.#run(invocation, params, attributes));
        yield;
      }
      for (const { decisions, annotations: made } of results) {
        for (const [expressionIndex, { denies, message, reason }] of decisions.entries()) {
          if (denies) failures.push({ policy, binding, expressionIndex, message, reason });
        }
        for (const annotation of made) {
          if ('value' in annotation) annotations.add(`${policy}/${annotation.key}`, annotation.value);
          else failed(annotation.error);
        }
      }
    }
    return { failures, annotations: annotations.texts() };
  }

  *#run(
    { hook, matched }: PolicyInvocation<ValidatingPolicy>,
    params: JsonObject | undefined,
    attributes: AdmissionAttributes,
  ): Steps<ValidationResult> {
    const { namespace, resource } = attributes;
    const isNamespace = resource.table === '/namespaces';
    return yield* hook.compiled.validate({
      ...{ attributes, matched, params },
      ...(yield* withConversions(() => objectsIn(matched, attributes))),
      namespace: namespace === '' || isNamespace ? undefined : this.#matcher.namespace(namespace),
      decide: (question) => this.#parts.authorizer.decide(question as never),
    });
  }
}

/** Carries out the actions of a binding. Returns whether the request is denied. */
function enforce(
  { policy, binding, expressionIndex, message }: PolicyFailure,
  attributes: AdmissionAttributes,
): boolean {
  // An error that is not one of a validation denies whatever the binding says.
  if (binding === undefined || expressionIndex === undefined) return true;
  const validationActions = stringsOf(binding.spec.validationActions);
  if (validationActions.includes('Audit')) {
    const failure = { message, policy, binding: binding.name, expressionIndex, validationActions };
    attributes.annotate('validation.policy.admission.k8s.io/validation_failure', JSON.stringify([failure]));
  }
  if (validationActions.includes('Warn')) {
    attributes.warn(
      `Validation failed for ValidatingAdmissionPolicy '${policy}' with binding '${binding.name}': ${message}`,
    );
  }
  return validationActions.includes('Deny');
}

function denied({ policy, binding, message, reason }: PolicyFailure, attributes: AdmissionAttributes): Refusal {
  const by = binding === undefined ? '' : ` with binding '${binding.name}'`;
  const text = `ValidatingAdmissionPolicy '${policy}'${by} denied request: ${message}`;
  return policyDenial(attributes, text, reason === '' ? 'Invalid' : reason);
}

/** Audit annotations of a request: each value once, those of one key side by side. */
class Annotations {
  readonly #values = new Map<string, Set<string>>();

  add(key: string, value: string): void {
    const bytes = Buffer.from(value);
    const text = bytes.length > maxAnnotationBytes ? bytes.subarray(0, maxAnnotationBytes).toString() : value;
    this.#values.set(key, (this.#values.get(key) ?? new Set()).add(text));
  }

  texts(): ReadonlyMap<string, string> {
    return new Map([...this.#values].map(([key, values]) => [key, [...values].join(', ')]));
  }
}
