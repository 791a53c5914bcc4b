import { describe, expect, test } from 'vitest';
import { ConfigMap, Deployment, Namespace, Pod } from '../kinds/index.js';
import { makeKind, metadataOnly } from '../object/kind.js';
import { Scheme } from '../object/scheme.js';
import { clone } from '../object/value/clone.js';
import { isLossyObjectError, lossOf, markLossy } from '../object/value/lossy.js';
import { isForbidden, isNotFound } from '../rest/errors/error-guards.js';
import { type Answer, answeringTransport } from '../rest/transport/answering-transport.fixture.js';
import { silentLogger } from '../runtime/log/logger.js';
import { noSpan, type Span, type Tracer } from '../runtime/tracing.js';
import { createClient } from './create-client.js';
import { isNoMatch } from './discovery/rest-mapper.js';
import { lines } from './watch/lines.js';
import { intercept } from './wrappers.js';

const json = { 'content-type': 'application/json' };
const ok = (body: object): Answer => ({ status: 200, headers: json, body });
const refused = (code: number, reason: string, extra: object = {}): Answer => ({
  status: code,
  headers: json,
  body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: reason, ...extra },
});
const stored = (name = 'a', more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'shop', name, uid: 'u1', resourceVersion: '7', creationTimestamp: '2026-01-01T00:00:00Z' },
  ...more,
});
const key = { namespace: 'shop', name: 'a' };

/** A client on scripted answers; `asked` lists method, path with query, body of each request. */
function serve(answers: readonly Answer[] | Parameters<typeof answeringTransport>[0], scheme?: Scheme) {
  const transport = answeringTransport(answers);
  const client = createClient({ server: 'http://a' }, { transport, scheme, runtime: { log: silentLogger } });
  const asked = () => transport.requests.map((r) => `${r.method} ${r.path}`);
  const sent = (nth = 0): unknown => JSON.parse(String(transport.requests[nth]?.body));
  const header = (name: string, nth = 0) => transport.requests[nth]?.headers[name];
  return { client, transport, asked, sent, header };
}

async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) items.push(item);
  return items;
}

