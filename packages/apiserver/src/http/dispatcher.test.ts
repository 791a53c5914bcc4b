import { Buffer } from 'node:buffer';
import { gunzipSync } from 'node:zlib';
import { memoryLogger, VirtualClock } from 'riata/runtime';
import { describe, expect, test } from 'vitest';
import { alreadyExists, Refusal } from '../status/refusal.js';
import { toyObject, toyServer } from './toy-server.fixture.js';

const cms = '/api/v1/namespaces/shop/configmaps';
const foos = '/apis/example.com/v1/namespaces/shop/foos';
const notThere = 'the server could not find the requested resource';
const notAllowed = 'the server does not allow this method on the requested resource';

describe('a request', () => {
  test.each([
    ['GET', `${cms}/x?resourceVersion=3`, 'get', { name: 'x', namespace: 'shop', options: { resourceVersion: '3' } }],
    ['GET', cms, 'list', { name: '', namespace: 'shop' }],
    ['GET', '/api/v1/configmaps', 'list', { namespace: '' }],
    ['GET', '/api/v1/namespaces//configmaps', 'list', { namespace: '' }],
    ['GET', `${cms}?watch=1`, 'watch', { namespace: 'shop', options: { watch: true, sendInitialEvents: true } }],
    ['GET', '/api/v1/watch/namespaces/shop/configmaps/x', 'watch', { name: 'x', options: { watch: true } }],
    ['GET', '/api/v1/namespaces/shop', 'get', { resource: 'namespaces', namespace: '', name: 'shop' }],
    ['GET', '/api/v1/namespaces/shop/status', 'get', { resource: 'namespaces', name: 'shop', subresource: 'status' }],
    ['POST', `${cms}?dryRun=All`, 'create', { options: { dryRun: true }, body: {} }],
    ['POST', '/api/v1/namespaces/shop/pods/p/binding', 'create', { name: 'p', subresource: 'binding' }],
    ['PUT', `${cms}/x`, 'update', { name: 'x', body: {} }],
    ['DELETE', `${cms}/x`, 'delete', { name: 'x' }],
    ['DELETE', cms, 'deletecollection', { namespace: 'shop' }],
    ['GET', `${foos}/x/status`, 'get', { resource: 'foos', subresource: 'status' }],
    ['HEAD', foos, 'list', { resource: 'foos' }],
  ])('%s %s reaches the verb %s', async (method, path, verb, expected) => {
    const { ask, calls } = toyServer();
    const body = method === 'POST' || method === 'PUT' ? '{}' : '';
    const { status } = await ask({ method, path, body });
    expect(status).toBe(verb === 'create' ? 201 : 200);
    expect(calls).toHaveLength(1);
    expect(calls[0]).toMatchObject({ verb, ...expected });
  });

  // Status, then the message; all as kube-apiserver v1.36.3 answers.
  test.each([
    ['GET', '/nope', 404, '404 page not found\n'],
    ['GET', '/openapi/v4', 404, '404 page not found\n'],
    ['GET', '//api/v1/configmaps', 404, '404 page not found\n'],
    ['GET', '/apis/nope/v1/x', 404, '404 page not found\n'],
    ['GET', '/api/v1/nope', 404, notThere],
    ['GET', '/api/v1//configmaps', 404, notThere],
    ['GET', '/apis/apps/v9/deployments', 404, notThere],
    ['GET', '/api/v1/configmaps/x', 404, notThere],
    ['GET', '/api/v1/namespaces/shop/nodes', 404, notThere],
    ['GET', '/api/v1/namespaces/shop/namespaces/x', 404, notThere],
    ['GET', `${cms}/x/status`, 404, notThere],
    ['GET', `${cms}/a%2Fb`, 404, notThere],
    ['GET', '/api/v1/nodes/x/status/y', 404, notThere],
    ['GET', '/api/v1/bindings', 404, notThere],
    ['GET', '/apis/authorization.k8s.io/v1/subjectaccessreviews/x', 404, notThere],
    ['GET', '/api/v1/watch/namespaces/shop/configmaps/x/status', 404, notThere],
    ['POST', '/api/v1/watch/configmaps', 405, notAllowed],
    ['GET', '/api/v1/namespaces/shop/finalize', 405, notAllowed],
    ['GET', '/apis/authorization.k8s.io/v1/subjectaccessreviews', 405, notAllowed],
    ['POST', '/api/v1/configmaps', 405, notAllowed],
    ['DELETE', '/api/v1/configmaps', 405, notAllowed],
    ['DELETE', '/api/v1/namespaces', 405, notAllowed],
    ['PUT', cms, 405, notAllowed],
    ['POST', `${cms}/x`, 405, notAllowed],
    ['OPTIONS', cms, 405, notAllowed],
    ['TRACE', '/api', 405, notAllowed],
    ['GET', `${cms}/..`, 400, `Name parameter invalid: "..": may not be '..'`],
    ['GET', `${cms}/a%25b`, 400, `Name parameter invalid: "a%b": may not contain '%'`],
    ['GET', '/api/v1/namespaces//configmaps/x', 400, 'Namespace parameter required.'],
    ['GET', `${cms}/%zz`, 400, '400 Bad Request'],
    ['GET', `${cms}?limit=x`, 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
    ['GET', `${cms}?timeout=abc`, 400, 'invalid timeout specified in the request URL - time: invalid duration "abc"'],
    [
      'GET',
      '/api/v1/watch/namespaces/shop/configmaps/y?fieldSelector=metadata.name%3Dx',
      400,
      "fieldSelector metadata.name doesn't match requested name",
    ],
    ['GET', '/apis/example.com/v1/nope', 404, '404 page not found\n'],
    ['GET', '/apis/example.com/v1/foos/x', 404, '404 page not found\n'],
    ['POST', '/apis/example.com/v1/foos', 404, '404 page not found\n'],
    ['GET', `${foos}/x/nope`, 404, 'foos.example.com "x" not found'],
    ['OPTIONS', foos, 405, ' is not supported on resources of kind "foos.example.com"'],
    ['PUT', foos, 400, 'name must be provided'],
  ])('%s %s is refused with %i', async (method, path, status, message) => {
    const { ask, calls } = toyServer();
    const reply = await ask({ method, path });
    const isText = message.endsWith('\n') || message.startsWith('400 ');
    expect([reply.status, isText ? reply.text : reply.message]).toEqual([status, message]);
    expect(calls).toEqual([]);
  });

  test('is anonymous without a token, and refused with a wrong one', async () => {
    const { ask } = toyServer();
    const as = (authorization: string | undefined, path = '/api') => ask({ path, headers: { authorization } });
    for (const sent of [undefined, 'Basic c2VjcmV0', 'Bearer  secret', 'Bearer ', 'secret']) {
      const reply = await as(sent);
      const message = 'forbidden: User "system:anonymous" cannot get path "/api"';
      expect([reply.status, reply.message], String(sent)).toEqual([403, message]);
    }
    const wrong = await as('Bearer nope');
    expect([wrong.status, wrong.message]).toEqual([401, 'Unauthorized']);
    const space = 'the provided Authorization header contains extra space before the bearer token, and is ignored';
    expect((await as('Bearer  secret')).headers.warning).toEqual([`299 - "${space}"`]);
    for (const sent of ['Bearer secret', 'bearer secret', 'Bearer secret  ', 'Bearer secret more']) {
      expect((await as(sent)).status, sent).toBe(200);
    }
  });
});

describe('a body', () => {
  const unrecognized = (why: string) => `the object provided is unrecognized (must be of type ConfigMap): ${why}`;
  const typeMeta = String.raw`struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`;
  const parse = (why: string) => unrecognized(`couldn't get version/kind; json parse error: ${why}`);
  const unknownFormat =
    'the body of the request was in an unknown format - accepted media types include: application/json, ' +
    'application/yaml, application/vnd.kubernetes.protobuf';
  test.each([
    ['application/json', '', 400, parse('unexpected end of JSON input (<empty>)')],
    ['application/json', 'nope', 400, parse("invalid character 'o' in literal null (expecting 'u') (6e6f7065)")],
    ['application/json', `{"${'y'.repeat(100)}`, 400, parse(`unexpected end of JSON input ({"${'y'.repeat(28)} ...)`)],
    ['application/json', '[]', 400, parse(`json: cannot unmarshal array into Go value of type ${typeMeta} (5b5d)`)],
    [
      'application/json',
      '{"kind":true}',
      400,
      parse('json: cannot unmarshal bool into Go struct field .kind of type string ({"kind":true})'),
    ],
    [
      'application/json',
      '{"apiVersion":"a/b/c","kind":"ConfigMap"}',
      400,
      unrecognized('unexpected GroupVersion string: a/b/c ({"apiVersion":"a/b/c","kind":" ...)'),
    ],
    ['text/plain', '{}', 415, unknownFormat],
    ['json', '{}', 415, unknownFormat],
    [
      'application/vnd.kubernetes.protobuf',
      'k8s',
      400,
      unrecognized('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] (6b3873)'),
    ],
    ['application/json', 'x'.repeat(3_145_729), 413, 'Request entity too large: limit is 3145728'],
  ])('of %s is refused (%#)', async (type, body, status, message) => {
    const { ask } = toyServer();
    const reply = await ask({ method: 'POST', path: cms, headers: { 'content-type': type }, body });
    expect([reply.status, reply.message]).toEqual([status, message]);
  });

  test.each([
    ['application/json; charset=latin1', '{"a":1}', { a: 1 }],
    [undefined, '{"a":1}', { a: 1 }],
    ['application/json', 'null', {}],
    ['application/yaml', 'a: 1\n', { a: 1 }],
    ['application/yaml', '', {}],
  ])('of %s is read', async (type, body, expected) => {
    const { ask, calls } = toyServer();
    await ask({ method: 'POST', path: cms, headers: { 'content-type': type }, body });
    expect(calls[0]?.body).toEqual(expected);
  });

  test('of a custom resource says what it is', async () => {
    const { ask } = toyServer();
    const reply = await ask({ method: 'POST', path: foos, body: '{}' });
    const why = "Object 'Kind' is missing in '{}' ({})";
    expect(reply.message).toBe(`the object provided is unrecognized (must be of type Foo): ${why}`);
  });

  test.each([
    ['application/merge-patch+json; charset=utf-8', '{"a":1}', { merge: { a: 1 } }],
    ['application/json-patch+json', '[]', { json: [] }],
    ['application/strategic-merge-patch+json', '{}', { strategic: {} }],
    ['application/apply-patch+yaml', 'a: 1', { apply: { a: 1 } }],
    ['application/apply-patch+yaml', '{"a":1}', { apply: { a: 1 } }],
    ['application/apply-patch+yaml', '', { apply: {} }],
  ])('of %s is a patch', async (type, body, expected) => {
    const { ask, calls } = toyServer();
    await ask({ method: 'PATCH', path: `${cms}/x?fieldManager=me`, headers: { 'content-type': type }, body });
    expect(calls[0]?.body).toEqual(expected);
  });

  test.each([
    ['application/json', '{}', 415, '415: Unsupported Media Type'],
    ['application/apply-patch+json', '{}', 415, '415: Unsupported Media Type'],
    ['application/merge-patch+json', 'null', 400, 'Invalid JSON Patch'],
    [
      'application/merge-patch+json',
      'x',
      400,
      "error decoding patch: invalid character 'x' looking for beginning of value",
    ],
    [
      'application/json-patch+json',
      'x',
      400,
      "error decoding patch: invalid character 'x' looking for beginning of value",
    ],
    [
      'application/json-patch+json',
      '{}',
      400,
      'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    ],
    [
      'application/strategic-merge-patch+json',
      '[]',
      400,
      'json: cannot unmarshal array into Go value of type map[string]interface {}',
    ],
    [
      'application/apply-patch+yaml',
      'x',
      400,
      'error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal string into Go value of type map[string]interface {}',
    ],
  ])('of %s with %j is no patch', async (type, body, status, message) => {
    const { ask } = toyServer();
    const headers = { 'content-type': type };
    const reply = await ask({ method: 'PATCH', path: `${cms}/x?fieldManager=me`, headers, body });
    expect([reply.status, reply.message]).toEqual([status, message]);
  });

  test('that a custom resource takes no strategic patch is said with the types it takes', async () => {
    const headers = { 'content-type': 'application/strategic-merge-patch+json' };
    const reply = await toyServer().ask({ method: 'PATCH', path: `${foos}/x`, headers, body: '{}' });
    expect(reply.status).toBe(415);
    expect(reply.message).toMatch(
      /: application\/json-patch\+json, application\/merge-patch\+json, [^,]*apply-patch\+yaml$/,
    );
  });
});

describe('an answer', () => {
  test('is a line of JSON', async () => {
    const reply = await toyServer().ask({ path: `${cms}/x` });
    expect(reply.text).toBe(`${JSON.stringify(toyObject)}\n`);
    expect(reply.headers).toEqual({
      'audit-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'cache-control': 'no-cache, private',
      'content-type': 'application/json',
      'content-length': String(reply.bytes.length),
    });
  });

  test('is indented, in YAML, or its metadata alone when asked for', async () => {
    const { ask } = toyServer();
    const accept = (value: string) => ask({ path: `${cms}/x`, headers: { accept: value } });
    expect((await ask({ path: `${cms}/x?pretty=1` })).text).toBe(JSON.stringify(toyObject, undefined, 2));
    const yaml = await accept('application/yaml');
    expect(yaml.headers['content-type']).toBe('application/yaml');
    expect(yaml.text).toBe('apiVersion: v1\ndata:\n  a: "1"\nkind: ConfigMap\nmetadata:\n  name: toy\n');
    const partial = await accept('application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io');
    expect(partial.json).toEqual({
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { name: 'toy' },
    });
    const wrong = await accept('application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io');
    expect([wrong.status, wrong.message]).toEqual([
      406,
      'you requested PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)',
    ]);
  });

  test('in pieces goes out as it is, or is put together for another form', async () => {
    const item = { metadata: { name: 'a' }, data: {} };
    const list = { kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: '5' }, items: [item] };
    const text = JSON.stringify(list);
    const pieces = () => [text.slice(0, 10), text.slice(10)].map((part) => Buffer.from(part));
    const { ask } = toyServer({ handlers: { list: async () => ({ pieces: pieces() }) } });
    const plain = await ask({ path: cms });
    expect([plain.text, plain.headers['content-length']]).toEqual([text, undefined]);
    expect((await ask({ path: `${cms}?pretty=1` })).json).toEqual(list);
    const accept = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
    const kept = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name: 'a' } };
    expect((await ask({ path: cms, headers: { accept } })).json).toEqual({
      kind: 'PartialObjectMetadataList',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '5' },
      items: [kept],
    });
  });

  test('that is long is packed for who takes it', async () => {
    const object = { ...toyObject, data: { a: 'x'.repeat(200_000) } };
    const { ask } = toyServer({ handlers: { get: async () => ({ object }) } });
    const get = (encoding: string) => ask({ path: `${cms}/x`, headers: { 'accept-encoding': encoding } });
    const packed = await get('br, gzip');
    expect(packed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    expect(packed.headers['content-length']).toBeUndefined();
    expect(JSON.parse(gunzipSync(packed.bytes).toString())).toEqual(object);
    expect((await get('gzip;q=0.5')).json).toEqual(object);
    const small = await toyServer().ask({ path: `${cms}/x`, headers: { 'accept-encoding': 'gzip' } });
    expect([small.headers['content-encoding'], small.json]).toEqual([undefined, toyObject]);
  });

  test('carries warnings, each once, without control characters, cut short when they are too long', async () => {
    const { ask } = toyServer({
      handlers: {
        get: async ({ warn }) => {
          for (const text of ['unknown field "a\\b"', 'ü', 'unknown field "a\\b"', 'a\nb', 'x'.repeat(5_000)])
            warn(text);
          return { object: toyObject };
        },
      },
    });
    const { headers } = await ask({ path: `${cms}/x` });
    const cut = 'x'.repeat(256);
    expect(headers.warning).toEqual([String.raw`299 - "unknown field \"a\\b\""`, '299 - "ü"', `299 - "${cut}"`]);
  });

  test('to HEAD has no body', async () => {
    const reply = await toyServer().ask({ method: 'HEAD', path: `${foos}/x` });
    expect([reply.status, reply.text, Number(reply.headers['content-length']) > 0]).toEqual([200, '', true]);
  });
});

