import { describe, expect, test } from 'vitest';
import { makeKind } from '../../object/kind.js';
import { lossOf } from '../../object/value/lossy.js';
import { memoryLogger } from '../../runtime/log/memory-logger.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { alwaysRateLimiter } from '../chain/rate-limiter.js';
import { collectedWarnings } from '../chain/warnings.js';
import { isNotFound } from '../errors/error-guards.js';
import { RestClient, type RestClientOptions } from '../rest-client.js';
import type { WatchEvent } from '../stream/watch-event.js';
import { type Answer, answeringTransport } from '../transport/answering-transport.fixture.js';

const log = memoryLogger();
function client(server = 'https://host:6443', options: RestClientOptions = {}, answers: readonly Answer[] = [{}]) {
  const transport = answeringTransport(answers);
  const runtime = { log, clock: new VirtualClock() };
  return { transport, rest: RestClient.for({ server }, { transport, runtime, ...options }) };
}
const core = { apiVersion: 'v1' };
const Pod = makeKind({ group: '', version: 'v1', kind: 'Pod', plural: 'pods', scope: 'Namespaced' });

describe('url()', () => {
  const { rest } = client('https://host:6443', core);
  const based = client('https://host:6443/proxy/', { apiVersion: 'apps/v1' }).rest;
  test.each([
    [rest.get(), '/api/v1'],
    [rest.get().resource('pods'), '/api/v1/pods'],
    [rest.get().name('bar').resource('Baz').namespace('foo'), '/api/v1/namespaces/foo/baz/bar'],
    [
      rest.get().name('bar').resource('baz').namespace('foo').suffix('test').subResource('a', 'b'),
      '/api/v1/namespaces/foo/baz/bar/a/b/test',
    ],
    [rest.get().namespace('').resource('pods'), '/api/v1/pods'],
    [rest.get().namespaceIfScoped('foo', false).resource('nodes'), '/api/v1/nodes'],
    [rest.get().namespaceIfScoped('foo', true).resource('pods'), '/api/v1/namespaces/foo/pods'],
    [rest.get().prefix('x', 'y/').resource('pods'), '/api/v1/x/y/pods'],
    [rest.get().param('b', '1').param('a', 'x y').param('b', '2'), '/api/v1?a=x+y&b=1&b=2'],
    [rest.get().timeout('90s').param('a', '1'), '/api/v1?a=1&timeout=1m30s'],
    [rest.get().timeout('never'), '/api/v1'],
    [rest.get().timeout('1500ms'), '/api/v1?timeout=1.5s'],
    [rest.get().param('timeout', '42'), '/api/v1?timeout=42'],
    [rest.get().param('foo', 'a').prefix('other').requestURI('/test?foo=b&c=1&c=2'), '/test?c=1&c=2&foo=b'],
    [rest.get().resource('clusterroles').name('system:node é'), '/api/v1/clusterroles/system:node%20%C3%A9'],
    [based.get().namespace('a').resource('deployments'), '/proxy/apis/apps/v1/namespaces/a/deployments'],
    [based.get().absPath('/version'), '/proxy/version'],
    [based.get().requestURI('/test?x=1'), '/proxy/test?x=1'],
    [based.get().requestURI('../test'), '/test'],
  ])('%#', (request, expected) => {
    expect(request.error()).toBeUndefined();
    expect(request.url()).toBe(`https://host:6443${expected}`);
  });

  test.each([
    ['', '/', '/'],
    ['', '/api', '/api'],
    ['', '/api/', '/api/'],
    ['', '', '/'],
    ['/p1', '', '/p1'],
    ['/p1', '/', '/p1/'],
    ['/p1', '/api', '/p1/api'],
    ['/p1/api/p2', '/api/', '/p1/api/p2/api/'],
  ])('absPath below "%s" of "%s" is "%s"', (base, path, expected) => {
    const { rest: at } = client(`https://host${base}`, { basePath: '/foo' });
    expect(at.post().prefix('r1').absPath(path).url()).toBe(`https://host${expected}`);
  });

  test('absPath joins several segments', () => {
    expect(rest.get().absPath('foo/bar', 'baz/').url()).toBe('https://host:6443/foo/bar/baz');
  });

  test('what the transport gets is below the base path that it adds itself', async () => {
    const { rest: at, transport } = client('https://host/proxy', core);
    await at.get().resource('pods').param('limit', '1').do();
    expect(transport.requests[0]?.path).toBe('/api/v1/pods?limit=1');
    await expect(at.get().requestURI('../secret').do()).rejects.toThrow('/secret is not below /proxy');
  });
});

