import { once } from 'node:events';
import { createServer as createPlainServer } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type Authority, createAuthority, systemClock, VirtualClock } from 'riata/runtime';
import { afterEach, describe, expect, test } from 'vitest';
import { MemoryStorage } from '../storage/memory-storage.js';
import { InProcessHandlers } from './in-process-handlers.js';
import { OutgoingRequests } from './outgoing-requests.js';
import { ServiceResolver } from './service-resolver.js';
import { WebhookCaller } from './webhook-caller.js';

const now = systemClock.now();
const validity = { notBefore: new Date(now - 60_000), notAfter: new Date(now + 3_600_000) };
const authority = createAuthority('hooks', validity);
const closing: (() => void)[] = [];

afterEach(() => {
  for (const close of closing.splice(0)) close();
});

function setup() {
  const clock = new VirtualClock();
  const storage = new MemoryStorage({ clock });
  const handlers = new InProcessHandlers();
  const outgoing = new OutgoingRequests(handlers);
  closing.push(() => outgoing.close());
  const caller = new WebhookCaller({ outgoing, services: new ServiceResolver({ storage }), clock });
  const service = (name: string, spec: object) =>
    storage.put('/services', `shop/${name}`, (revision) => ({
      ...{ apiVersion: 'v1', kind: 'Service', spec },
      metadata: { name, namespace: 'shop', uid: name, resourceVersion: String(revision) } as never,
    }));
  return { clock, storage, handlers, caller, service };
}

const caBundle = (of: Authority) => Buffer.from(of.cert).toString('base64');
const options = { timeoutMs: 10_000 };

async function listen(names: readonly string[], answer: (body: string, path: string) => [number, string]) {
  const server = createServer(authority.issue('hook', names), async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    const [status, text] = answer(body, request.url ?? '');
    response.writeHead(status, { 'content-type': status === 200 ? 'application/json' : 'text/plain' }).end(text);
  });
  server.listen(0, '127.0.0.1');
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

describe('a handler in this process', () => {
  test('gets what is addressed to its URL, whatever the address', async () => {
    const { caller, handlers } = setup();
    handlers.add('https://hooks.shop.svc', async () => Response.json({ by: 'the general one' }));
    const special = handlers.add('https://hooks.shop.svc:443/convert/', async (request) =>
      Response.json({ path: new URL(request.url).search, body: await request.json() }),
    );
    const service = { namespace: 'shop', name: 'hooks', path: '/convert' };
    expect(JSON.parse(await caller.call({ service }, { a: 1 }, options))).toEqual({
      path: '?timeout=10s',
      body: { a: 1 },
    });
    special[Symbol.dispose]();
    expect(JSON.parse(await caller.call({ service }, {}, options))).toEqual({ by: 'the general one' });
  });

  test('is there once for a URL, which must be one of https', () => {
    const { handlers } = setup();
    handlers.add('https://a.test/x', async () => new Response());
    expect(() => handlers.add('https://a.test/x/', async () => new Response())).toThrow('already has a handler');
    expect(() => handlers.add('http://a.test', async () => new Response())).toThrow(
      'the URL must start with https://, got "http://a.test"',
    );
  });

  test('has its time by the clock of the server', async () => {
    const { caller, handlers, clock } = setup();
    handlers.add('https://a.test', () => new Promise(() => {}));
    const call = caller.call({ url: 'https://a.test/x' }, {}, options);
    const refused = expect(call).rejects.toMatchObject({
      message: 'Post "https://a.test/x?timeout=10s": context deadline exceeded',
      timedOut: true,
    });
    await clock.advance(10_000);
    await refused;
  });

  test('a failure or an unsuccessful answer is reported in the words of client-go', async () => {
    const { caller, handlers } = setup();
    handlers.add('https://a.test/throws', () => {
      throw new Error('out of order');
    });
    handlers.add('https://a.test/500', () => new Response('broken "pipe"\n', { status: 500 }));
    handlers.add('https://a.test/404', () => new Response('', { status: 404 }));
    handlers.add('https://a.test/status', () =>
      Response.json({ kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'not today' }, { status: 418 }),
    );
    const said = (path: string) => caller.call({ url: `https://a.test/${path}` }, {}, options).catch((e) => e.message);
    expect(await said('throws')).toBe('Post "https://a.test/throws?timeout=10s": out of order');
    expect(await said('500')).toBe(
      'an error on the server ("broken \\"pipe\\"") has prevented the request from succeeding',
    );
    expect(await said('404')).toBe('the server could not find the requested resource');
    expect(await said('status')).toBe('not today');
  });
});

