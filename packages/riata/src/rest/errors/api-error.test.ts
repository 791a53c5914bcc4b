import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { ResponseHeaders } from '../transport/transport.js';
import { ApiError, apiErrorFrom, findApiError, isApiError } from './api-error.js';

const request = { method: 'GET', url: 'https://server:6443/api/v1/namespaces/shop/pods/cart?watch=1' };
const answer = (code: number, body: string | Uint8Array, headers: ResponseHeaders = {}, method = 'GET') =>
  apiErrorFrom({ ...request, method, code, headers, body });

const notFound = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: 'pods "cart" not found',
  reason: 'NotFound',
  details: { name: 'cart', kind: 'pods' },
  code: 404,
};

describe('an error made from a Status', () => {
  test('carries it whole and says what was tried, on what, and what the server said', () => {
    const error = answer(404, JSON.stringify(notFound), { 'content-type': 'application/json' });
    expect(error.message).toBe('GET /api/v1/namespaces/shop/pods/cart: pods "cart" not found (404 NotFound)');
    expect(error.status).toEqual(notFound);
    expect(error).toMatchObject({ name: 'ApiError', code: 404, reason: 'NotFound', causes: [], method: 'GET' });
    expect(error).toBeInstanceOf(Error);
  });

  test('says what to do about credentials and rights', () => {
    const refused = (code: number, message: string) =>
      answer(code, JSON.stringify({ ...notFound, code, message })).message;
    expect(refused(401, 'Unauthorized')).toMatch(
      /: Unauthorized .*; the server does not accept the credentials: log in/,
    );
    const denied =
      'pods "cart" is forbidden: User "eve" cannot get resource "pods" in API group "" in the namespace "shop"';
    expect(refused(403, denied)).toMatch(/; grant it by a Role or ClusterRole and its binding$/);
    expect(refused(403, 'pods "cart" is forbidden: exceeded quota')).not.toContain('grant');
  });

  test('keeps the causes of an invalid object', () => {
    const causes = [{ reason: 'FieldValueInvalid', message: 'too long', field: 'spec.host' }];
    const error = answer(422, JSON.stringify({ ...notFound, reason: 'Invalid', code: 422, details: { causes } }));
    expect(error.causes).toEqual(causes);
  });

  test.each([
    ['from its details', { retryAfterSeconds: 7 }, { 'retry-after': '3' }, 7_000],
    ['from the header if the details have none', {}, { 'retry-after': '3' }, 3_000],
    ['not from a date', {}, { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }, undefined],
    ['not at all', {}, {}, undefined],
  ])('knows the wait %s', (_, details, headers, expected) => {
    expect(answer(429, JSON.stringify({ ...notFound, code: 429, details }), headers).retryAfterMs).toBe(expected);
  });

  test('is completed from the HTTP status', () => {
    const error = answer(403, '{"kind":"Status","apiVersion":"v1","status":"Failure"}');
    expect(error).toMatchObject({ code: 403, reason: 'Forbidden' });
    expect(error.message).toContain('refuses this to the user');
  });

  test('drops fields of the wrong type', () => {
    const status = { ...notFound, message: 7, code: '404', details: { causes: ['x', { field: 1, message: 'm' }] } };
    const error = answer(404, JSON.stringify(status));
    expect(error.status.details).toEqual({ causes: [{ message: 'm' }] });
    expect(error.code).toBe(404);
    expect(error.message).toContain('the server knows no such resource');
  });
});

describe('a kind that is not served', () => {
  const from = (url: string, body: object | string) =>
    apiErrorFrom({
      ...{ method: 'GET', url, code: 404, headers: {}, details: { kind: 'foos', name: 'a' } },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    }).message;
  const remedy = /\(404 NotFound\); is the CustomResourceDefinition of the kind installed, with this version\?$/;
  const status = { kind: 'Status', status: 'Failure', reason: 'NotFound', code: 404, message: 'no such resource' };

  test('of a group of its own: a remedy', () => {
    expect(from('https://h/apis/a.dev/v1/namespaces/x/foos/a', '404 page not found\n')).toMatch(remedy);
    expect(from('https://h/k8s/apis/a.dev/v2/foos?limit=5', { ...status, details: {} })).toMatch(remedy);
  });

  test('not where the object is missing, or the group is built in', () => {
    expect(from('https://h/apis/a.dev/v1/foos/a', { ...status, details: { name: 'a' } })).toMatch(/NotFound\)$/);
    expect(from('https://h/apis/policy/v9/foos', '404 page not found')).toMatch(/NotFound\)$/);
    expect(from('https://h/apis/storage.k8s.io/v9/foos', '404 page not found')).toMatch(/NotFound\)$/);
    expect(from('https://h/api/v1/foos', { ...status, details: {} })).toMatch(/NotFound\)$/);
  });
});