describe('parameters from an object', () => {
  const { rest } = client('https://host', core);

  test('are added to those there, false and 0 too', () => {
    const options = {
      resourceVersion: '1',
      watch: false,
      tailLines: 0,
      dryRun: ['All', 'B'],
      x: undefined,
      y: null,
      z: '',
    };
    expect(rest.get().param('resourceVersion', '0').versionedParams(options).url()).toBe(
      'https://host/api/v1?dryRun=All&dryRun=B&resourceVersion=0&resourceVersion=1&tailLines=0&watch=false',
    );
  });

  test('that cannot be written are a mistake that names the field', async () => {
    await expect(
      rest
        .get()
        .versionedParams({ labelSelector: { app: 'x' } })
        .do(),
    ).rejects.toThrow('query parameter "labelSelector" must be a string, number or boolean (or several), got object');
  });

  test('a codec is given the version', () => {
    const codec = (_: object, { group, version }: { group: string; version: string }) => [
      ['v', [group + version]] as const,
    ];
    const version = { group: 'apps', version: 'v2' };
    expect(rest.get().versionedParams({}, codec).url()).toBe('https://host/api/v1?v=v1');
    expect(rest.get().specificallyVersionedParams({}, codec, version).url()).toBe('https://host/api/v1?v=appsv2');
  });
});

describe('mistakes', () => {
  const { rest, transport } = client('https://host', core);
  test.each([
    [rest.get().name('a').name('b'), 'name is already set to "a", it cannot be changed to "b"'],
    [rest.get().namespace('a').namespace('b'), 'namespace is already set to "a"'],
    [rest.get().namespace('').namespace('b'), 'namespace is already set to ""'],
    [rest.get().resource('a').resource('b'), 'resource is already set to "a"'],
    [rest.get().subResource('a').subResource('b'), 'subresource is already set to "a"'],
    [rest.get().name(''), 'name may not be empty'],
    [rest.get().namespace('..'), `invalid namespace "..": may not be '..'`],
    [rest.get().resource('a/b'), `invalid resource "a/b": may not contain '/'`],
    [rest.get().name('a%2fb'), `invalid name "a%2fb": may not contain '%'`],
    [rest.get().subResource('ok', '.'), `invalid subresource ".": may not be '.'`],
    [
      rest.get().requestURI('/%zz'),
      'requestURI: the path holds a "%" that begins no escape of UTF-8; write a bare one as %25',
    ],
    [rest.get().requestURI('/a?b=%zz'), 'requestURI: the query holds a "%"'],
    [rest.get().timeout('5 minutes' as never), 'timeout: expected a number and one of'],
    [rest.get().setHeader('bad name', 'x'), 'setHeader: "bad name" cannot be the name of a header'],
    [rest.get().setHeader('authorization', 'secret\r\nx: y'), 'the value for "authorization" holds a line break'],
    [rest.get().body(7 as never), 'body must be an object, a string or bytes, got a number'],
    [rest.get().body({ spec: { n: Number.NaN } }), 'spec.n: expected plain JSON, got NaN'],
    [rest.verb('GET /x'), 'verb must be an HTTP method'],
    [rest.post().namespace('').resource('pods'), 'POST pods: cannot create in an empty namespace'],
    [rest.get().namespace('').resource('pods').name('a'), 'GET pods: the namespace of "a" is empty'],
    [rest.put().namespace('').resource('pods').name('a'), 'the namespace of "a" is empty'],
    [rest.delete().namespace('').resource('pods').name('a'), 'the namespace of "a" is empty'],
  ])('%# are thrown when the request is sent, and nothing goes out', async (request, message) => {
    await expect(request.do()).rejects.toThrow(message);
    await expect(request.doRaw()).rejects.toThrow(message);
    await expect(request.stream()).rejects.toThrow(message);
    const error = await new Promise((resolve) => {
      const never = () => expect.unreachable();
      request.exchange({ onHeaders: never, onData: never, onEnd: never, onError: resolve });
    });
    expect(String(error)).toContain(message);
    expect(String(error)).not.toContain('secret');
    expect(transport.requests).toEqual([]);
  });

  test('after the first, nothing changes any more', async () => {
    const request = rest.get().name('a').name('b');
    const before = request.url();
    const error = request.error();
    request.param('x', '1').absPath('/abs').prefix('p').suffix('s').namespace('n').resource('r').timeout('1s');
    expect(request.url()).toBe(before);
    expect(request.namespace('..').error()).toBe(error);
  });
});

