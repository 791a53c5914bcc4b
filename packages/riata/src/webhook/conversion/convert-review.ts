import { isJsonObject } from '../../object/json.js';
import type { KubeObject } from '../../object/meta.js';
import { textOf } from '../../object/scan/native-bytes.js';
import { ConversionError } from '../../object/version/conversion-error.js';
import type { ObjectConverter } from '../../object/version/object-converter.js';
import type { Scheduler } from '../../runtime/time/clock.js';
import { TimeSlice } from '../../runtime/time/time-slice.js';
import { ExactNumbers } from './exact-numbers.js';
import { splitReview } from './split-review.js';

const group = 'apiextensions.k8s.io';
const reviewVersions: readonly unknown[] = [`${group}/v1`, `${group}/v1beta1`];
/** Converted objects are sent in pieces of about this many characters. */
const pieceLength = 65_536;

/** A ConversionReview to be answered. */
export interface ConversionRequest {
  readonly apiVersion: string;
  readonly uid: string;
  readonly desiredAPIVersion: string;
  /** The texts of the objects. */
  readonly objects: readonly Uint8Array[];
}

/** The review in a body, or the reason why the body is malformed. */
export function readReview(body: Uint8Array): ConversionRequest | string {
  const split = splitReview(body);
  if (split === undefined) return 'the body is not the JSON of a ConversionReview';
  let review: unknown;
  try {
    review = JSON.parse(split.head);
  } catch (error) {
    return `the body is malformed JSON: ${(error as Error).message}`;
  }
  if (!isJsonObject(review)) return 'expected a ConversionReview, got another JSON value';
  const { apiVersion, kind, request } = review;
  if (kind !== 'ConversionReview' || !reviewVersions.includes(apiVersion)) {
    const got = `${JSON.stringify(apiVersion)} ${JSON.stringify(kind)}`;
    return `expected a ConversionReview of ${group}/v1 or v1beta1, got ${got}`;
  }
  if (!isJsonObject(request)) return 'the ConversionReview has no request';
  const { uid, desiredAPIVersion } = request;
  if (typeof uid !== 'string' || uid === '') return 'the request of the ConversionReview has no uid';
  if (typeof desiredAPIVersion !== 'string') return 'the request of the ConversionReview has no desiredAPIVersion';
  return { apiVersion: apiVersion as string, uid, desiredAPIVersion, objects: split.objects };
}

/** What {@link convertReview} works with. */
export interface ConvertOptions {
  readonly converter: ObjectConverter;
  readonly clock: Scheduler;
  readonly signal: AbortSignal;
  /** Called with the failure that ends the conversion. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * The answer to a review in pieces of JSON. Objects are parsed, converted and written one by one, with turns of the
 * event loop in between. The result comes last: an object that fails makes the whole a failure, whatever was sent.
 */
export async function* convertReview(request: ConversionRequest, options: ConvertOptions): AsyncGenerator<string> {
  const { apiVersion, uid, desiredAPIVersion, objects } = request;
  const { converter, clock, signal, onFailure } = options;
  const slice = TimeSlice.of(clock);
  let piece = `{"apiVersion":${JSON.stringify(apiVersion)},"kind":"ConversionReview","response":{"uid":${JSON.stringify(uid)},"convertedObjects":[`;
  let result: object = { status: 'Success' };
  let entered = slice.enter();
  try {
    for (const [index, object] of objects.entries()) {
      piece += (index === 0 ? '' : ',') + convertText(object, desiredAPIVersion, converter);
      const isOver = slice.isOver(entered);
      if (!isOver && piece.length < pieceLength) continue;
      slice.leave(entered);
      if (isOver) await slice.wait();
      // The caller has given up waiting.
      if (signal.aborted) return;
      if (piece.length >= pieceLength) {
        yield piece;
        piece = '';
      }
      entered = slice.enter();
    }
  } catch (error) {
    onFailure(error);
    result = { status: 'Failure', message: messageOf(error) };
  }
  slice.leave(entered);
  yield `${piece}],"result":${JSON.stringify(result)}}}`;
}

function convertText(bytes: Uint8Array, apiVersion: string, converter: ObjectConverter): string {
  // One per object: large integers are distinguished within one object only.
  const json = new ExactNumbers();
  const object = json.parse(textOf(bytes, 0, bytes.length)) as KubeObject;
  const converted = converter.convert(object, apiVersion, json);
  try {
    return json.stringify(converted);
  } catch (error) {
    throw new ConversionError(object, apiVersion, (error as Error).message, { cause: error });
  }
}

/** Errors of conversions name the object and the line; of others, nothing is known that a caller should read. */
function messageOf(error: unknown): string {
  if (error instanceof ConversionError) return error.message;
  return error instanceof SyntaxError
    ? `malformed object: ${error.message}`
    : 'the conversion failed; see the log of the webhook';
}
