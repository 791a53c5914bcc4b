import { isJsonObject, type Json, type JsonObject } from 'riata/object';
import { goQuote } from '../../status/go-quote.js';
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
export function convertedIn(text: string, version: string, uid: string): readonly Json[] {
  const review = readReview(text, version);
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

function readReview(text: string, version: string): JsonObject {
  const review = parsed(text);
  if (!isJsonObject(review)) {
    const type =
      'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
    const problem = `json: cannot unmarshal ${jsonType(review)} into Go value of type ${type}`;
    throw new Error(`couldn't get version/kind; json parse error: ${problem}`);
  }
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

/** kube-apiserver also accepts YAML, where any text is a string. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The name of a JSON value's type in errors of Go's decoder. */
export function jsonType(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