describe('a failure', () => {
  const configMaps = { group: '', plural: 'configmaps', kind: 'ConfigMap' };

  test('is a Status with its code and headers', async () => {
    const get = async () => {
      throw alreadyExists(configMaps, 'x');
    };
    const { ask } = toyServer({ handlers: { get } });
    const reply = await ask({ path: `${cms}/x` });
    expect(reply.status).toBe(409);
    expect(reply.json).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'configmaps "x" already exists',
      reason: 'AlreadyExists',
      details: { name: 'x', kind: 'configmaps' },
      code: 409,
    });
    const yaml = await ask({ path: `${cms}/x`, headers: { accept: 'application/yaml' } });
    expect(yaml.text).toContain('reason: AlreadyExists\n');
    const table = await ask({
      path: `${cms}/x`,
      headers: { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' },
    });
    expect([table.headers['content-type'], table.text.startsWith('{\n  "kind"')]).toEqual(['application/json', true]);
  });

  test('says when to retry', async () => {
    const get = async () => {
      throw new Refusal(429, 'TooManyRequests', 'later', { retryAfterSeconds: 7 });
    };
    const { headers } = await toyServer({ handlers: { get } }).ask({ path: `${cms}/x` });
    expect(headers['retry-after']).toBe('7');
  });

  test('of the server itself is a 500, and logged', async () => {
    const log = memoryLogger();
    const get = async () => {
      throw new TypeError('oops');
    };
    const reply = await toyServer({ log, handlers: { get } }).ask({ path: `${cms}/x?token=t` });
    expect([reply.status, reply.json.reason]).toEqual([500, 'InternalError']);
    expect(reply.message).toContain('oops');
    expect(log.records).toHaveLength(1);
    expect(log.records[0]?.fields).toMatchObject({ method: 'GET', path: `${cms}/x` });
  });

  test('after the head breaks the answer off', async () => {
    async function* pieces() {
      yield Buffer.from('{');
      throw new Error('oops');
    }
    const reply = await toyServer({ handlers: { list: async () => ({ pieces: pieces() }) } }).ask({ path: cms });
    expect([reply.status, reply.text, reply.aborted]).toEqual([200, '{', true]);
  });

  test('to answer in time is a 504', async () => {
    const clock = new VirtualClock();
    const get = ({ signal }: { readonly signal: AbortSignal }) =>
      new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new Error('given up'))));
    const { ask } = toyServer({ clock, handlers: { get } });
    const slow = ask({ path: `${cms}/x` });
    const slower = ask({ path: `${cms}/x?timeout=2s` });
    await clock.advance(2_000);
    expect((await slower).message).toBe(
      'Timeout: request did not complete within requested timeout - context deadline exceeded',
    );
    await clock.advance(58_000);
    expect((await slow).status).toBe(504);
    expect(clock.pending).toBe(0);
  });

  test('of the client to wait ends without an answer', async () => {
    const gone = new AbortController();
    const log = memoryLogger();
    const { ask } = toyServer({ log, handlers: { get: () => new Promise<never>(() => {}) } });
    const asked = ask({ path: `${cms}/x`, signal: gone.signal });
    gone.abort(new Error('gone'));
    expect(await asked).toMatchObject({ started: false, aborted: true });
    expect(log.records).toEqual([]);
  });
});

test('a watch ends with the client, or with the server', async () => {
  for (const who of ['client', 'server']) {
    const [client, server] = [new AbortController(), new AbortController()];
    const { ask } = toyServer({
      stopping: server.signal,
      handlers: {
        watch: async ({ reply, headers, signal }) => {
          reply.head(200, headers);
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
          reply.end();
        },
      },
    });
    const watching = ask({ path: `${cms}?watch=1`, signal: client.signal });
    (who === 'client' ? client : server).abort();
    expect(await watching, who).toMatchObject({ status: 200, ended: true, aborted: false });
  }
});
