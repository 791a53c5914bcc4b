import { parseGoDuration } from 'riata/object';
import { goDurationError } from '../status/go-duration-error.js';
import { badRequest, Refusal } from '../status/refusal.js';
import { first } from './options/query-string.js';
import { isLongRunning, type RequestInfo } from './request-info.js';

/** Longest time for a request that does not last. */
export const requestTimeoutMs = 60_000;

/** The timeout of a request: the requested one, within limits. Throws 400. */
export function timeoutOf(info: RequestInfo): number {
  if (isLongRunning(info)) return requestTimeoutMs;
  const asked = first(info.query, 'timeout');
  return asked === undefined || asked === '' ? requestTimeoutMs : durationOf(asked);
}

/** A timeout later than the usual one changes nothing. */
function durationOf(text: string): number {
  try {
    const ms = Number(parseGoDuration(text) / 1_000_000n);
    return ms > 0 && ms < requestTimeoutMs ? ms : requestTimeoutMs;
  } catch {
    throw badRequest(`invalid timeout specified in the request URL - ${goDurationError(text)}`);
  }
}

/** The answer to a request that takes too long. */
export function overdue(): Refusal {
  const message = 'Timeout: request did not complete within requested timeout - context deadline exceeded';
  return new Refusal(504, 'Timeout', message, {});
}
