import { withConversions } from '../../resource/custom/stored-conversions.js';
import { internal, Refusal } from '../../status/refusal.js';
import { type Steps, wait } from '../../steps.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.js';
import type { AdmissionParts } from '../admission-parts.js';
import { objectsIn } from '../matching/objects-in.js';
import type { MatchedResource } from '../matching/request-matcher.js';
import { callWebhook, FailedCallError, type WebhookCall } from './call-webhook.js';
import { WebhookMatcher } from './webhook-matcher.js';
import { WebhookSource } from './webhook-source.js';

/** Calls all matching webhooks in parallel; each of them can refuse the request. */
export class ValidatingAdmissionWebhook implements AdmissionPlugin {
  readonly name = 'ValidatingAdmissionWebhook';
  readonly #parts: AdmissionParts;
  readonly #matcher: WebhookMatcher;
  readonly #source: WebhookSource;

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
    this.#matcher = new WebhookMatcher(parts);
    this.#source = new WebhookSource(parts.storage, 'admissionregistration.k8s.io/validatingwebhookconfigurations');
  }

  observe(table: string): void {
    this.#source.observe(table);
  }

  handles(attributes: AdmissionAttributes): boolean {
    return this.#matcher.handles(this.#source.list(), attributes);
  }

  needsManagedFields(attributes: AdmissionAttributes): boolean {
    return this.#matcher.mayCall(this.#source.list(), attributes);
  }

  *validate(attributes: AdmissionAttributes): Steps<void> {
    const shownIn = (to: MatchedResource) => objectsIn(to, attributes);
    const calls: WebhookCall[] = [];
    for (const webhook of this.#source.list()) {
      const matched = yield* withConversions(() => this.#matcher.match(webhook, attributes, shownIn));
      if (matched === undefined) continue;
      const shown = yield* withConversions(() => shownIn(matched));
      calls.push({ webhook, attributes, matched, shown, mutates: false });
    }
    if (calls.length === 0) return;
    const refusals: Refusal[] = [];
    const asked = calls.map(async (call, index) => {
      const refusal = await this.#refusalOf(call, index);
      if (refusal !== undefined) refusals.push(refusal);
    });
    yield* wait(Promise.all(asked));
    // As upstream, the first refusal in time is reported.
    const [first] = refusals;
    if (first !== undefined) throw first;
  }

  async #refusalOf(call: WebhookCall, index: number): Promise<Refusal | undefined> {
    const { webhook, attributes } = call;
    try {
      await callWebhook(this.#parts, call);
      return undefined;
    } catch (error) {
      if (error instanceof Refusal) return error;
      if (!(error instanceof FailedCallError)) throw error;
      const { failsOpen, name } = webhook;
      const { message } = error;
      if (!failsOpen) return internal(message);
      this.#parts.log.warn('failed to call webhook, failing open', { webhook: name, error: message });
      attributes.annotate(`failed-open.validating.webhook.admission.k8s.io/round_0_index_${index}`, name);
      return undefined;
    }
  }
}