describe('what is sent', () => {
  test('headers: JSON is asked for, a body is JSON unless said otherwise', async () => {
    const { rest, transport } = client('https://host', core);
    await rest.get().resource('pods').do();
    await rest.post().resource('pods').body({ a: 1 }).do();
    await rest.patch('merge').resource('pods').name('a').body({ a: null }).do();
    await rest.patch('application/json-patch+json').resource('pods').name('a').body([]).do();
    await rest.put().resource('pods').name('a').setHeader('Content-Type', 'a/b').setHeader('ACCEPT').body('raw').do();
    await rest
      .delete()
      .resource('pods')
      .name('a')
      .setHeader('X-Many', '1', '2')
      .body(new Uint8Array([1]))
      .do();
    expect(transport.requests.map(({ method, headers, body }) => ({ method, headers, body }))).toMatchObject([
      { method: 'GET', headers: { accept: 'application/json, */*' }, body: undefined },
      { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"a":1}' },
      { method: 'PATCH', headers: { 'content-type': 'application/merge-patch+json' }, body: '{"a":null}' },
      { method: 'PATCH', headers: { 'content-type': 'application/json-patch+json' }, body: '[]' },
      { method: 'PUT', headers: { 'content-type': 'a/b' }, body: 'raw' },
      { method: 'DELETE', headers: { 'x-many': ['1', '2'] }, body: new Uint8Array([1]) },
    ]);
    expect(transport.requests[0]?.headers).not.toHaveProperty('content-type');
    expect(transport.requests[4]?.headers).not.toHaveProperty('accept');
  });

  test('an object given as body is read at once; undefined and null change nothing', async () => {
    const { rest, transport } = client('https://host', core);
    const object = { a: 1 };
    const request = rest.post().resource('pods').body(object).body(undefined).body(null);
    object.a = 2;
    await request.do();
    expect(transport.requests[0]?.body).toBe('{"a":1}');
  });

  test('a header is never more than its name', async () => {
    const { rest, transport } = client('https://host', core);
    await rest.get().resource('pods').setHeader('__proto__', 'a', 'b').setHeader('constructor', 'c').do();
    const { headers = {} } = transport.requests[0] ?? {};
    expect(Object.entries(headers)).toContainEqual(['__proto__', ['a', 'b']]);
    expect(Object.entries(headers)).toContainEqual(['constructor', 'c']);
  });

  test('a request can be sent again, and limits of time are handed on', async () => {
    const { rest, transport } = client('https://host', core);
    const request = rest.get().resource('pods').throttle(alwaysRateLimiter);
    await request.do({ headersTimeoutMs: 5, idleTimeoutMs: 6 });
    await request.do();
    expect(transport.requests).toMatchObject([{ headersTimeoutMs: 5, idleTimeoutMs: 6 }, { path: '/api/v1/pods' }]);
  });
});