describe('reads', () => {
  test('get: by namespace and name; other fields of the key do not matter', async () => {
    const { client, asked, transport } = serve([ok(stored())]);
    expect(await client.get(ConfigMap, key)).toEqual(stored());
    await client.get(ConfigMap, stored().metadata, { resourceVersion: '0' });
    await client.get(Namespace, { name: 'shop' });
    await client.get(Deployment, key);
    expect(asked()).toEqual([
      'GET /api/v1/namespaces/shop/configmaps/a',
      'GET /api/v1/namespaces/shop/configmaps/a?resourceVersion=0',
      'GET /api/v1/namespaces/shop',
      'GET /apis/apps/v1/namespaces/shop/deployments/a',
    ]);
    expect(transport.requests[0]?.body).toBeUndefined();
  });

  test('apiVersion and kind are filled in where a server leaves them out, and losses are kept', async () => {
    const { client } = serve([{ status: 200, headers: json, body: '{"metadata":{"name":"a"},"n":9007199254740993}' }]);
    const got = await client.get(ConfigMap, key);
    expect(got).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } });
    expect(lossOf(got)?.reasons[0]?.paths).toEqual(['n']);
  });

  test('an answer that is no JSON, and errors inside lists and watches, name the request and the way out', async () => {
    const { client } = serve([
      { headers: { 'content-type': 'text/html' }, body: '<p>' },
      ok({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 410, reason: 'Expired', message: 'old' }),
      ok({ type: 'ERROR', object: { kind: 'Status', status: 'Failure', code: 410, message: 'old' } }),
    ]);
    await expect(client.get(ConfigMap, key)).rejects.toThrow(
      'GET /api/v1/namespaces/shop/configmaps/a: expected JSON, got text/html: a proxy may have answered in the ' +
        "server's place; read what is not JSON by doRaw() of a RestRequest (client.rest)",
    );
    const path = '/api/v1/namespaces/shop/configmaps';
    await expect(client.list(ConfigMap, { namespace: 'shop' })).rejects.toMatchObject({
      message: `GET ${path}: old (410 Expired)`,
    });
    const [event] = await all(await client.watch(ConfigMap, { namespace: 'shop' }));
    expect(event).toMatchObject({
      error: { method: 'GET', url: `http://a${path}?allowWatchBookmarks=true&watch=true` },
    });
  });

  test('find: undefined for a missing object, but not for a missing kind or any other failure', async () => {
    const { client } = serve([
      refused(404, 'NotFound', { details: { name: 'a', kind: 'configmaps' } }),
      { status: 404, headers: { 'content-type': 'text/plain' }, body: '404 page not found' },
      // What a server says of a resource that it does not serve, in a group that it does.
      refused(404, 'NotFound', { details: {} }),
      refused(403, 'Forbidden'),
      ok(stored()),
    ]);
    expect(await client.find(ConfigMap, key)).toBeUndefined();
    await expect(client.find(ConfigMap, key)).rejects.toSatisfy(isNotFound);
    await expect(client.find(ConfigMap, key)).rejects.toSatisfy(isNotFound);
    await expect(client.find(ConfigMap, key)).rejects.toSatisfy(isForbidden);
    expect(await client.find(ConfigMap, key)).toEqual(stored());
  });

  test('list: one namespace or all, with selectors; items have their names', async () => {
    const item = { metadata: { namespace: 'shop', name: 'a' } };
    const list = { apiVersion: 'v1', kind: 'ConfigMapList', metadata: { resourceVersion: '9' }, items: [item] };
    const { client, asked } = serve([ok(list)]);
    const got = await client.list(ConfigMap, { namespace: 'shop', labelSelector: 'app=web', limit: 2 });
    expect(got).toEqual({ ...list, items: [{ apiVersion: 'v1', kind: 'ConfigMap', ...item }] });
    await client.list(ConfigMap);
    await client.list(Namespace, { fieldSelector: { 'metadata.name': 'a' } });
    expect(asked()).toEqual([
      'GET /api/v1/namespaces/shop/configmaps?labelSelector=app%3Dweb&limit=2',
      'GET /api/v1/configmaps',
      'GET /api/v1/namespaces?fieldSelector=metadata.name%3Da',
    ]);
  });

  test('metadata only: asks for it, drops what comes nevertheless, and update refuses it', async () => {
    const { client, header } = serve([ok(stored('a', { data: { x: '1' } }))]);
    const got = await client.get(metadataOnly(ConfigMap), key);
    expect(got).toEqual(stored());
    expect(header('accept')).toBe('application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json');
    await expect(client.update(clone(got))).rejects.toSatisfy(isLossyObjectError);
  });

  test('metadata only, in lists: under their own names', async () => {
    const partial = { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata: stored().metadata };
    const list = { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadataList', metadata: {}, items: [partial] };
    const { client, header } = serve([ok(list)]);
    expect((await client.list(metadataOnly(ConfigMap))).items).toEqual([stored()]);
    expect(header('accept')).toContain('as=PartialObjectMetadataList;');
  });

  test('metadata only, in watches: bookmarks and errors stay as they are', async () => {
    const bookmark = {
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '8' },
    };
    const events = [
      { type: 'ADDED', object: stored('a', { data: {} }) },
      { type: 'BOOKMARK', object: bookmark },
    ];
    const body = events.map((event) => `${JSON.stringify(event)}\n`);
    const { client, asked } = serve([{ status: 200, headers: json, body }]);
    expect(await all(await client.watch(metadataOnly(ConfigMap)))).toEqual([
      { type: 'ADDED', object: stored() },
      { type: 'BOOKMARK', object: bookmark },
    ]);
    expect(asked()).toEqual(['GET /api/v1/configmaps?allowWatchBookmarks=true&watch=true']);
  });

  test('table: asks for it, of all namespaces or one; refuses another form; also for metadata-only kinds', async () => {
    const table = { kind: 'Table', apiVersion: 'meta.k8s.io/v1', metadata: {}, columnDefinitions: [], rows: null };
    const { client, asked, header } = serve([ok(table), ok(table), ok({ kind: 'PodList', items: [] })]);
    expect(await client.table(Pod, { namespace: 'shop', limit: 1 })).toEqual({ ...table, rows: [] });
    expect((await client.table(metadataOnly(Pod))).rows).toEqual([]);
    await expect(client.table(Pod)).rejects.toThrow('table of pods: expected a Table, got "PodList"');
    expect(asked()[0]).toBe('GET /api/v1/namespaces/shop/pods?limit=1');
    expect(header('accept', 1)).toBe('application/json;as=Table;v=v1;g=meta.k8s.io');
  });

  test('logs: every option is a parameter; a followed one may be silent', async () => {
    const { client, asked, transport } = serve([{ status: 200, body: ['one\ntw', 'o\n'] }]);
    const options = { container: 'c', tailLines: 5, timestamps: true, follow: true, previous: undefined };
    expect(await all(lines(await client.logs(key, options)))).toEqual(['one', 'two']);
    await (await client.logs(key)).return();
    expect(asked()).toEqual([
      'GET /api/v1/namespaces/shop/pods/a/log?container=c&follow=true&tailLines=5&timestamps=true',
      'GET /api/v1/namespaces/shop/pods/a/log',
    ]);
    expect(transport.requests[0]).toMatchObject({ headersTimeoutMs: 0, idleTimeoutMs: 0 });
    expect(transport.requests[1]?.idleTimeoutMs).toBeUndefined();
  });
});

