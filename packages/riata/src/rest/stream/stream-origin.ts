import { ApiError, isApiError } from '../errors/api-error.js';
import { DecodeError, isDecodeError } from '../errors/decode-error.js';
import { describeRequest } from '../errors/redact.js';
import type { Exchanger } from './body-reader.js';

/** Which request a stream is the answer to. */
export interface StreamOrigin {
  readonly method: string;
  readonly url: string;
  /** Takes secrets out of what the server said. @default nothing is taken out */
  readonly redact?: (text: string) => string;
}

/** An {@link Exchanger} that may know how to say what it asks for: errors inside the stream then name it. */
export interface NamedExchanger extends Exchanger {
  origin?(): StreamOrigin;
}

/** Takes out of a text what the sender of a request knows to be secret. */
export function redacting(exchanger: NamedExchanger): (text: string) => string {
  return (text) => exchanger.origin?.().redact?.(text) ?? text;
}

/**
 * An error that was found in the bytes of an answer, with the request that led to it; what already names one, or is no
 * word about the answer, stays as it is.
 */
export function withOrigin(error: unknown, exchanger: NamedExchanger): unknown {
  if (isApiError(error)) return error.method === undefined ? apiErrorWithOrigin(error, exchanger) : error;
  const origin = isDecodeError(error) ? exchanger.origin?.() : undefined;
  if (origin === undefined) return error;
  const { message, decoded } = error as DecodeError;
  const { method, url, redact } = origin;
  const said = redact === undefined ? message : redact(message);
  // An error as its cause would say what was taken out.
  const cause = said === message ? { cause: error } : {};
  return new DecodeError(`${describeRequest(method, url)}: ${said}`, decoded, cause);
}

/** The same for the error of an `ERROR` event. */
export function apiErrorWithOrigin(error: ApiError, exchanger: NamedExchanger): ApiError {
  const origin = exchanger.origin?.();
  if (origin === undefined) return error;
  const { status, retryAfterMs, cause } = error;
  const located = new ApiError(status, { ...origin, retryAfterMs });
  // As above.
  if (cause !== undefined && located.status === status) located.cause = cause;
  return located;
}