describe('do()', () => {
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } };
  const json = { 'content-type': 'application/json' };

  test('resolves to the answer', async () => {
    const warnings = collectedWarnings();
    const answer = { status: 201, headers: { ...json, warning: '299 - "old"' }, body: pod };
    const { rest } = client('https://host', { ...core, warningHandler: warnings }, [answer]);
    const result = await rest.post().resource('pods').body({}).do();
    expect(result).toMatchObject({ statusCode: 201, wasCreated: true, contentType: 'application/json' });
    expect(result.json()).toEqual(pod);
    expect(result.into(Pod)).toEqual(pod);
    expect(result.error()).toBeUndefined();
    expect(Buffer.from(result.raw()).toString()).toBe(JSON.stringify(pod));
    expect(result.warnings).toEqual([{ code: 299, agent: '-', text: 'old' }]);
    expect(warnings.warnings).toEqual(result.warnings);
  });

  test('rejects with the server’s word', async () => {
    const status = { kind: 'Status', status: 'Failure', reason: 'NotFound', message: 'no pods "a"', code: 404 };
    const { rest } = client('https://host', core, [{ status: 404, headers: json, body: status }]);
    const error = await rest
      .get()
      .namespace('n')
      .resource('pods')
      .name('a')
      .do()
      .catch((e: unknown) => e);
    expect(isNotFound(error)).toBe(true);
    expect(String(error)).toBe('ApiError: GET /api/v1/namespaces/n/pods/a: no pods "a" (404 NotFound)');
  });

  test('names the resource where the body does not', async () => {
    const { rest } = client('https://host', { apiVersion: 'apps/v1' }, [{ status: 500, body: 'oops' }]);
    await expect(rest.get().resource('deployments').name('a').doRaw()).rejects.toMatchObject({
      status: { details: { group: 'apps', kind: 'deployments', name: 'a' } },
    });
  });

  test('an error body that breaks off is still an ApiError, with the reason it broke off as its cause', async () => {
    const cut = new Error('cut');
    const { rest } = client('https://host', core, [{ status: 404, body: '{"kind"', error: cut }]);
    await expect(rest.get().resource('pods').do()).rejects.toMatchObject({ code: 404, cause: cut });
  });

  test('a body that breaks off is an error', async () => {
    const cut = new Error('cut');
    const { rest } = client('https://host', core, [{ status: 200, body: '{"kind"', error: cut }]);
    await expect(rest.get().resource('pods').do()).rejects.toBe(cut);
  });

  test.each<[string, Answer, string]>([
    ['an empty body', { status: 202 }, 'GET /api/v1/pods: expected JSON, got an empty body with status 202'],
    [
      'another type',
      { headers: { 'content-type': 'text/html' }, body: '<p>' },
      'expected JSON, got text/html: a proxy may have answered',
    ],
    ['broken JSON', { headers: json, body: '{"a":' }, 'the body is malformed JSON (5 bytes)'],
    ['no object', { headers: json, body: '[1]' }, 'expected a Pod, got JSON that is no object'],
    ['another kind', { body: { ...pod, kind: 'Node' } }, 'expected a Pod of v1, got a Node of v1'],
    ['a failure', { body: { kind: 'Status', status: 'Failure', message: 'not so' } }, 'GET /api/v1/pods: not so'],
  ])('into() refuses %s', async (_, answer, message) => {
    const { rest } = client('https://host', core, [answer]);
    const result = await rest.get().resource('pods').do();
    expect(() => result.into(Pod)).toThrow(message);
    expect(result.error()?.message).toBe(message.startsWith('GET /api/v1/pods: not so') ? message : undefined);
  });

  test('into() fills in what the server left out and remembers large integers', async () => {
    const { rest } = client('https://host', core, [
      { body: '{"metadata":{"name":"a"},"spec":{"n":9007199254740993}}' },
    ]);
    const object = (await rest.get().resource('pods').do()).into(Pod);
    expect(Object.keys(object)).toEqual(['apiVersion', 'kind', 'metadata', 'spec']);
    expect(lossOf(object)).toBeDefined();
  });

  test('an abort rejects with its reason, at once', async () => {
    const { rest } = client('https://host', core, [{ hangs: true }]);
    const controller = new AbortController();
    const reason = new Error('enough');
    const sent = rest.get().resource('pods').do({ signal: controller.signal });
    controller.abort(reason);
    await expect(sent).rejects.toBe(reason);
    await expect(rest.get().resource('pods').do({ signal: controller.signal })).rejects.toBe(reason);
  });
});

