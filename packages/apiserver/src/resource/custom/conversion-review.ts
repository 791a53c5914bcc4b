import { isJsonObject, type Json, type JsonObject } from 'riata/object';
import { goQuote } from '../../status/go-quote.js';
import { readReview } from '../../webhook-client/read-review.js';
import { textOf } from '../metadata.js';

const group = 'apiextensions.k8s.io';

/**
 * The first version of reviews that a webhook and the server both know. Throws an `Error` if they have none in common.
 */
export function reviewVersionOf(versions: readonly string[]): string {
  const found = versions.find((version) => version === 'v1' || version === 'v1beta1');
  if (found === undefined) throw new Error('no supported conversion review versions');
  return found;
}

/** The ConversionReview to send to a webhook. */
export function reviewOf(
  version: string,
  uid: string,
  desiredAPIVersion: string,
  objects: readonly JsonObject[],
): JsonObject {
  return {
    kind: 'ConversionReview',
    apiVersion: `${group}/${version}`,
    request: { uid, desiredAPIVersion, objects: objects as Json[] },
  };
}

/** The converted objects in a webhook's response. Throws an `Error` with kube-apiserver's message. */
export async function convertedIn(text: string, version: string, uid: string): Promise<readonly Json[]> {
  const review = await reviewIn(text, version);
  const { response } = review;
  if (!isJsonObject(response)) throw new Error('no response provided');
  // kube-apiserver never verifies v1beta1 reviews.
  if (version === 'v1' && textOf(response.uid) !== uid) {
    throw new Error(`expected response.uid=${goQuote(uid)}, got ${goQuote(textOf(response.uid))}`);
  }
  const result = isJsonObject(response.result) ? response.result : {};
  if (result.status !== 'Success') {
    const message = textOf(result.message);
    throw new Error(message || `response.result.status was '${textOf(result.status)}', not 'Success'`);
  }
  return Array.isArray(response.convertedObjects) ? response.convertedObjects : [];
}

async function reviewIn(text: string, version: string): Promise<JsonObject> {
  const review = await readReview(text);
  const [apiVersion, kind] = [textOf(review.apiVersion), textOf(review.kind)];
  if (apiVersion === `${group}/${version}` && kind === 'ConversionReview') return review;
  if (kind === '' && apiVersion === '') {
    if (version === 'v1beta1') return review;
    throw new Error(`expected webhook response of ${group}/v1, Kind=ConversionReview, got /, Kind=`);
  }
  const isOther = apiVersion === `${group}/v1` || apiVersion === `${group}/v1beta1`;
  if (isOther && kind === 'ConversionReview') {
    const other = apiVersion.slice(group.length + 1);
    throw new Error(`converting (${other}.ConversionReview) to (${version}.ConversionReview): unknown conversion`);
  }
  const scheme = 'in scheme "pkg/runtime/scheme.go:111"';
  throw new Error(`no kind "${kind}" is registered for version "${apiVersion}" ${scheme}`);
}

/** The name of a JSON value's type in errors of Go's decoder. */
export function jsonType(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