describe('over HTTPS', () => {
  test('the name of a Service is verified, and its ExternalName is reached', async () => {
    const { caller, service } = setup();
    const port = await listen(['hooks.shop.svc'], (body, path) => [200, JSON.stringify({ body, path })]);
    service('hooks', { type: 'ExternalName', externalName: '127.0.0.1' });
    const target = {
      service: { namespace: 'shop', name: 'hooks', path: 'convert', port },
      caBundle: caBundle(authority),
    };
    expect(JSON.parse(await caller.call(target, { a: 1 }, options))).toEqual({
      body: '{"a":1}',
      path: '/convert?timeout=10s',
    });
  });

  test('a ready endpoint of a Service is reached', async () => {
    const { caller, service, storage } = setup();
    const port = await listen(['hooks.shop.svc'], () => [200, 'here']);
    service('hooks', { type: 'ClusterIP', ports: [{ name: 'web', port: 443 }] });
    storage.put('discovery.k8s.io/endpointslices', 'shop/hooks-1', (revision) => ({
      ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', ports: [{ name: 'web', port }] },
      endpoints: [{ addresses: ['192.0.2.1'], conditions: { ready: false } }, { addresses: ['127.0.0.1'] }],
      metadata: {
        ...{ name: 'hooks-1', namespace: 'shop', uid: 'a', resourceVersion: String(revision) },
        labels: { 'kubernetes.io/service-name': 'hooks' },
      } as never,
    }));
    const target = { service: { namespace: 'shop', name: 'hooks' }, caBundle: caBundle(authority) };
    expect(await caller.call(target, {}, options)).toBe('here');
  });

  test('the cause is reported in the words of Go', async () => {
    const { caller, service } = setup();
    const port = await listen(['other.test'], () => [500, 'oh']);
    const plain = createPlainServer().listen(0, '127.0.0.1');
    closing.push(() => plain.close());
    await once(plain, 'listening');
    const plainPort = (plain.address() as AddressInfo).port;
    service('outside', { type: 'ExternalName', externalName: '127.0.0.1' });
    service('inside', { type: 'ClusterIP', ports: [{ port: 443 }] });
    const said = (target: Parameters<WebhookCaller['call']>[0]) =>
      caller.call(target, {}, options).then(
        () => 'no error',
        (error) => error.message,
      );
    const at = `https://127.0.0.1:${port}`;
    const named = (name: string, of = 443) => ({ service: { namespace: 'shop', name, path: '/x', port: of } });
    expect(await said({ url: at })).toBe(
      `Post "${at}/?timeout=10s": tls: failed to verify certificate: x509: certificate signed by unknown authority`,
    );
    expect(await said({ ...named('outside', port), caBundle: caBundle(authority) })).toBe(
      `Post "https://outside.shop.svc:${port}/x?timeout=10s": tls: failed to verify certificate: x509: certificate is valid for other.test, not outside.shop.svc`,
    );
    expect(await said({ url: `https://127.0.0.1:${plainPort}/` })).toBe(
      `Post "https://127.0.0.1:${plainPort}/?timeout=10s": http: server gave HTTP response to HTTPS client`,
    );
    expect(await said({ url: 'https://127.0.0.1:1/' })).toBe(
      'Post "https://127.0.0.1:1/?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused',
    );
    expect(await said(named('nowhere'))).toBe(
      'Post "https://nowhere.shop.svc:443/x?timeout=10s": service "nowhere" not found',
    );
    expect(await said(named('inside'))).toBe(
      'Post "https://inside.shop.svc:443/x?timeout=10s": no endpoints available for service "inside"',
    );
    expect(await said(named('inside', 444))).toBe(
      'Post "https://inside.shop.svc:444/x?timeout=10s": no service port 444 found for service "inside"',
    );
  });
});
