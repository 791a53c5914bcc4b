import { describe, expect, test } from 'vitest';
import { ConfigMap, Deployment, Namespace, Pod } from '../kinds/index.js';
import { answeringTransport } from '../rest/transport/answering-transport.fixture.js';
import { silentLogger } from '../runtime/log/logger.js';
import { createClient } from './create-client.js';
import type { Implied } from './interfaces.js';
import type { KubeClient } from './kube-client.js';
import type { Operation } from './operation/operation.js';
import {
  dryRun,
  impersonating,
  inNamespace,
  intercept,
  withFieldOwner,
  withFieldValidation,
  withUserAgent,
} from './wrappers.js';

const key = { namespace: 'shop', name: 'a' };
const stored = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { ...key, uid: 'u1', resourceVersion: '1', creationTimestamp: '' },
} as ConfigMap;

function serve() {
  const headers = { 'content-type': 'application/json' };
  const list = { apiVersion: 'v1', kind: 'ConfigMapList', metadata: {}, items: [] };
  const transport = answeringTransport(({ method, path }) => {
    const isList = method === 'GET' && /(configmaps|namespaces)(\?|$)/.test(path);
    return { status: 200, headers, body: path.includes('watch=true') ? '' : isList ? list : stored };
  });
  const client = createClient({ server: 'http://a', userAgent: 'base' }, { transport, runtime: { log: silentLogger } });
  const sent = (nth = 0): unknown => JSON.parse(String(transport.requests[nth]?.body));
  const header = (name: string, nth = 0) => transport.requests[nth]?.headers[name];
  return { client, sent, header, transport, asked: () => transport.requests.map((r) => `${r.method} ${r.path}`) };
}

/** Every write there is. */
async function writeAll(client: KubeClient) {
  const merge = { type: 'merge', body: {} } as const;
  await client.create(ConfigMap({ metadata: key }));
  await client.update(ConfigMap({ metadata: key }));
  await client.patch(ConfigMap, key, merge);
  await client.apply(ConfigMap({ metadata: key }), { fieldManager: 'own' });
  await client.status.update(ConfigMap({ metadata: key }));
  await client.status.patch(ConfigMap, key, merge);
  await client.subresource('scale').replace(Deployment, key, { spec: {} });
  await client.subresource('eviction').create(Pod, key, {});
  await client.delete(ConfigMap, key);
  await client.deleteCollection(ConfigMap, { namespace: 'shop' });
}

/** Every read there is. */
async function readAll(client: KubeClient) {
  await client.get(ConfigMap, key);
  await client.list(ConfigMap);
  await client.subresource('scale').get(Deployment, key);
  (await client.watch(ConfigMap)).stop();
  await (await client.logs(key)).return();
}

describe('inNamespace', () => {
  test('fills the namespace in, in paths and in what is written', async () => {
    const { client, asked, sent } = serve();
    const here = inNamespace(client, 'shop');
    await here.get(ConfigMap, { name: 'a' });
    await here.list(ConfigMap);
    await here.create(ConfigMap({ metadata: { name: 'a' } }));
    await here.update(ConfigMap({ metadata: { name: 'a' } }));
    await here.patch(ConfigMap, { name: 'a' }, { type: 'merge', body: { metadata: { labels: { x: 'y' } } } });
    await here.apply(ConfigMap({ metadata: { name: 'a' } }), { fieldManager: 'me' });
    await here.deleteCollection(ConfigMap);
    await here.status.update(ConfigMap({ metadata: { name: 'a' } }));
    expect(asked().every((path) => path.includes('/namespaces/shop/configmaps'))).toBe(true);
    for (const nth of [2, 3, 5, 7]) expect(sent(nth)).toMatchObject({ metadata: key });
    expect(sent(4)).toEqual({ metadata: { labels: { x: 'y' } } });
  });

  test('its own namespace may be named, another is refused, by rejection', async () => {
    const { client, asked } = serve();
    const here = inNamespace(client, 'shop');
    await here.get(ConfigMap, key);
    const calls = [
      () => here.get(ConfigMap, { namespace: 'other', name: 'a' }),
      () => here.list(ConfigMap, { namespace: 'other' }),
      () => here.watch(ConfigMap, { namespace: '' }),
      () => here.create(ConfigMap({ metadata: { namespace: 'other', name: 'a' } })),
      () => here.logs({ namespace: 'other', name: 'a' }),
      () => here.subresource('scale').get(Deployment, { namespace: 'other', name: 'a' }),
      () => here.run({ verb: 'get', kind: Pod, namespace: 'other', name: 'a', params: {} }),
    ];
    for (const call of calls) {
      const promise = call();
      await expect(promise).rejects.toThrow('this client is for namespace "shop" alone');
    }
    expect(asked()).toHaveLength(1);
  });

  test('cluster-scoped kinds work as ever', async () => {
    const { client, asked } = serve();
    const here = inNamespace(client, 'shop');
    await here.get(Namespace, { name: 'other' });
    await here.list(Namespace);
    expect(asked()).toEqual(['GET /api/v1/namespaces/other', 'GET /api/v1/namespaces']);
  });

  test('an empty namespace would be all of them', () => {
    expect(() => inNamespace(serve().client, '')).toThrow('the namespace is empty');
  });
});