describe('writes', () => {
  test('create: POST to the collection, in the order of the object', async () => {
    const { client, asked, sent, header, transport } = serve([ok(stored())]);
    const made = await client.create(ConfigMap({ metadata: key, data: { z: '1', b: '2' } }), {
      fieldManager: 'me',
      fieldValidation: 'Strict',
      dryRun: true,
    });
    expect(made).toEqual(stored());
    expect(asked()).toEqual([
      'POST /api/v1/namespaces/shop/configmaps?dryRun=All&fieldManager=me&fieldValidation=Strict',
    ]);
    expect(sent()).toEqual({ apiVersion: 'v1', kind: 'ConfigMap', metadata: key, data: { z: '1', b: '2' } });
    expect(String(transport.requests[0]?.body)).toContain('"data":{"z":"1","b":"2"}');
    expect(header('content-type')).toBe('application/json');
  });

  test('create: generateName needs no name', async () => {
    const { client, asked } = serve([ok(stored())]);
    await client.create(ConfigMap({ metadata: { namespace: 'shop', generateName: 'a-' } }));
    expect(asked()).toEqual(['POST /api/v1/namespaces/shop/configmaps']);
  });

  test('an integer that was rounded when it was read is not written in any other way either', async () => {
    const body =
      '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{"replicas":9007199254740993}}';
    const { client, transport } = serve([{ status: 200, headers: json, body }]);
    const { spec } = await client.get(Deployment, key);
    const refused = 'spec.replicas: expected an integer up to 2^53, got 9007199254740992';
    await expect(client.create(Deployment({ metadata: key, spec }))).rejects.toThrow(refused);
    await expect(client.update(Deployment({ metadata: key, spec }))).rejects.toThrow(refused);
    await expect(client.apply(Deployment({ metadata: key, spec }), { fieldManager: 'me' })).rejects.toThrow(refused);
    await expect(client.patch(Deployment, key, { type: 'merge', body: { spec } })).rejects.toThrow(refused);
    expect(transport.requests).toHaveLength(1);
  });

  test('update: PUT to the object; lossy ones are refused before anything is sent', async () => {
    const { client, asked, sent } = serve([ok(stored())]);
    const read = await client.get(ConfigMap, key);
    await client.update(read, { fieldManager: 'me' });
    expect(asked()[1]).toBe('PUT /api/v1/namespaces/shop/configmaps/a?fieldManager=me');
    expect(sent(1)).toEqual(stored());
    for (const reason of ['transformed', 'metadata-only', 'unsafe-integer'] as const) {
      const lossy = markLossy(clone(read), reason);
      await expect(client.update(lossy)).rejects.toSatisfy(isLossyObjectError);
      await expect(client.status.update(lossy)).rejects.toSatisfy(isLossyObjectError);
    }
    await client.update(markLossy(clone(read), 'managed-fields-cut'));
    expect(asked()).toHaveLength(3);
  });

  test.each([
    ['json', 'application/json-patch+json', [{ op: 'remove', path: '/data' }]],
    ['merge', 'application/merge-patch+json', { data: null }],
    ['strategic', 'application/strategic-merge-patch+json', { data: {} }],
    ['apply', 'application/apply-patch+yaml', { apiVersion: 'v1', kind: 'ConfigMap', metadata: key }],
  ] as const)('patch: %s', async (type, contentType, body) => {
    const { client, asked, sent, header } = serve([ok(stored())]);
    expect(await client.patch(ConfigMap, key, { type, body } as never, { fieldManager: 'me' })).toEqual(stored());
    expect(asked()).toEqual(['PATCH /api/v1/namespaces/shop/configmaps/a?fieldManager=me']);
    expect(header('content-type')).toBe(contentType);
    expect(sent()).toEqual(body);
  });

  test('an integer past 2^53 is written in full as a bigint', async () => {
    const { client, transport } = serve([ok(stored())]);
    const body = { big: 9007199254740993n } as never;
    await client.patch(ConfigMap, key, { type: 'merge', body });
    expect(transport.requests[0]?.body).toBe('{"big":9007199254740993}');
  });

  test('delete: without options no body; the object or a Status comes back', async () => {
    const success = { kind: 'Status', apiVersion: 'v1', status: 'Success' };
    const { client, asked, transport } = serve([ok(success), ok(stored()), ok(success)]);
    expect(await client.delete(ConfigMap, key)).toEqual(success);
    expect(await client.delete(ConfigMap, key)).toEqual(stored());
    expect(await client.delete(metadataOnly(ConfigMap), key)).toEqual(success);
    expect(asked()[0]).toBe('DELETE /api/v1/namespaces/shop/configmaps/a');
    expect(transport.requests[0]?.body).toBeUndefined();
  });

  test('delete: options go into the body', async () => {
    const { client, asked, sent, header } = serve([ok(stored())]);
    const options = { gracePeriodSeconds: 0, preconditions: { uid: 'u1' }, propagationPolicy: 'Orphan' } as const;
    await client.delete(ConfigMap, key, { ...options, dryRun: true });
    expect(asked()).toEqual(['DELETE /api/v1/namespaces/shop/configmaps/a']);
    expect(sent()).toEqual({ apiVersion: 'v1', kind: 'DeleteOptions', ...options, dryRun: ['All'] });
    expect(header('content-type')).toBe('application/json');
  });

  test('deleteCollection: what matches, in one namespace; whatever the server answers', async () => {
    const list = { apiVersion: 'v1', kind: 'ConfigMapList', metadata: {}, items: [stored()] };
    const { client, asked, sent, header } = serve([ok(list), ok({ kind: 'Status', status: 'Success' })]);
    const selection = { namespace: 'shop', labelSelector: { matchLabels: { app: 'web' } } };
    expect(await client.deleteCollection(ConfigMap, { ...selection, gracePeriodSeconds: 1 })).toBeUndefined();
    await client.deleteCollection(metadataOnly(Namespace), { fieldSelector: 'metadata.name=a' });
    expect(asked()).toEqual([
      'DELETE /api/v1/namespaces/shop/configmaps?labelSelector=app%3Dweb',
      'DELETE /api/v1/namespaces?fieldSelector=metadata.name%3Da',
    ]);
    expect(sent()).toEqual({ apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 1 });
    expect(header('accept', 1)).toContain('as=PartialObjectMetadataList;');
  });
});

