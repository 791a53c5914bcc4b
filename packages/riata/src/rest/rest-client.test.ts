import { describe, expect, test } from 'vitest';
import { memoryLogger } from '../runtime/log/memory-logger.js';
import { memoryMetrics } from '../runtime/metrics.js';
import { VirtualClock } from '../runtime/time/virtual-clock.js';
import type { Span, SpanAttributes, Tracer } from '../runtime/tracing.js';
import { defaultUserAgent } from './chain/default-headers.js';
import { tokenBucketRateLimiter } from './chain/rate-limiter.js';
import type { Credentials, RestConfig } from './config/rest-config.js';
import { isUnauthorized } from './errors/error-guards.js';
import { RestClient, type RestClientOptions } from './rest-client.js';
import { listStream } from './stream/list-stream.js';
import { type Answer, answeringTransport } from './transport/answering-transport.fixture.js';

const clock = new VirtualClock();
function setUp(config: Partial<RestConfig> = {}, options: RestClientOptions = {}, answers: readonly Answer[] = [{}]) {
  const transport = answeringTransport(answers);
  const runtime = { log: memoryLogger(), clock, ...options.runtime };
  const rest = RestClient.for({ server: 'https://host', transport, ...config }, { ...options, runtime });
  const get = () => rest.get().absPath('/x');
  return { rest, transport, get };
}

describe('paths', () => {
  test.each<[RestClientOptions, string, object]>([
    [{ apiVersion: 'v1' }, '/api/v1', { group: '', version: 'v1' }],
    [{ apiVersion: 'apps/v1' }, '/apis/apps/v1', { group: 'apps', version: 'v1' }],
    [{ apiVersion: { group: 'apps', version: 'v1' }, basePath: '/custom' }, '/custom/apps/v1', { group: 'apps' }],
    [{ basePath: '/healthz' }, '/healthz', { group: '', version: '' }],
    [{}, '/', { group: '', version: '' }],
  ])('%j start with %s', (options, path, groupVersion) => {
    const { rest } = setUp({}, options);
    expect(rest.get().url()).toBe(`https://host${path}`);
    expect(rest.apiVersion()).toMatchObject(groupVersion);
  });

  test.each(['host:6443', 'ftp://host', '', 'https://'])('a server "%s" is refused', (server) => {
    expect(() => setUp({ server })).toThrow('server must be a URL such as https://host:6443');
  });

  test('a password in a refused server is not shown', () => {
    expect(() => setUp({ server: 'ftp://me:hunter2@host' })).toThrow(/^(?!.*hunter2)/);
    // It would be left out of every request.
    expect(() => setUp({ server: 'https://me:hunter2@host' })).toThrow(
      /^(?!.*hunter2)server https:\/\/host must not contain a user name or password; set credentials instead/,
    );
  });
});