describe('dryRun', () => {
  test('every write, no read', async () => {
    const { client, asked } = serve();
    await readAll(dryRun(client));
    expect(asked().filter((path) => path.includes('dryRun'))).toEqual([]);
    const reads = asked().length;
    await writeAll(dryRun(client));
    const writes = asked().slice(reads);
    expect(writes).toHaveLength(10);
    expect(writes.filter((path) => !path.includes('dryRun=All'))).toEqual([]);
  });

  test('a deletion with a body says it there, as the server does not look at the query then', async () => {
    const { client, sent, asked } = serve();
    await dryRun(client).delete(ConfigMap, key, { gracePeriodSeconds: 0 });
    await dryRun(client).deleteCollection(ConfigMap, { namespace: 'shop', propagationPolicy: 'Orphan' });
    expect(sent(0)).toMatchObject({ gracePeriodSeconds: 0, dryRun: ['All'] });
    expect(sent(1)).toMatchObject({ propagationPolicy: 'Orphan', dryRun: ['All'] });
    expect(asked().join()).not.toContain('dryRun');
  });
});

describe('withFieldOwner and withFieldValidation', () => {
  test('what is created, updated or patched, subresources too; a call that says otherwise wins', async () => {
    const { client, asked } = serve();
    await writeAll(withFieldValidation(withFieldOwner(client, 'me'), 'Strict'));
    const owner = (path: string) => /fieldManager=(\w+)/.exec(path)?.[1];
    expect(asked().map(owner)).toEqual(['me', 'me', 'me', 'own', 'me', 'me', 'me', 'me', undefined, undefined]);
    expect(asked().filter((path) => path.includes('fieldValidation=Strict'))).toHaveLength(8);
  });

  test('apply takes it', async () => {
    const { client, asked } = serve();
    await withFieldOwner(client, 'me').apply(ConfigMap({ metadata: key }));
    expect(asked()[0]).toContain('fieldManager=me');
  });

  test('reads are left alone; of two, the outer counts', async () => {
    const { client, asked } = serve();
    await readAll(withFieldOwner(client, 'me'));
    expect(asked().join()).not.toContain('field');
    await withFieldOwner(withFieldOwner(client, 'inner'), 'outer').create(ConfigMap({ metadata: key }));
    expect(asked().at(-1)).toContain('fieldManager=outer');
  });
});

describe('impersonating', () => {
  const who = { user: 'jane', uid: '7', groups: ['a', 'b'], extra: { 'example.com/Reason': ['x', 'y'] } };

  test('user, uid, several groups and extras, on every request', async () => {
    const { client, transport } = serve();
    await readAll(impersonating(client, who));
    await writeAll(impersonating(client, who));
    for (const { headers } of transport.requests) {
      expect(headers).toMatchObject({
        'impersonate-user': 'jane',
        'impersonate-uid': '7',
        'impersonate-group': ['a', 'b'],
        'impersonate-extra-example.com%2freason': ['x', 'y'],
      });
    }
  });

  test('two are never mixed: the outer counts as a whole', async () => {
    const { client, header } = serve();
    await impersonating(impersonating(client, who), { user: 'joe' }).get(ConfigMap, key);
    expect(header('impersonate-user')).toBe('joe');
    expect(header('impersonate-group')).toBeUndefined();
    expect(header('impersonate-uid')).toBeUndefined();
  });

  test('an empty user is refused at once', () => {
    expect(() => impersonating(serve().client, { user: '' })).toThrow('impersonation: user must not be empty');
  });
});

