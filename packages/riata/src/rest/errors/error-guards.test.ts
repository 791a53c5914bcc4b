import { describe, expect, test } from 'vitest';
import { ApiError } from './api-error.js';
import * as guards from './error-guards.js';
import { type KnownStatusReason, statusReasons } from './status-reason.js';

const byReason: Record<KnownStatusReason, (error: unknown) => boolean> = {
  Unauthorized: guards.isUnauthorized,
  Forbidden: guards.isForbidden,
  NotFound: guards.isNotFound,
  AlreadyExists: guards.isAlreadyExists,
  Conflict: guards.isConflict,
  Gone: guards.isGone,
  Invalid: guards.isInvalid,
  ServerTimeout: guards.isServerTimeout,
  StorageReadError: guards.isStoreReadError,
  Timeout: guards.isTimeout,
  TooManyRequests: guards.isTooManyRequests,
  BadRequest: guards.isBadRequest,
  MethodNotAllowed: guards.isMethodNotSupported,
  NotAcceptable: guards.isNotAcceptable,
  RequestEntityTooLarge: guards.isRequestEntityTooLarge,
  UnsupportedMediaType: guards.isUnsupportedMediaType,
  InternalError: guards.isInternalError,
  Expired: guards.isResourceExpired,
  ServiceUnavailable: guards.isServiceUnavailable,
};
const reasons = Object.keys(statusReasons) as KnownStatusReason[];

describe('guards', () => {
  test.each(reasons)('%s differs from every other reason', (reason) => {
    const error = new ApiError({ reason, code: statusReasons[reason] });
    expect(reasons.filter((other) => byReason[other](error))).toEqual([reason]);
    expect(guards.reasonForError(error)).toBe(reason);
  });

  test.each(reasons)('%s is found behind causes', (reason) => {
    const inner = new ApiError({ reason, code: statusReasons[reason] });
    expect(byReason[reason](new Error('outer', { cause: inner }))).toBe(true);
  });

  // Those that share a status with another reason, or came later than the status was used for it, go by reason only.
  test.each([
    [404, 'NotFound'],
    [409, 'Conflict'],
    [410, 'Gone'],
    [413, 'RequestEntityTooLarge'],
    [422, 'Invalid'],
    [429, 'TooManyRequests'],
    [500, 'InternalError'],
    [504, 'Timeout'],
  ] as const)('without a known reason status %i means %s', (code, reason) => {
    for (const unknown of [undefined, '', 'SomethingOfMine']) {
      expect(reasons.filter((other) => byReason[other](new ApiError({ code, reason: unknown })))).toEqual([reason]);
    }
  });

  test('a known reason counts more than the status, except for 429 and 413', () => {
    expect(guards.isNotFound(new ApiError({ code: 404, reason: 'Forbidden' }))).toBe(false);
    expect(guards.isTooManyRequests(new ApiError({ code: 429, reason: 'Forbidden' }))).toBe(true);
    expect(guards.isRequestEntityTooLarge(new ApiError({ code: 413, reason: 'Forbidden' }))).toBe(true);
  });

  test.each([undefined, null, 'NotFound', 404, {}, new Error('404'), { reason: 'NotFound', code: 404 }])(
    '%j is none of them',
    (value) => {
      expect(reasons.filter((reason) => byReason[reason](value))).toEqual([]);
      expect(guards.reasonForError(value)).toBe('');
      expect(guards.suggestsClientDelay(value)).toBeUndefined();
    },
  );
});

describe('causes', () => {
  const withCause = (reason: string) => new ApiError({ code: 403, details: { causes: [{ reason, message: 'm' }] } });

  test('are found by type', () => {
    expect(guards.statusCause(withCause('FieldValueInvalid'), 'FieldValueInvalid')).toEqual({
      reason: 'FieldValueInvalid',
      message: 'm',
    });
    expect(guards.hasStatusCause(withCause('FieldValueInvalid'), 'FieldValueRequired')).toBe(false);
  });

  test.each([
    ['NamespaceTerminating', guards.isNamespaceTerminating],
    ['FieldManagerConflict', guards.isFieldManagerConflict],
    ['UnexpectedServerResponse', guards.isUnexpectedServerError],
    ['ResourceVersionTooLarge', guards.isTooLargeResourceVersion],
  ] as const)('%s has a guard', (reason, guard) => {
    expect(guard(withCause(reason))).toBe(true);
    expect(guard(withCause('Other'))).toBe(false);
  });

  test('old servers say in words that a resource version is too large', () => {
    const words = 'Too large resource version';
    const timeout = { code: 504, reason: 'Timeout' };
    expect(guards.isTooLargeResourceVersion(new ApiError({ ...timeout, message: `${words}: 9` }))).toBe(true);
    const inCause = new ApiError({ ...timeout, details: { causes: [{ message: words }] } });
    expect(guards.isTooLargeResourceVersion(inCause)).toBe(true);
    expect(guards.isTooLargeResourceVersion(new ApiError({ code: 500, message: words }))).toBe(false);
    expect(guards.isTooLargeResourceVersion(new ApiError(timeout))).toBe(false);
  });
});

describe('suggestsClientDelay', () => {
  test.each([
    [{ reason: 'ServerTimeout' }, 0],
    [{ reason: 'ServerTimeout', details: { retryAfterSeconds: 2 } }, 2_000],
    [{ reason: 'TooManyRequests', details: { retryAfterSeconds: 3 } }, 3_000],
    [{ reason: 'TooManyRequests' }, undefined],
  ])('%j asks for %s ms', (status, expected) => {
    expect(guards.suggestsClientDelay(new ApiError(status))).toBe(expected);
  });
});

describe('ignoring', () => {
  test.each([
    [guards.ignoreNotFound, 'NotFound'],
    [guards.ignoreAlreadyExists, 'AlreadyExists'],
    [guards.ignoreConflict, 'Conflict'],
    [guards.ignoreGone, 'Gone'],
    [guards.ignoreGone, 'Expired'],
  ] as const)('%# lets one reason pass as undefined and throws the rest on', async (ignore, reason) => {
    expect(await Promise.reject(new ApiError({ reason })).catch(ignore)).toBeUndefined();
    const other = new ApiError({ reason: 'Forbidden' });
    await expect(Promise.reject(other).catch(ignore)).rejects.toBe(other);
  });

  test('keeps the type of what was asked for', async () => {
    const answer: string | undefined = await Promise.resolve('there').catch(guards.ignoreNotFound);
    expect(answer).toBe('there');
  });
});
