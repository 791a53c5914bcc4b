import type { StatusCause } from '../../object/meta.js';
import { findApiError } from './api-error.js';
import { isKnownStatusReason, type KnownStatusReason, type StatusReason } from './status-reason.js';

/*
 * Every guard looks through `cause`, takes anything (a thrown value may be no error at all), and goes by the reason.
 * Where the reason is unknown, the HTTP status decides, except for reasons that share theirs with another one.
 */

function says(error: unknown, reason: KnownStatusReason, code?: number): boolean {
  const found = findApiError(error);
  if (!found) return false;
  return found.reason === reason || (code !== undefined && found.code === code && !isKnownStatusReason(found.reason));
}

/** The reason of the {@link ApiError} in the chain of causes, `''` without one (`apierrors.ReasonForError`). */
export function reasonForError(error: unknown): StatusReason {
  return findApiError(error)?.reason ?? '';
}

/** 404: no such object, or no such resource (`apierrors.IsNotFound`). */
export function isNotFound(error: unknown): boolean {
  return says(error, 'NotFound', 404);
}

/** 409 on a create: the name is taken (`apierrors.IsAlreadyExists`). */
export function isAlreadyExists(error: unknown): boolean {
  return says(error, 'AlreadyExists');
}

/** 409: the object changed since it was read, or another manager owns a field (`apierrors.IsConflict`). Read again. */
export function isConflict(error: unknown): boolean {
  return says(error, 'Conflict', 409);
}

/** 422: the object does not validate; `causes` name the fields (`apierrors.IsInvalid`). */
export function isInvalid(error: unknown): boolean {
  return says(error, 'Invalid', 422);
}

/** 403: not allowed to this user (`apierrors.IsForbidden`). */
export function isForbidden(error: unknown): boolean {
  return says(error, 'Forbidden', 403);
}

/** 401: credentials missing or not accepted (`apierrors.IsUnauthorized`). */
export function isUnauthorized(error: unknown): boolean {
  return says(error, 'Unauthorized', 401);
}

/** 410: the requested state no longer exists (`apierrors.IsGone`). See also {@link isResourceExpired}. */
export function isGone(error: unknown): boolean {
  return says(error, 'Gone', 410);
}

/** 410: the resource version or continue token is too old; list again (`apierrors.IsResourceExpired`). */
export function isResourceExpired(error: unknown): boolean {
  return says(error, 'Expired');
}

/** 429: the server asks to slow down, see `retryAfterMs` (`apierrors.IsTooManyRequests`). */
export function isTooManyRequests(error: unknown): boolean {
  // By status even with another reason: an eviction held up by a disruption budget comes like that.
  return says(error, 'TooManyRequests') || findApiError(error)?.code === 429;
}

/** 504: the server did not finish in time; the request may have had its effect (`apierrors.IsTimeout`). */
export function isTimeout(error: unknown): boolean {
  return says(error, 'Timeout', 504);
}

/** 500: the server could not finish in time and asks to try again (`apierrors.IsServerTimeout`). */
export function isServerTimeout(error: unknown): boolean {
  return says(error, 'ServerTimeout');
}

/** 405: the resource does not take this verb (`apierrors.IsMethodNotSupported`). */
export function isMethodNotSupported(error: unknown): boolean {
  return says(error, 'MethodNotAllowed', 405);
}

/** 406: the server cannot answer in what `Accept` asks for (`apierrors.IsNotAcceptable`). */
export function isNotAcceptable(error: unknown): boolean {
  return says(error, 'NotAcceptable', 406);
}

/** 415: the server does not take the body's content type (`apierrors.IsUnsupportedMediaType`). */
export function isUnsupportedMediaType(error: unknown): boolean {
  return says(error, 'UnsupportedMediaType', 415);
}