test('withUserAgent', async () => {
  const { client, header } = serve();
  await client.get(ConfigMap, key);
  await withUserAgent(client, 'mine/1').get(ConfigMap, key);
  await withUserAgent(withUserAgent(client, 'inner'), 'outer').list(ConfigMap);
  expect([0, 1, 2].map((nth) => header('user-agent', nth))).toEqual(['base', 'mine/1', 'outer']);
});

describe('intercept', () => {
  test('sees every operation as plain data, may change it, and sees the answer', async () => {
    const { client, asked } = serve();
    const seen: Operation[] = [];
    const spy = intercept(client, async (operation, next) => {
      seen.push(operation);
      const answer = await next({ ...operation, params: { ...operation.params, x: '1' } });
      expect(answer).toBeDefined();
      return answer;
    });
    await readAll(spy);
    await writeAll(spy);
    expect(seen.map((o) => (o.subresource ? `${o.verb}/${o.subresource}` : o.verb))).toEqual([
      ...['get', 'list', 'get/scale', 'watch', 'connect/log'],
      ...['create', 'update', 'patch', 'patch', 'update/status', 'patch/status', 'update/scale', 'create/eviction'],
      ...['delete', 'deletecollection'],
    ]);
    expect(asked().every((path) => path.includes('x=1'))).toBe(true);
  });

  test('may answer itself, and fail: what it throws, at once or later, is a rejection', async () => {
    const { client, asked } = serve();
    const fake = intercept(client, async () => stored as never);
    expect(await fake.get(ConfigMap, key)).toBe(stored);
    const failing = intercept(client, () => {
      throw new Error('no');
    });
    for (const call of [
      () => failing.get(ConfigMap, key),
      () => failing.logs(key),
      () => failing.watch(ConfigMap),
      () => failing.status.update(stored),
      () => failing.apply(ConfigMap({ metadata: key }), { fieldManager: 'me' }),
      () => failing.run({ verb: 'get', kind: Pod, params: {} }),
    ]) {
      const promise = call();
      await expect(promise).rejects.toThrow('no');
    }
    expect(asked()).toEqual([]);
  });

  test('can send an operation again', async () => {
    const { client, asked } = serve();
    const twice = intercept(client, async (operation, next) => {
      await next(operation);
      return next(operation);
    });
    await twice.get(ConfigMap, key);
    expect(asked()).toHaveLength(2);
  });
});

describe('together', () => {
  const wrappers: readonly (<C extends KubeClient<never>>(client: C) => KubeClient<never>)[] = [
    (client) => inNamespace(client as never, 'shop') as never,
    (client) => dryRun(client),
    (client) => withFieldOwner(client, 'me'),
    (client) => impersonating(client, { user: 'jane' }),
    (client) => withUserAgent(client, 'mine'),
  ];

  test.each([
    ['as written', wrappers],
    ['the other way round', wrappers.toReversed()],
  ])('%s: the order does not matter', async (_, order) => {
    const { client, asked, header, sent } = serve();
    const wrapped = order.reduce(
      (inner, wrap) => wrap(inner),
      client as KubeClient<never>,
    ) as unknown as KubeClient<Implied>;
    await wrapped.create(ConfigMap({ metadata: { name: 'a' } }));
    await wrapped.status.patch(ConfigMap, { name: 'a' }, { type: 'merge', body: {} });
    await wrapped.delete(ConfigMap, { name: 'a' }, { gracePeriodSeconds: 1 });
    expect(asked()).toEqual([
      'POST /api/v1/namespaces/shop/configmaps?dryRun=All&fieldManager=me',
      'PATCH /api/v1/namespaces/shop/configmaps/a/status?dryRun=All&fieldManager=me',
      'DELETE /api/v1/namespaces/shop/configmaps/a',
    ]);
    expect(sent(2)).toMatchObject({ dryRun: ['All'] });
    expect([header('impersonate-user', 1), header('user-agent', 1)]).toEqual(['jane', 'mine']);
  });

  test('share scheme and mapper, and leave the wrapped client as it was', async () => {
    const { client, asked } = serve();
    const wrapped = dryRun(client);
    expect(wrapped.scheme).toBe(client.scheme);
    expect(wrapped.mapper).toBe(client.mapper);
    await client.delete(ConfigMap, key);
    expect(asked()).toEqual(['DELETE /api/v1/namespaces/shop/configmaps/a']);
  });
});
