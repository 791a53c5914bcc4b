import { findApiError } from '../../rest/errors/api-error.js';
import { isDecodeError } from '../../rest/errors/decode-error.js';
import {
  isForbidden,
  isGone,
  isInternalError,
  isResourceExpired,
  isTooLargeResourceVersion,
  isTooManyRequests,
  isUnauthorized,
} from '../../rest/errors/error-guards.js';
import { isConnectError, isTransportError } from '../../rest/errors/transport-error.js';
import type { DeathReason } from '../../rest/stream/stream-timer.js';

/** How a watch ended. */
export type WatchEnd =
  /** In good order, as servers end them after a while. */
  | { readonly how: 'closed' }
  /** Within a second, without a single event: something is wrong. */
  | { readonly how: 'short' }
  /** Taken for dead. */
  | { readonly how: DeathReason }
  /** Our own doing: the signal aborted. */
  | { readonly how: 'stopped' }
  /** It could not be opened at all. */
  | { readonly how: 'refused'; readonly error: unknown }
  /** The connection broke, or the server said so inside the stream. `lasted`: more than a second. */
  | { readonly how: 'failed'; readonly error: unknown; readonly lasted: boolean };

/**
 * What to do after a watch: resume with another one, at once or, given an error, after reporting it and a wait; or
 * relist. `isPrompt`: the server answers, so that the first such wait need not be long.
 */
export type Verdict =
  | { readonly next: 'watch'; readonly error?: unknown; readonly isPrompt?: boolean }
  | { readonly next: 'list'; readonly error: unknown; readonly isPrompt?: boolean };

/** After this many failures in a row to resume, it relists. */
const mostTries = 5;
/** As {@link mostTries}, for errors that may come from the very event that is next. */
const mostInternalErrors = 2;

/** Whether the server does not have the requested resourceVersion: too old, or from its future. */
export function isLost(error: unknown): boolean {
  return isResourceExpired(error) || isGone(error) || isTooLargeResourceVersion(error);
}

/** `failures`: in a row, without an event, not counting this one. */
export function judgeWatch(end: WatchEnd, failures: number): Verdict {
  switch (end.how) {
    case 'closed':
    case 'silent':
    case 'slept':
    case 'stopped':
      return { next: 'watch' };
    case 'short':
      return {
        next: 'list',
        error: new Error('very short watch: the server ended it within a second, without an event'),
        isPrompt: true,
      };
    case 'refused':
    case 'failed':
      return judgeError(end, failures);
  }
}

function judgeError(end: Extract<WatchEnd, { error: unknown }>, failures: number): Verdict {
  const { error } = end;
  const again: Verdict = { next: 'watch', error };
  const anew: Verdict = { next: 'list', error };
  if (isLost(error)) return { ...anew, isPrompt: true };
  // As the server asks for it, a list would be the wrong answer.
  if (isTooManyRequests(error) || isConnectError(error)) return again;
  if (isTransportError(error)) {
    if (end.how === 'failed' && end.lasted) return { next: 'watch' };
    const mayGoOn = failures < mostTries && error.kind !== 'closed' && error.kind !== 'invalid-request';
    return { ...(mayGoOn ? again : anew), isPrompt: end.how === 'failed' };
  }
  if (end.how === 'refused') return mayPass(error) && failures < mostTries ? again : anew;
  // An event that was cut off comes again; but if the event itself cannot be sent or read, only a list gets past it.
  if (isInternalError(error) || isDecodeError(error)) return failures < mostInternalErrors ? again : anew;
  return anew;
}

/** What to do after a WatchList that ended before it was complete. */
export type InitialVerdict =
  /** Try it again; given an error, after telling it and a wait. `lost`: without the resourceVersion. */
  | { readonly next: 'watch-list'; readonly error?: unknown; readonly isPrompt?: boolean; readonly lost?: boolean }
  /** The server cannot do it, or not now. */
  | { readonly next: 'list'; readonly why: unknown };

/** `unavailable`: it was requested without a resourceVersion already, as the server did not have it. */
export function judgeWatchList(end: WatchEnd, unavailable: boolean): InitialVerdict {
  switch (end.how) {
    case 'closed':
      return {
        next: 'watch-list',
        error: new Error('the server ended the WatchList before it was complete'),
        isPrompt: true,
      };
    case 'refused':
    case 'failed':
      if (isTooManyRequests(end.error) || isConnectError(end.error)) return { next: 'watch-list', error: end.error };
      if (isLost(end.error) && !unavailable) return { next: 'watch-list', lost: true };
      return { next: 'list', why: end.error };
    default:
      return { next: 'list', why: new Error(`the WatchList was ${end.how}`) };
  }
}

/** Servers recover, credentials are renewed, and rights are granted again: missed events can still be watched then. */
function mayPass(error: unknown): boolean {
  return isUnauthorized(error) || isForbidden(error) || (findApiError(error)?.code ?? 0) >= 500;
}
