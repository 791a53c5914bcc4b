import { isJsonObject } from '../../object/json.js';
import { textOf } from '../../object/scan/native-bytes.js';
import type { WebhookRequest } from '../webhook-route.js';
import type { AdmissionRequest, ReviewVersion } from './admission-review.js';
import { LargeIntegers } from './large-integers.js';

/** A review as it came in. */
export interface ReceivedReview {
  /** Of the `AdmissionReview`, for the answer. */
  readonly version: ReviewVersion;
  readonly request: AdmissionRequest;
  /** The integers of `request.object` that a number cannot hold; undefined if there are none, as nearly always. */
  readonly large: LargeIntegers | undefined;
}

/** A body that is not a review. The message is for the API server, so it repeats nothing of the body. */
export class MalformedReview extends Error {
  override readonly name = 'MalformedReview';
}

const jsonType = /^application\/json\s*(?:;|$)/i;
/** Where a number of 16 digits or more may begin. A text may look so, too: {@link LargeIntegers} looks closely. */
const suspectNumber = /[[:,\s]-?\d{16}/;

/** Reads an `AdmissionReview`. Throws a {@link MalformedReview}; its text is controller-runtime's where it has one. */
export function readReview(request: WebhookRequest): ReceivedReview {
  const { text, review } = readJsonBody(request);
  const { kind = 'AdmissionReview', apiVersion = 'admission.k8s.io/v1' } = review;
  const version =
    apiVersion === 'admission.k8s.io/v1' ? 'v1' : apiVersion === 'admission.k8s.io/v1beta1' ? 'v1beta1' : '';
  if (kind !== 'AdmissionReview' || version === '') {
    const got = `${shown(kind)} of ${shown(apiVersion)}`;
    throw new MalformedReview(
      `expected an AdmissionReview of admission.k8s.io/v1 or admission.k8s.io/v1beta1, got ${got}`,
    );
  }
  if (!isJsonObject(review.request)) throw new MalformedReview('the AdmissionReview has no request');
  const received = review.request as unknown as AdmissionRequest;
  return {
    version,
    request: received,
    large: suspectNumber.test(text) ? LargeIntegers.find(text, received) : undefined,
  };
}

/** The JSON object in a request's body, and its text. Throws a {@link MalformedReview}. */
export function readJsonBody({ contentType, body }: WebhookRequest): {
  readonly text: string;
  readonly review: Readonly<Record<string, unknown>>;
} {
  const isJson = contentType !== undefined && jsonType.test(contentType);
  if (body.length === 0 && (isJson || contentType === undefined)) throw new MalformedReview('request body is empty');
  if (!isJson) throw new MalformedReview(`contentType=${contentType ?? ''}, expected application/json`);
  const text = textOf(body, 0, body.length);
  let review: unknown;
  try {
    review = JSON.parse(text);
  } catch {
    throw new MalformedReview('request body is not valid JSON');
  }
  if (!isJsonObject(review)) throw new MalformedReview('request body is not a JSON object');
  return { text, review };
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 100) : `a ${typeof value}`;
}