describe('what would reach something else is refused before it is sent', () => {
  const { client, asked } = serve([ok(stored())]);
  test.each([
    ['get without namespace', () => client.get(Pod, { name: 'a' } as never), 'get Pod "a": the namespace is missing'],
    [
      'create without namespace',
      () => client.create(ConfigMap({ metadata: { name: 'a' } }) as never),
      'create ConfigMap: the',
    ],
    ['update without name', () => client.update(ConfigMap({ metadata: { namespace: 'shop' } })), 'the name is missing'],
    [
      'patch of no name',
      () => client.patch(Pod, { namespace: 'x', name: '' }, { type: 'merge', body: {} }),
      'the name is',
    ],
    ['delete of no name', () => client.delete(Pod, { namespace: 'shop' } as never), 'delete Pod: the name is missing'],
    ['get of no name', () => client.get(Pod, { namespace: 'shop', name: '' }), 'get Pod: the name is missing'],
    ['get of an undefined name', () => client.get(Pod, { namespace: 'shop' } as never), 'get Pod: the name is missing'],
    [
      'find by a text in place of a key',
      () => client.find(Namespace, 'a' as never),
      'get Namespace: the name is missing',
    ],
    ['a subresource of no name', () => client.status.update(Namespace({ metadata: {} })), 'the name is missing'],
    [
      'an object without a kind',
      () => client.create({ metadata: key } as never),
      'expected an object with apiVersion and kind, got an object without them; build it by calling its Kind',
    ],
    ['no object', () => client.update(undefined as never), 'apiVersion and kind, got undefined'],
    ['no apiVersion', () => client.create({ kind: 'Pod', metadata: key } as never), 'an object without apiVersion'],
    ['no metadata', () => client.create({ apiVersion: 'v1', kind: 'Pod' } as never), 'v1 Pod: the metadata is missing'],
    ['delete of all namespaces', () => client.deleteCollection(Pod), 'deletecollection Pod: the namespace is missing'],
    [
      'namespace of a cluster kind',
      () => client.get(Namespace, key as never),
      'Namespace is cluster-scoped; omit the namespace',
    ],
    ['namespace in a list', () => client.list(Namespace, { namespace: 'x' }), 'omit the namespace, got "x"'],
    [
      'namespace in a deletion',
      () => client.deleteCollection(Namespace, { namespace: 'x' }),
      'omit the namespace, got "x"',
    ],
    ['a path as a name', () => client.get(Pod, { namespace: 'shop', name: '../x' }), 'name'],
    ['no subresource', () => client.subresource('').replace(Pod, key, {}), 'the subresource is missing'],
    ['logs without namespace', () => client.logs({ name: 'a' } as never), 'the namespace is missing'],
    [
      'an apply by nobody',
      () => client.apply(ConfigMap({ metadata: key }), {} as { fieldManager: string }),
      'the field manager is missing',
    ],
    [
      'an apply patch by nobody',
      () => client.patch(Pod, key, { type: 'apply', body: {} }),
      'the field manager is missing',
    ],
    [
      'a Date',
      () => client.create({ ...ConfigMap({ metadata: key }), at: new Date(0) } as never),
      'an instance of Date',
    ],
  ])('%s', async (_, call, message) => {
    // Called outside of expect: it must be a rejection, never a throw.
    const promise = call();
    await expect(promise).rejects.toThrow(message);
    await expect(promise).rejects.toBeInstanceOf(TypeError);
    expect(asked()).toEqual([]);
  });
});

