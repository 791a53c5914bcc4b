import { Buffer } from 'node:buffer';
import { isJsonObject, type JsonObject } from 'riata/object';
import { stringsOf, textOf } from '../../resource/metadata.js';
import { goKind } from '../../status/go-kind.js';
import { goQuote } from '../../status/go-quote.js';
import type { AdmissionAttributes } from '../admission.js';
import { admissionRequest } from '../matching/admission-request.js';
import type { MatchedResource } from '../matching/request-matcher.js';
import type { ShownObjects } from './webhook-matcher.js';

/** The response of a webhook. */
export interface ReviewResponse {
  readonly allowed: boolean;
  /** The JSON text of a patch; `''` without one. */
  readonly patch: string;
  readonly patchType: string;
  readonly result: JsonObject | undefined;
  readonly warnings: readonly string[];
  readonly auditAnnotations: Readonly<Record<string, string>>;
}

/** Thrown for an invalid response. The message is upstream's. */
export class InvalidReviewError extends Error {
  override readonly name = 'InvalidReviewError';
}

/** The first AdmissionReview version in the webhook's list that exists; undefined if none does. */
export function reviewVersionOf(versions: readonly string[]): 'v1' | 'v1beta1' | undefined {
  return versions.find((version) => version === 'v1' || version === 'v1beta1') as 'v1' | 'v1beta1' | undefined;
}

/** The AdmissionReview to send to a webhook (`CreateV1AdmissionReview`). */
export function reviewOf(
  uid: string,
  version: string,
  attributes: AdmissionAttributes,
  matched: MatchedResource,
  { object, oldObject }: ShownObjects,
): JsonObject {
  const options = attributes.operation === 'CONNECT' ? null : attributes.options;
  const shown = { object: object ?? null, oldObject: oldObject ?? null, options };
  const request = { ...admissionRequest(attributes, matched), uid, ...shown };
  return { kind: 'AdmissionReview', apiVersion: `admission.k8s.io/${version}`, request };
}

/** Verifies a webhook's response (`VerifyAdmissionResponse`). Throws an {@link InvalidReviewError}. */
export function responseOf(review: JsonObject, uid: string, version: string, mutates: boolean): ReviewResponse {
  const { response } = review;
  if (!isJsonObject(response)) throw new InvalidReviewError('webhook response was absent');
  const patch = Buffer.from(textOf(response.patch), 'base64').toString();
  const strict = version === 'v1';
  if (strict) checkStrictly(review, response, uid, patch, mutates);
  return {
    allowed: response.allowed === true,
    patch: mutates ? patch : '',
    patchType: strict ? textOf(response.patchType) : 'JSONPatch',
    result: isJsonObject(response.status) ? response.status : undefined,
    warnings: stringsOf(response.warnings),
    auditAnnotations: textsOf(response.auditAnnotations),
  };
}

/** The rules that `v1` added. */
function checkStrictly(review: JsonObject, response: JsonObject, uid: string, patch: string, mutates: boolean): void {
  const answered = textOf(response.uid);
  const { patchType } = response;
  const hasType = patchType !== undefined && patchType !== null;
  const problem = () => {
    if (answered !== uid) return `expected response.uid=${goQuote(uid)}, got ${goQuote(answered)}`;
    const { kind, apiVersion } = review;
    if (kind !== 'AdmissionReview' || apiVersion !== 'admission.k8s.io/v1') {
      const expected = 'admission.k8s.io/v1, Kind=AdmissionReview';
      return `expected webhook response of ${expected}, got ${goKind(textOf(apiVersion), textOf(kind))}`;
    }
    if (!mutates) {
      if (patch !== '') return 'validating webhook may not return response.patch';
      return hasType ? 'validating webhook may not return response.patchType' : undefined;
    }
    if (patch !== '' && !hasType) return 'webhook returned response.patch but not response.patchType';
    if (patch === '' && hasType) return 'webhook returned response.patchType but not response.patch';
    return patchType === '' ? 'webhook returned invalid response.patchType of ""' : undefined;
  };
  const found = problem();
  if (found !== undefined) throw new InvalidReviewError(found);
}

function textsOf(value: unknown): Readonly<Record<string, string>> {
  if (!isJsonObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