/** 413: the object is too large to be stored (`apierrors.IsRequestEntityTooLargeError`). */
export function isRequestEntityTooLarge(error: unknown): boolean {
  return says(error, 'RequestEntityTooLarge') || findApiError(error)?.code === 413;
}

/** 500: something broke in the server (`apierrors.IsInternalError`). */
export function isInternalError(error: unknown): boolean {
  return says(error, 'InternalError', 500);
}

/** 503: the server, or the one behind it, is not there at present (`apierrors.IsServiceUnavailable`). */
export function isServiceUnavailable(error: unknown): boolean {
  return says(error, 'ServiceUnavailable', 503);
}

/** 400: the request itself makes no sense to the server (`apierrors.IsBadRequest`). */
export function isBadRequest(error: unknown): boolean {
  return says(error, 'BadRequest', 400);
}

/** The object is in etcd but cannot be decrypted or decoded (`apierrors.IsStoreReadError`). */
export function isStoreReadError(error: unknown): boolean {
  return says(error, 'StorageReadError');
}

/** The answer was no Status: a proxy or load balancer may have spoken (`apierrors.IsUnexpectedServerError`). */
export function isUnexpectedServerError(error: unknown): boolean {
  return hasStatusCause(error, 'UnexpectedServerResponse');
}

/** The first cause of that type (`apierrors.StatusCause`; the type is called `reason` on the wire). */
export function statusCause(error: unknown, type: string): StatusCause | undefined {
  return findApiError(error)?.causes.find((cause) => cause.reason === type);
}

/** Whether one of the causes has that type (`apierrors.HasStatusCause`). */
export function hasStatusCause(error: unknown, type: string): boolean {
  return statusCause(error, type) !== undefined;
}

/** Nothing can be created as the namespace is being deleted (`corev1.NamespaceTerminatingCause`). */
export function isNamespaceTerminating(error: unknown): boolean {
  return hasStatusCause(error, 'NamespaceTerminating');
}

/** A server-side apply ran into fields of another manager (`metav1.CauseTypeFieldManagerConflict`). */
export function isFieldManagerConflict(error: unknown): boolean {
  return hasStatusCause(error, 'FieldManagerConflict');
}

/** The server has not seen the resource version yet (`metav1.CauseTypeResourceVersionTooLarge`). Ask without one. */
export function isTooLargeResourceVersion(error: unknown): boolean {
  if (hasStatusCause(error, 'ResourceVersionTooLarge')) return true;
  if (!isTimeout(error)) return false;
  // Servers before 1.18.6 say it in words only.
  const found = findApiError(error);
  const words = 'Too large resource version';
  return found?.causes.some((cause) => cause.message === words) || found?.status.message?.includes(words) || false;
}

/** How long to wait before trying again, in ms, if the server asks for it at all (`apierrors.SuggestsClientDelay`). */
export function suggestsClientDelay(error: unknown): number | undefined {
  const found = findApiError(error);
  if (!found) return undefined;
  return found.retryAfterMs ?? (found.reason === 'ServerTimeout' ? 0 : undefined);
}

function ignoring(guard: (error: unknown) => boolean): (error: unknown) => undefined {
  return (error) => {
    if (guard(error)) return undefined;
    throw error;
  };
}

/** For `.catch`: not there is `undefined`, all else is thrown on (`client.IgnoreNotFound`). */
export const ignoreNotFound: (error: unknown) => undefined = ignoring(isNotFound);
/** For `.catch`: an object that is there already is `undefined`, all else is thrown on (`client.IgnoreAlreadyExists`). */
export const ignoreAlreadyExists: (error: unknown) => undefined = ignoring(isAlreadyExists);
/** For `.catch`: a lost race is `undefined`, all else is thrown on. */
export const ignoreConflict: (error: unknown) => undefined = ignoring(isConflict);
/** For `.catch`: gone or expired is `undefined`, any other error is rethrown. */
export const ignoreGone: (error: unknown) => undefined = ignoring((error) => isGone(error) || isResourceExpired(error));