test('an answer that is not an object is refused', async () => {
  for (const [body, what] of [
    ['null', 'null'],
    ['[]', 'an array'],
    ['"a"', 'a string'],
  ] as const) {
    const { client } = serve([{ status: 200, headers: json, body }]);
    const expected = `expected a ConfigMap, got ${what}`;
    await expect(client.get(ConfigMap, key)).rejects.toThrow(`get ConfigMap "a": ${expected}`);
    await expect(client.get(metadataOnly(ConfigMap), key)).rejects.toThrow(expected);
    await expect(client.create(ConfigMap({ metadata: key }))).rejects.toThrow(expected);
    await expect(client.delete(ConfigMap, key)).rejects.toThrow(expected);
    // What a subresource answers with is its own affair.
    expect(await client.subresource('x').get(ConfigMap, key)).toEqual(JSON.parse(body));
  }
});

describe('kindOf', () => {
  const Gadget = makeKind({ group: 'x.dev', version: 'v1', kind: 'Gadget', plural: 'gadgetries', scope: 'Cluster' });
  const resources = [{ name: 'gizmos', singularName: 'gizmo', namespaced: true, kind: 'Gadget', verbs: ['get'] }];
  const discovery = (path: string): Answer | undefined =>
    ({
      '/api': ok({ kind: 'APIVersions', versions: [] }),
      '/apis': ok({
        kind: 'APIGroupList',
        groups: [{ name: 'x.dev', versions: [{ groupVersion: 'x.dev/v1', version: 'v1' }] }],
      }),
      '/apis/x.dev': ok({ name: 'x.dev', versions: [{ groupVersion: 'x.dev/v1', version: 'v1' }] }),
      '/apis/x.dev/v1': ok({ resources }),
    })[path];
  const answers = ({ path }: { path: string }) => discovery(path) ?? ok(stored());

  test('the kind that built it comes first, then the scheme, then discovery', async () => {
    const plain = { apiVersion: 'x.dev/v1', kind: 'Gadget', metadata: { name: 'a' } };
    const built = serve(answers);
    await built.client.create(Gadget({ metadata: { name: 'a' } }));
    expect(built.asked()).toEqual(['POST /apis/x.dev/v1/gadgetries']);
    const registered = serve(answers, new Scheme(Gadget));
    await registered.client.create(plain);
    expect(registered.asked()).toEqual(['POST /apis/x.dev/v1/gadgetries']);
    const discovered = serve(answers);
    await discovered.client.create({ ...plain, metadata: { name: 'a', namespace: 'shop' } });
    expect(discovered.asked().at(-1)).toBe('POST /apis/x.dev/v1/namespaces/shop/gizmos');
  });

  test('an unknown kind is a NoMatchError', async () => {
    const { client } = serve(answers);
    const object = { apiVersion: 'x.dev/v1', kind: 'Nope', metadata: { name: 'a' } };
    await expect(client.create(object)).rejects.toSatisfy(isNoMatch);
    await expect(client.apply(object as never, { fieldManager: 'me' })).rejects.toSatisfy(isNoMatch);
  });
});

