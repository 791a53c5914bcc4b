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
import { type PolicyDecision, ValidatingPolicy, type ValidationResult } from './validating-policy.js';

const maxAnnotationBytes = 10 * 1024;

interface Denial {
  readonly policy: string;
  readonly binding: string | undefined;
  readonly message: string;
  readonly reason: string;
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
    const denials: Denial[] = [];
    const annotations = new Annotations();
    for (const invocation of yield* policyInvocations(this.#source.hooks, attributes, this.#matcher, this.#parts)) {
      const { name: policy, spec } = invocation.hook;
      const binding = invocation.binding?.name;
      if ('error' in invocation) {
        if (spec.failurePolicy !== 'Ignore') denials.push({ policy, binding, message: invocation.error, reason: '' });
        continue;
      }
      const results: ValidationResult[] = [];
      for (const params of invocation.params) {
        results.push(yield* this.#run(invocation, params, attributes));
        yield;
      }
      for (const { decisions, annotations: made } of results) {
        for (const [index, decision] of decisions.entries()) {
          if (decision.denies && enforce(policy, invocation.binding, index, decision, attributes)) {
            denials.push({ policy, binding, ...decision });
          }
        }
        for (const annotation of made) {
          if ('value' in annotation) annotations.add(`${policy}/${annotation.key}`, annotation.value);
          else denials.push({ policy, binding, message: annotation.error, reason: '' });
        }
      }
    }
    annotations.publish(attributes);
    const [first] = denials;
    if (first !== undefined) throw denied(first, attributes);
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
  policy: string,
  { name: binding, spec }: PolicyBinding,
  expressionIndex: number,
  { message }: PolicyDecision,
  attributes: AdmissionAttributes,
): boolean {
  const validationActions = stringsOf(spec.validationActions);
  if (validationActions.includes('Audit')) {
    const failure = { message, policy, binding, expressionIndex, validationActions };
    attributes.annotate('validation.policy.admission.k8s.io/validation_failure', JSON.stringify([failure]));
  }
  if (validationActions.includes('Warn')) {
    attributes.warn(
      `Validation failed for ValidatingAdmissionPolicy '${policy}' with binding '${binding}': ${message}`,
    );
  }
  return validationActions.includes('Deny');
}

function denied({ policy, binding, message, reason }: Denial, attributes: AdmissionAttributes): Refusal {
  const by = binding === undefined ? '' : ` with binding '${binding}'`;
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

  publish(attributes: AdmissionAttributes): void {
    for (const [key, values] of this.#values) attributes.annotate(key, [...values].join(', '));
  }
}
