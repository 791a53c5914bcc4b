import type { JsonObject } from 'riata/object';
import { Activation } from '../../cel/admission/activation.js';
import { recordOf } from '../../resource/metadata.js';
import { forbiddenWrite } from '../../status/refusal.js';
import type { AdmissionAttributes } from '../admission.js';
import type { AdmissionParts } from '../admission-parts.js';
import { admissionValues } from '../matching/admission-values.js';
import { type MatchedResource, RequestMatcher } from '../matching/request-matcher.js';
import type { Webhook } from './webhook-source.js';

/** The objects of a request, in the version by which a webhook matched it. */
export interface ShownObjects {
  readonly object: JsonObject | undefined;
  readonly oldObject: JsonObject | undefined;
}

/** Decides which webhooks are called for a request (`generic.Webhook.ShouldCallHook`). */
export class WebhookMatcher {
  readonly #parts: AdmissionParts;
  readonly #requests: RequestMatcher;

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
    this.#requests = new RequestMatcher(parts);
  }

  /** Whether webhooks can apply to a request. They are never called for the kinds that configure admission. */
  handles(webhooks: readonly Webhook[], { resource }: AdmissionAttributes): boolean {
    return webhooks.length > 0 && !isExempt(resource);
  }

  /** Whether a webhook may be called, by rules only. */
  mayCall(webhooks: readonly Webhook[], attributes: AdmissionAttributes): boolean {
    if (!this.handles(webhooks, attributes)) return false;
    return webhooks.some(({ rules, fuzzy }) => this.#requests.matchRules(rules, fuzzy, attributes) !== undefined);
  }

  /**
   * The resource by which a webhook matches a request; undefined if it does not match. `shown` returns the objects in
   * that version. Throws a `Refusal`.
   */
  match(
    webhook: Webhook,
    attributes: AdmissionAttributes,
    shown: (matched: MatchedResource) => ShownObjects,
  ): MatchedResource | undefined {
    const { spec, rules, fuzzy } = webhook;
    if (!this.#requests.objectMatches(recordOf(spec.objectSelector), attributes)) return undefined;
    const matched = this.#requests.matchRules(rules, fuzzy, attributes);
    if (matched === undefined) return undefined;
    if (!this.#requests.namespaceMatches(recordOf(spec.namespaceSelector), attributes)) return undefined;
    const conditions = webhook.conditions();
    if (conditions === undefined) return matched;
    const { authorizer } = this.#parts;
    const decide = (question: unknown) => authorizer.decide(question as never);
    const values = admissionValues({ attributes, matched, ...shown(matched), decide });
    const result = conditions.match(new Activation(values));
    if ('error' in result) throw forbiddenWrite(attributes.resource, attributes.name, result.error);
    return result.matches ? matched : undefined;
  }
}

const exemptKinds = [
  'ValidatingWebhookConfiguration',
  'MutatingWebhookConfiguration',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
];

function isExempt({ group, kind }: AdmissionAttributes['resource']): boolean {
  return group === 'admissionregistration.k8s.io' && exemptKinds.includes(kind);
}
