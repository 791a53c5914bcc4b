import { equal, type JsonObject } from 'riata/object';
import { writeJson } from '../../http/body/write-json.js';
import { withConversions } from '../../resource/custom/stored-conversions.js';
import { internal } from '../../status/refusal.js';
import { type Steps, wait } from '../../steps.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.js';
import { withObject } from '../admission-chain.js';
import type { AdmissionParts } from '../admission-parts.js';
import { converted, objectsIn } from '../matching/objects-in.js';
import type { MatchedResource } from '../matching/request-matcher.js';
import { Reinvocation } from '../reinvocation.js';
import { Rounds } from '../rounds.js';
import { applyPatch } from './apply-patch.js';
import { callWebhook, FailedCallError } from './call-webhook.js';
import { WebhookMatcher } from './webhook-matcher.js';
import { type Webhook, WebhookSource } from './webhook-source.js';

/** The object of a request between two webhooks, in the version of the last one. */
interface Versioned extends MatchedResource {
  readonly object: JsonObject | undefined;
  readonly oldObject: JsonObject | undefined;
}

/** Calls webhooks one after the other and applies their patches. */
export class MutatingAdmissionWebhook implements AdmissionPlugin {
  readonly name = 'MutatingAdmissionWebhook';
  readonly #parts: AdmissionParts;
  readonly #matcher: WebhookMatcher;
  readonly #source: WebhookSource;

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
    this.#matcher = new WebhookMatcher(parts);
    this.#source = new WebhookSource(parts.storage, 'admissionregistration.k8s.io/mutatingwebhookconfigurations');
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

  *admit(attributes: AdmissionAttributes): Steps<JsonObject | undefined> {
    const { reinvocation = new Reinvocation() } = attributes;
    const rounds = reinvocation.memory(this.name, () => new Rounds());
    if (reinvocation.isRunning) rounds.resume(attributes.object);
    const { resource, kind, object, oldObject } = attributes;
    let current: Versioned = { resource, kind, object, oldObject };
    for (const [index, webhook] of this.#source.list().entries()) {
      const now = current;
      const checked = now.object === object ? attributes : withObject(attributes, now.object);
      const matched = yield* withConversions(() =>
        this.#matcher.match(webhook, checked, (to) => inVersion(now, to, attributes)),
      );
      if (matched === undefined) continue;
      // A webhook that was not called in the first round is not called in the second.
      if (reinvocation.isRunning && !rounds.isCalledAgain(webhook.id)) continue;
      current = yield* withConversions(() => inVersion(now, matched, attributes));
      const after: Versioned = yield* this.#call(webhook, checked, current, reinvocation.isRunning ? 1 : 0, index);
      if (after !== current && !equal(after.object ?? null, current.object ?? null)) {
        rounds.callAgain();
        reinvocation.require();
      }
      if (webhook.spec.reinvocationPolicy === 'IfNeeded') rounds.invoked(webhook.id);
      current = after;
    }
    const last = current;
    const { object: result } = yield* withConversions(() => inVersion(last, attributes, attributes));
    rounds.finish(result);
    return result;
  }

  /** The object after a webhook; the same reference if it is unchanged. */
  *#call(
    webhook: Webhook,
    attributes: AdmissionAttributes,
    current: Versioned,
    round: number,
    index: number,
  ): Steps<Versioned> {
    const { name, configuration, failsOpen } = webhook;
    const at = `round_${round}_index_${index}`;
    let mutated = false;
    try {
      const call = { webhook, attributes, matched: current, shown: current, mutates: true };
      const { patch, patchType } = yield* wait(callWebhook(this.#parts, call));
      if (patch === '') return current;
      const applied = yield* applyPatch(this.#parts.served, webhook, attributes, current, { patch, patchType });
      if (applied === undefined) return current;
      mutated = !equal(applied.object, current.object ?? null);
      const detail = writeJson({ configuration, webhook: name, patch: applied.steps, patchType: 'JSONPatch' });
      attributes.annotate(`patch.webhook.admission.k8s.io/${at}`, detail, 'Request');
      return { ...current, object: applied.object };
    } catch (error) {
      if (!(error instanceof FailedCallError)) throw error;
      const { message } = error;
      if (!failsOpen) throw internal(message);
      this.#parts.log.warn('failed to call webhook, failing open', { webhook: name, error: message });
      attributes.annotate(`failed-open.mutation.webhook.admission.k8s.io/${at}`, name);
      return current;
    } finally {
      const detail = JSON.stringify({ configuration, webhook: name, mutated });
      attributes.annotate(`mutation.webhook.admission.k8s.io/${at}`, detail);
    }
  }
}

/** Converts the object to the version of another resource. */
function inVersion(
  current: Versioned,
  { resource, kind }: MatchedResource,
  attributes: AdmissionAttributes,
): Versioned {
  if (resource === current.resource) return current;
  const { oldObject } = objectsIn({ resource, kind }, attributes);
  const isOwn = attributes.subresource === '' || attributes.kind.kind === attributes.resource.kind;
  const { object } = current;
  return {
    ...{ resource, kind, oldObject },
    object: object === undefined || !isOwn ? object : converted(object, current.resource, resource),
  };
}