describe('exchange()', () => {
  const record = (pauseAtHeaders = false) => {
    const seen: unknown[] = [];
    let finish = () => {};
    const done = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let flow: { pause(): void; resume(): void; abort(reason?: unknown): void } | undefined;
    return {
      seen,
      done,
      flow: () => flow,
      sink: {
        onHeaders: (status: number, _: unknown, given: NonNullable<typeof flow>) => {
          flow = given;
          if (pauseAtHeaders) given.pause();
          seen.push(status);
        },
        onData: (chunk: Uint8Array) => void seen.push(Buffer.from(chunk).toString()),
        onEnd: () => {
          seen.push('end');
          finish();
        },
        onError: (error: unknown) => {
          seen.push(error);
          finish();
        },
      },
    };
  };

  test('hands on headers, chunks and the end, in order', async () => {
    const { rest } = client('https://host', core, [{ body: ['a', 'b', 'c'] }]);
    const { sink, seen, done } = record();
    rest.get().resource('pods').exchange(sink);
    await done;
    expect(seen).toEqual([200, 'a', 'b', 'c', 'end']);
  });

  test('a pause asked for with the headers holds the body back', async () => {
    const { rest } = client('https://host', core, [{ body: ['a', 'b'] }]);
    const { sink, seen, done, flow } = record(true);
    rest.get().resource('pods').exchange(sink);
    await new Promise((resolve) => setImmediate(resolve));
    expect(seen).toEqual([200]);
    flow()?.resume();
    await done;
    expect(seen).toEqual([200, 'a', 'b', 'end']);
  });

  test('a refusal comes as an ApiError, without headers', async () => {
    const { rest } = client('https://host', core, [{ status: 410, body: 'gone' }]);
    const { sink, seen, done } = record();
    rest.get().resource('pods').exchange(sink, { watch: true });
    await done;
    expect(seen).toMatchObject([{ code: 410, attempts: 1 }]);
  });

  test('a sink that throws at the headers gets its error and the exchange ends', async () => {
    const { rest } = client('https://host', core, [{ status: 200, body: ['a'], hangs: true }]);
    const { sink, seen, done } = record();
    const oops = new Error('oops');
    rest
      .get()
      .resource('pods')
      .exchange({
        ...sink,
        onHeaders: () => {
          throw oops;
        },
      });
    await done;
    expect(seen).toEqual([oops]);
  });
});

describe('watch()', () => {
  const event = (type: string, name: string) =>
    `${JSON.stringify({ type, object: { apiVersion: 'v1', kind: 'Pod', metadata: { name, resourceVersion: '1' } } })}\n`;

  test('gives the events as they come and asks for a watch', async () => {
    const { rest, transport } = client('https://host', core, [{ body: [event('ADDED', 'a'), event('DELETED', 'a')] }]);
    const request = rest.get().resource('pods').timeout('5m');
    const types: string[] = [];
    for await (const { type } of await request.watch()) types.push(type);
    expect(types).toEqual(['ADDED', 'DELETED']);
    expect(transport.requests[0]?.path).toBe('/api/v1/pods?timeout=5m0s&watch=true');
    expect(request.url()).not.toContain('watch');
  });

  test('an error inside the stream names the request, whichever way it is read', async () => {
    const status = { kind: 'Status', status: 'Failure', code: 410, reason: 'Expired', message: 'too old' };
    const body = `{"type":"ERROR","object":${JSON.stringify(status)}}\n{"type":"ADDED","obj`;
    const expected = [
      { type: 'ERROR', object: status, error: { method: 'GET', message: 'GET /api/v1/pods: too old (410 Expired)' } },
      {
        type: 'ERROR',
        error: { url: 'https://host/api/v1/pods?watch=true', cause: { name: 'DecodeError' } },
      },
    ];
    const { rest } = client('https://host', core, [{ body }]);
    const events: WatchEvent[] = [];
    for await (const event of await rest.get().resource('pods').watch()) events.push(event);
    expect(events).toMatchObject(expected);
    const stream = await rest.get().resource('pods').watch();
    const reported: WatchEvent[] = [];
    await new Promise<void>((onEnd) =>
      stream.consume({ onEvent: (event) => reported.push(event), onEnd: () => onEnd() }),
    );
    expect(reported).toMatchObject(expected);
  });

  test('rejects when the server refuses', async () => {
    const { rest } = client('https://host', core, [{ status: 403, body: 'not you' }]);
    await expect(rest.get().resource('pods').param('watch', '1').watch()).rejects.toThrow('not you (403 Forbidden)');
  });
});