describe('the signal', () => {
  test('ends a call with its reason', async () => {
    const { client } = serve([{ hangs: true }]);
    const calls = [
      (signal: AbortSignal) => client.get(ConfigMap, key, { signal }),
      (signal: AbortSignal) => client.list(ConfigMap, { signal }),
      (signal: AbortSignal) => client.watch(ConfigMap, { signal }),
      (signal: AbortSignal) => client.create(ConfigMap({ metadata: key }), { signal }),
      (signal: AbortSignal) => client.update(ConfigMap({ metadata: key }), { signal }),
      (signal: AbortSignal) => client.patch(ConfigMap, key, { type: 'merge', body: {} }, { signal }),
      (signal: AbortSignal) => client.apply(ConfigMap({ metadata: key }), { signal, fieldManager: 'me' }),
      (signal: AbortSignal) => client.delete(ConfigMap, key, { signal }),
      (signal: AbortSignal) => client.deleteCollection(ConfigMap, { signal, namespace: 'shop' }),
      (signal: AbortSignal) => client.table(ConfigMap, { signal }),
      (signal: AbortSignal) => client.logs(key, { signal }),
      (signal: AbortSignal) => client.subresource('scale').get(Deployment, key, { signal }),
    ];
    for (const call of calls) {
      const controller = new AbortController();
      const promise = call(controller.signal);
      const reason = new Error('enough');
      controller.abort(reason);
      await expect(promise).rejects.toBe(reason);
    }
  });
});

describe('the connection', () => {
  test('close frees a transport of its own, and leaves one that was given alone', async () => {
    const { client, transport } = serve([ok(stored())]);
    {
      await using scoped = client;
      await scoped.get(ConfigMap, key);
    }
    expect(transport.closed).toBe(false);
    const own = createClient({ server: 'http://127.0.0.1:1' }, { runtime: { log: silentLogger } });
    await own.close();
    await own.close();
    await expect(own.get(ConfigMap, key)).rejects.toThrow('closed');
  });

  test('offers paths without a kind, and discovery', async () => {
    const { client, asked } = serve([ok({ gitVersion: 'v1.36.0' })]);
    expect((await client.discovery.serverVersion()).gitVersion).toBe('v1.36.0');
    await client.rest.get().absPath('/healthz').doRaw();
    expect(asked()).toEqual(['GET /version', 'GET /healthz']);
  });
});

test('every call is part of the span that it was given, or an interceptor', async () => {
  const parents: (Span | undefined)[] = [];
  const tracer: Tracer = {
    enabled: true,
    span: (_name, _attributes, parent) => {
      parents.push(parent);
      return noSpan;
    },
  };
  const list = { kind: 'PodList', apiVersion: 'v1', metadata: {}, items: [] };
  const transport = answeringTransport(({ path }) => {
    if (path.includes('watch=true')) return { status: 200, headers: json, hangs: true };
    if (path.includes('/log')) return { status: 200, headers: { 'content-type': 'text/plain' }, body: '' };
    return ok(path.includes('configmaps/') || path.includes('dryRun') ? stored() : list);
  });
  const client = createClient({ server: 'http://a' }, { transport, runtime: { log: silentLogger, tracer } });
  const span: Span = { ...noSpan };
  await client.get(ConfigMap, key, { span });
  await client.create(ConfigMap({ metadata: key }), { span, dryRun: true });
  await client.get(metadataOnly(ConfigMap), key, { span });
  await client.list(Pod, { span });
  await all(client.each(Pod, { span, limit: 5 }));
  (await client.watch(Pod, { span })).stop();
  await client.subresource('scale').get(ConfigMap, key, { span });
  await all(lines(await client.logs({ namespace: 'shop', name: 'a' }, { span })));
  await intercept(client, (operation, next) => next({ ...operation, span })).delete(ConfigMap, key);
  expect(parents).toHaveLength(9);
  expect(parents.every((parent) => parent === span)).toBe(true);
  expect(transport.requests.filter(({ path }) => path.includes('span'))).toEqual([]);
  await client.get(ConfigMap, key);
  expect(parents.at(-1)).toBeUndefined();
});
