import { isJsonObject, type JsonObject, type StatusDetails } from 'riata/object';
import { stringsOf, textOf } from '../../resource/metadata.js';
import { goQuote } from '../../status/go-quote.js';
import { badRequest, Refusal } from '../../status/refusal.js';
import { readReview } from '../../webhook-client/read-review.js';
import { WebhookCallError } from '../../webhook-client/webhook-caller.js';
import type { AdmissionAttributes } from '../admission.js';
import type { AdmissionParts } from '../admission-parts.js';
import type { MatchedResource } from '../matching/request-matcher.js';
import { InvalidReviewError, type ReviewResponse, responseOf, reviewOf, reviewVersionOf } from './admission-review.js';
import { reviewTypeProblem } from './review-type-problem.js';
import type { ShownObjects } from './webhook-matcher.js';
import type { Webhook } from './webhook-source.js';

/** A webhook could not be called or its response was invalid; its failure policy decides (`ErrCallingWebhook`). */
export class FailedCallError extends Error {
  override readonly name = 'FailedCallError';

  constructor(webhook: string, reason: string) {
    super(`failed calling webhook ${goQuote(webhook)}: ${reason}`);
  }
}

/** A call of a webhook about one request. */
export interface WebhookCall {
  readonly webhook: Webhook;
  readonly attributes: AdmissionAttributes;
  readonly matched: MatchedResource;
  readonly shown: ShownObjects;
  readonly mutates: boolean;
}

/**
 * Calls a webhook and returns its response if it allows the request. Passes warnings and annotations on. Throws a
 * {@link FailedCallError}, or a `Refusal`.
 */
export async function callWebhook(
  { webhooks, random }: Pick<AdmissionParts, 'webhooks' | 'random'>,
  { webhook, attributes, matched, shown, mutates }: WebhookCall,
): Promise<ReviewResponse> {
  const { name, spec, target, timeoutMs } = webhook;
  const failed = (reason: string) => new FailedCallError(name, reason);
  if (attributes.dryRun && spec.sideEffects !== 'None' && spec.sideEffects !== 'NoneOnDryRun') {
    throw badRequest(`admission webhook ${goQuote(name)} does not support dry run`);
  }
  const version = reviewVersionOf(stringsOf(spec.admissionReviewVersions));
  if (version === undefined) {
    throw failed(
      'could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)',
    );
  }
  const uid = random.uuid();
  let response: ReviewResponse;
  try {
    const answer = await webhooks.call(target, reviewOf(uid, version, attributes, matched, shown), { timeoutMs });
    response = responseOf(await decodeReview(answer, version), uid, version, mutates);
  } catch (error) {
    if (error instanceof WebhookCallError) throw failed(`failed to call webhook: ${error.message}`);
    if (error instanceof InvalidReviewError) throw failed(`received invalid webhook response: ${error.message}`);
    throw error;
  }
  for (const [key, value] of Object.entries(response.auditAnnotations)) attributes.annotate(`${name}/${key}`, value);
  for (const warning of response.warnings) attributes.warn(warning);
  if (!response.allowed) throw denial(name, response.result);
  return response;
}

/** Throws a `WebhookCallError` for anything but a review, since client-go decodes the response as part of the call. */
async function decodeReview(text: string, version: string): Promise<JsonObject> {
  const review = await readReview(text);
  const { kind = '', apiVersion = '' } = review;
  // A review without its kind is taken for one of the version that was sent.
  const named = kind === '' || apiVersion === '' ? version : versionNamed(textOf(apiVersion), textOf(kind));
  const problem = reviewTypeProblem(review, named);
  if (problem !== undefined) throw new WebhookCallError(problem);
  if (named === version) return review;
  throw new WebhookCallError(
    `converting (${named}.AdmissionReview) to (${version}.AdmissionReview): unknown conversion`,
  );
}

function versionNamed(apiVersion: string, kind: string): string {
  const version = /^admission\.k8s\.io\/(v1|v1beta1)$/.exec(apiVersion)?.[1];
  if (kind === 'AdmissionReview' && version !== undefined) return version;
  const where = `for version ${goQuote(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`;
  throw new WebhookCallError(`no kind ${goQuote(kind)} is registered ${where}`);
}

/** The response to a denied request (`webhookerrors.ToStatusErr`). */
function denial(webhook: string, result: JsonObject = {}): Refusal {
  const [message, reason] = [textOf(result.message), textOf(result.reason)];
  const code = typeof result.code === 'number' && result.code >= 400 ? result.code : 400;
  const why = message || reason;
  const denied = `admission webhook ${goQuote(webhook)} denied the request`;
  const details = isJsonObject(result.details) ? (result.details as StatusDetails) : undefined;
  return new Refusal(code, reason, why === '' ? `${denied} without explanation` : `${denied}: ${why}`, details);
}