test('the verbs', async () => {
  const { rest, transport } = setUp();
  const requests = [rest.get(), rest.post(), rest.put(), rest.patch('apply'), rest.delete(), rest.verb('head')];
  for (const request of requests) await request.absPath('/x').do();
  expect(transport.requests.map(({ method }) => method)).toEqual(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']);
  expect(transport.requests[3]?.headers['content-type']).toBe('application/apply-patch+yaml');
});

describe('the user agent', () => {
  test.each([
    [undefined, undefined, defaultUserAgent()],
    ['mine/1', undefined, 'mine/1'],
    ['mine/1', 'this/1', 'this/1'],
  ])('config %s, request %s: %s', async (userAgent, own, expected) => {
    const { get, transport } = setUp({ userAgent });
    const request = get();
    if (own) request.setHeader('User-Agent', own);
    await request.do();
    expect(transport.requests[0]?.headers['user-agent']).toBe(expected);
  });

  test('names version and platform', () => {
    expect(defaultUserAgent()).toMatch(/^riata\/\d+\.\d+\.\d+\S* \(\w+\/\w+\)$/);
  });
});

describe('impersonation', () => {
  const impersonate = {
    user: 'jane',
    uid: 'u-1',
    groups: ['a', 'b'],
    extra: { scopes: ['x', 'y'], 'example.com/Rôle%': ['z'], none: [] },
  };

  test('is asked for by headers', async () => {
    const { get, transport } = setUp({ impersonate });
    await get().do();
    expect(transport.requests[0]?.headers).toMatchObject({
      'impersonate-user': 'jane',
      'impersonate-uid': 'u-1',
      'impersonate-group': ['a', 'b'],
      'impersonate-extra-scopes': ['x', 'y'],
      'impersonate-extra-example.com%2Fr%C3%B4le%25': ['z'],
    });
    expect(transport.requests[0]?.headers).not.toHaveProperty('impersonate-extra-none');
  });

  test('by the request itself comes first, as a whole', async () => {
    const { get, transport } = setUp({ impersonate });
    await get().setHeader('Impersonate-User', 'joe').do();
    expect(transport.requests[0]?.headers['impersonate-user']).toBe('joe');
    expect(transport.requests[0]?.headers).not.toHaveProperty('impersonate-group');
  });

  test('of an empty user is refused', () => {
    expect(() => setUp({ impersonate: { user: '', groups: ['admins'] } })).toThrow(
      'impersonation: user must not be empty',
    );
  });
});

describe('credentials', () => {
  const credentials = (tokens: readonly (string | undefined)[], mayHelp = true) => {
    const calls = { authorization: 0, refresh: 0 };
    const given: Credentials = {
      authorization: async () =>
        tokens[Math.min(calls.refresh, tokens.length - 1)] && `Bearer ${tokens[calls.refresh]}`,
      tls: async () => ({}),
      refresh: async () => {
        calls.refresh += 1;
        return mayHelp;
      },
    };
    return { given, calls };
  };
  const sent = (transport: ReturnType<typeof answeringTransport>) =>
    transport.requests.map(({ headers }) => headers.authorization);

  test('are put on each request, unless there are none', async () => {
    const { get, transport } = setUp({ credentials: credentials(['one']).given });
    await get().do();
    expect(sent(transport)).toEqual(['Bearer one']);
    const without = setUp({ credentials: credentials([undefined]).given });
    await without.get().do();
    expect(without.transport.requests[0]?.headers).not.toHaveProperty('authorization');
  });

  test('of the request itself come first, and are not refreshed', async () => {
    const { given, calls } = credentials(['one']);
    const { get, transport } = setUp({ credentials: given }, {}, [{ status: 401 }]);
    await expect(get().setHeader('Authorization', 'Bearer own').do()).rejects.toMatchObject({ code: 401 });
    expect(sent(transport)).toEqual(['Bearer own']);
    expect(calls.refresh).toBe(0);
  });

  test('are refreshed after a 401, and the request is sent once more', async () => {
    const { given } = credentials(['one', 'two']);
    const { rest, transport } = setUp({ credentials: given }, {}, [{ status: 401, body: 'no' }, { status: 200 }]);
    expect((await rest.post().absPath('/x').body({ a: 1 }).do()).statusCode).toBe(200);
    expect(sent(transport)).toEqual(['Bearer one', 'Bearer two']);
    expect(transport.requests.map(({ body }) => body)).toEqual(['{"a":1}', '{"a":1}']);
  });

  test('that rotate while a request is on its way: what was rejected is what was sent, so the new ones are tried', async () => {
    let token = 'Bearer one';
    const rejections: (string | undefined)[] = [];
    const given: Credentials = {
      authorization: async () => token,
      tls: async () => ({}),
      tryCached: () => ({ authorization: token, tls: {} }),
      refresh: async ({ rejected } = {}) => {
        rejections.push(rejected);
        return rejected !== token;
      },
    };
    const transport = answeringTransport(({ headers }, nth) => {
      token = 'Bearer two';
      return { status: nth > 0 && headers.authorization === token ? 200 : 401 };
    });
    const { get } = setUp({ credentials: given, transport });
    expect((await get().do()).statusCode).toBe(200);
    expect(sent(transport)).toEqual(['Bearer one', 'Bearer two']);
    expect(rejections).toEqual(['Bearer one']);
  });

  test('are refreshed once only: a second 401 is final', async () => {
    const { given, calls } = credentials(['one', 'two', 'three']);
    const { get, transport } = setUp({ credentials: given }, {}, [{ status: 401 }]);
    const error = await get()
      .do()
      .catch((e: unknown) => e);
    expect(isUnauthorized(error)).toBe(true);
    expect(String(error)).not.toMatch(/\b(one|two)\b/);
    expect(transport.requests).toHaveLength(2);
    expect(calls.refresh).toBe(1);
  });

  test('that cannot be refreshed leave the 401 as it is', async () => {
    const { given } = credentials(['one'], false);
    const { get, transport } = setUp({ credentials: given }, {}, [{ status: 401, body: 'no entry' }]);
    await expect(get().do()).rejects.toThrow('no entry');
    expect(transport.requests).toHaveLength(1);
  });

  test('that fail fail the request, and nothing is sent', async () => {
    const failure = new Error('plugin not found');
    const { get, transport } = setUp({
      credentials: { ...credentials([]).given, authorization: () => Promise.reject(failure) },
    });
    await expect(get().do()).rejects.toBe(failure);
    expect(transport.requests).toEqual([]);
  });

  test('that hang do not keep an abort waiting', async () => {
    const { get } = setUp({ credentials: { ...credentials([]).given, authorization: () => new Promise(() => {}) } });
    const controller = new AbortController();
    const pending = get().do({ signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(pending).rejects.toThrow('enough');
  });
});

describe('the rate limiter', () => {
  test.each<[Partial<RestConfig>, number | undefined]>([
    [{}, undefined],
    [{ qps: 0 }, undefined],
    [{ qps: -1, burst: 5 }, undefined],
    [{ burst: 5 }, undefined],
    [{ qps: 20, burst: 30 }, 20],
    [{ qps: 20 }, 20],
  ])('of %j has %s per second', (config, qps) => {
    expect(setUp(config).rest.getRateLimiter()?.qps()).toBe(qps);
  });

  test('can be given, replaced and lifted', async () => {
    const rateLimiter = tokenBucketRateLimiter(0.001, 1, clock);
    const { rest, get } = setUp({ qps: 5 }, { rateLimiter });
    expect(rest.getRateLimiter()).toBe(rateLimiter);
    await get().throttle(undefined).do();
    expect(rateLimiter.tryAccept()).toBe(true);
  });

  test('that refuses is named', async () => {
    const { neverRateLimiter } = await import('./chain/rate-limiter.js');
    const { get } = setUp({}, { rateLimiter: neverRateLimiter() });
    await expect(get().param('token', 'hunter2').do()).rejects.toThrow(
      "GET https://host/x?token=REDACTED: the client's rate limiter refused the request",
    );
  });
});

test('close ends a wait for credentials, which hear of it', async () => {
  const received: unknown[] = [];
  const credentials: Credentials = {
    authorization: ({ signal } = {}) =>
      new Promise((_, reject) => signal?.addEventListener('abort', () => reject(received.push(signal.reason)))),
    tls: async () => ({}),
    refresh: async () => false,
  };
  const rest = RestClient.for({ server: 'https://host', credentials }, { runtime: { log: memoryLogger(), clock } });
  const refused = expect(rest.get().absPath('/version').do()).rejects.toMatchObject({
    kind: 'closed',
    requestSent: false,
    message: 'GET https://host/version: the transport was closed',
  });
  await clock.settle();
  await rest.close();
  await refused;
  expect(received).toHaveLength(1);
});

test('close ends a wait for the rate limiter, which gets its token back', async () => {
  const rateLimiter = tokenBucketRateLimiter(0.001, 1, clock);
  await rateLimiter.accept();
  const rest = RestClient.for({ server: 'https://host' }, { rateLimiter, runtime: { log: memoryLogger(), clock } });
  const waiting = rest.get().absPath('/version').do();
  const refused = expect(waiting).rejects.toMatchObject({
    name: 'TransportError',
    kind: 'closed',
    requestSent: false,
    message: 'GET https://host/version: the transport was closed',
  });
  await clock.settle();
  await rest.close();
  await refused;
  expect(clock.pending).toBe(0);
  await expect(rest.get().absPath('/version').do()).rejects.toMatchObject({ kind: 'closed', requestSent: false });
  await clock.advance(1_000_000);
  expect(rateLimiter.tryAccept()).toBe(true);
});

test('a transport of its own is closed with it, one it was given is not', async () => {
  const { rest, transport } = setUp();
  await rest.close();
  expect(transport.closed).toBe(false);
  await using own = RestClient.for({ server: 'https://127.0.0.1:1' }, { runtime: { log: memoryLogger(), clock } });
  expect(own.get().url()).toBe('https://127.0.0.1:1/');
});

test('each call is a span, with what names objects taken out', async () => {
  const spans: [string, SpanAttributes | undefined, Span | undefined][] = [];
  const ended: string[] = [];
  const tracer = {
    enabled: true,
    span: (name: string, attributes?: SpanAttributes, parent?: Span): Span => {
      spans.push([name, attributes, parent]);
      return { set() {}, error: () => void ended.push('error'), end: () => void ended.push('end') };
    },
  };
  const parent: Span = { set() {}, error() {}, end() {} };
  const { rest } = setUp({}, { apiVersion: 'v1', runtime: { tracer } }, [{}, { status: 404 }]);
  const request = rest.get().namespace('shop').resource('pods').name('cart');
  await request.do({ span: parent });
  await expect(request.do()).rejects.toMatchObject({ code: 404 });
  const attributes = { verb: 'GET', route: '/api/v1/namespaces/{namespace}/pods/{name}', host: 'host' };
  expect(spans).toEqual([
    ['rest request', attributes, parent],
    ['rest request', attributes, undefined],
  ]);
  expect(ended).toEqual(['end', 'error', 'end']);
});

describe('what is taken bit by bit', () => {
  const list = '{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"a"}},{"metadata":{}}]}';
  const headers = { 'content-type': 'application/json' };

  function traced(answers: readonly Answer[]) {
    const reported: string[] = [];
    const metrics = memoryMetrics();
    const tracer: Tracer = {
      enabled: true,
      span: () => {
        reported.push('begin');
        return { set() {}, error: (e) => reported.push(String(e)), end: () => reported.push('end') };
      },
    };
    const { rest } = setUp({}, { apiVersion: 'v1', runtime: { tracer, metrics } }, answers);
    const durations = () => metrics.observed('rest_client_request_duration_seconds', { verb: 'GET', host: 'host' });
    return { pods: () => rest.get().resource('pods'), reported, durations };
  }

  test('a list is a span to its end, and counts as long', async () => {
    const { pods, reported, durations } = traced([{ status: 200, headers, body: list }]);
    const stream = await listStream(pods()).open();
    const { items } = await stream.collect();
    expect(items).toHaveLength(2);
    expect(reported).toEqual(['begin', 'end']);
    expect(durations()).toHaveLength(1);
  });

  test('a stream that breaks has failed, one that its reader leaves has not', async () => {
    const broken = { status: 200, headers, body: list.slice(0, 80), error: new Error('cut') };
    const refused = { status: 403, headers, body: '{}' };
    const { pods, reported, durations } = traced([broken, { status: 200, headers, body: list, hangs: true }, refused]);
    await expect(listStream(pods()).collect()).rejects.toThrow('cut');
    expect(reported.splice(0)).toEqual(['begin', 'Error: cut', 'end']);
    for await (const _ of listStream(pods())) break;
    expect(reported.splice(0)).toEqual(['begin', 'end']);
    await expect(listStream(pods()).collect()).rejects.toMatchObject({ code: 403 });
    expect(reported).toEqual(['begin', expect.stringContaining('403'), 'end']);
    expect(durations()).toHaveLength(3);
  });

  test('what has no end is a span until it begins', async () => {
    const { pods, reported, durations } = traced([{ status: 200, headers, hangs: true }]);
    const watch = await pods().watch();
    const stream = await pods().stream();
    expect(reported).toEqual(['begin', 'end', 'begin', 'end']);
    watch.stop();
    stream.close();
    expect(reported).toHaveLength(4);
    expect(durations()).toHaveLength(0);
  });
});