describe('an error made from anything else', () => {
  test('a redirect shows its target, without the query', () => {
    const { message } = answer(302, '', { location: 'https://me:pw@login.example/start?token=SECRET#x' });
    expect(message).toMatch(/\(302\); it redirects to https:\/\/login\.example\/start, which is not followed: is the/);
    expect(answer(302, '', {}).message).toMatch(/\(302\)$/);
    expect(answer(201, '', { location: '/x' }).message).not.toContain('redirects to');
  });

  test.each<[string, number, string | Uint8Array, ResponseHeaders, string]>([
    ['nothing', 502, '', {}, 'an error on the server kept the request from succeeding (502 InternalError)'],
    ['plain text', 503, '  upstream\n  is down ', { 'content-type': 'text/plain' }, ': upstream is down (503'],
    ['text of no type', 500, 'oops', {}, ': oops (500 InternalError)'],
    [
      'a page of HTML',
      504,
      '<!DOCTYPE html><html><head><style>p{}</style><title>504</title><script>a<b</script></head><body><!-- x -->' +
        '<h1>Gateway&nbsp;Timeout &amp; more</h1></body></html>',
      { 'content-type': ['text/html; charset=utf-8'] },
      ': 504 Gateway Timeout & more (504 Timeout)',
    ],
    ['HTML of no type', 502, '<html><body>bad <b>gateway</b>', {}, ': bad gateway (502 InternalError)'],
    ['other JSON with a message', 404, '{"message":"no route matched"}', {}, ': no route matched (404 NotFound)'],
    ['other JSON', 400, '{"a": [1,\n2]}', {}, ': {"a": [1, 2]} (400 BadRequest)'],
    ['a Status of success', 500, '{"kind":"Status","status":"Success"}', {}, '"Success"} (500 InternalError)'],
    ['a Pod', 500, '{"kind":"Pod","status":"Failure"}', {}, '(500 InternalError)'],
    ['half a Status', 404, '{"kind":"Status","status":"Fail', {}, 'JSON, cut off or broken: {"kind":"Status"'],
    ['bytes', 500, new Uint8Array([0, 1, 2, 255, 254, 3]), { 'content-type': 'image/png' }, ': 6 bytes of image/png'],
    ['an array', 500, '[1]', {}, ': [1] (500'],
  ])('%s', (_, code, body, headers, expected) => {
    const error = answer(code, body, headers);
    expect(error.message).toContain(expected);
    expect(error.code).toBe(code);
    expect(error.causes[0]?.reason).toBe('UnexpectedServerResponse');
    expect(error.status).toMatchObject({ kind: 'Status', status: 'Failure' });
  });

  test('is cut short', () => {
    const error = answer(500, 'x'.repeat(100_000));
    expect(error.message.length).toBeLessThan(800);
    expect(error.message).toContain('more]');
  });

  test.each([
    [400, 'GET', 'BadRequest'],
    [401, 'GET', 'Unauthorized'],
    [403, 'GET', 'Forbidden'],
    [404, 'GET', 'NotFound'],
    [405, 'GET', 'MethodNotAllowed'],
    [406, 'GET', 'NotAcceptable'],
    [409, 'PUT', 'Conflict'],
    [409, 'POST', 'AlreadyExists'],
    [410, 'GET', ''],
    [413, 'POST', ''],
    [415, 'POST', 'UnsupportedMediaType'],
    [418, 'GET', ''],
    [422, 'POST', 'Invalid'],
    [429, 'GET', 'TooManyRequests'],
    [500, 'GET', 'InternalError'],
    [503, 'GET', 'ServiceUnavailable'],
    [504, 'GET', 'Timeout'],
    [599, 'GET', 'InternalError'],
    [302, 'GET', ''],
  ])('has its reason from the status: %i on %s is %s', (code, method, reason) => {
    expect(answer(code, '', {}, method).reason).toBe(reason);
  });
});

describe('secrets', () => {
  test('stay out of messages, properties and inspection', () => {
    const error = apiErrorFrom({
      method: 'POST',
      url: 'https://bob:hunter2@server/api/v1/pods?token=hunter2&access_token=hunter2&limit=5',
      code: 500,
      headers: { 'content-type': 'text/plain' },
      body: 'dump: Authorization: Bearer hunter2.hunter2 and Basic aHVudGVyMg==',
    });
    const shown = `${error.message} ${error.stack} ${inspect(error, { depth: 9 })} ${JSON.stringify(error)}`;
    expect(shown).not.toContain('hunter2');
    expect(shown).not.toContain('aHVudGVyMg');
    expect(error.url).toBe('https://server/api/v1/pods?token=REDACTED&access_token=REDACTED&limit=5');
  });
});

test('a Status that shows the headers of the request is rid of the credentials, and of nothing else', () => {
  const echo =
    'got authorization: Bearer hunter2.hunter2 and "Authorization": "Basic aHVudGVyMg=="; basic validation failed';
  const details = { causes: [{ message: echo, reason: 'x' }] };
  const error = answer(400, JSON.stringify({ kind: 'Status', status: 'Failure', message: echo, details }));
  expect(inspect(error, { depth: 9, showHidden: true })).not.toMatch(/hunter2|aHVudGVyMg/);
  expect(error.message).toContain(
    'got authorization: Bearer REDACTED and "Authorization": "Basic REDACTED"; basic validation failed',
  );
});

describe('recognition', () => {
  test('goes by the brand, so that another copy of the class counts', () => {
    const foreign = Object.assign(new Error('x'), { [Symbol.for('riata.ApiError')]: true });
    expect(isApiError(foreign)).toBe(true);
    expect([new Error('x'), undefined, null, 'x', { code: 404 }].some(isApiError)).toBe(false);
  });

  test('looks through causes, even circular ones', () => {
    const inner = new ApiError(notFound);
    expect(findApiError(new Error('a', { cause: new Error('b', { cause: inner }) }))).toBe(inner);
    const loop: Error & { cause?: unknown } = new Error('loop');
    loop.cause = loop;
    expect(findApiError(loop)).toBeUndefined();
  });

  test('says how often it was tried', () => {
    expect(new ApiError(notFound, { attempts: 11 }).message).toContain('after 11 attempts');
  });
});
