import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type IncomingHttpHeaders } from 'node:http2';
import { request } from 'node:https';
import { createAuthority, memoryLogger, systemClock } from 'riata/runtime';
import { afterEach, describe, expect, test } from 'vitest';
import { ApiServer } from '../../api-server.js';
import type { Handle } from '../in-process/in-process-transport.js';
import { NodeServer } from './node-server.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Sent {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

function send(session: ClientHttp2Session, { path, method = 'GET', headers, body }: Sent): ClientHttp2Stream {
  const stream = session.request({ ':path': path, ':method': method, ...headers }, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  return stream;
}

async function read(session: ClientHttp2Session, sent: Sent) {
  const stream = send(session, sent);
  const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders];
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer);
  return { headers, text: Buffer.concat(parts).toString() };
}

async function client(url: string, ca: string | undefined): Promise<ClientHttp2Session> {
  const session = connect(url, { ca });
  session.on('error', () => {});
  closing.push(() => session.destroy());
  await once(session, 'connect');
  return session;
}

describe('a server over TLS', () => {
  async function served() {
    const server = await ApiServer.start({ log: memoryLogger(), token: 't' });
    closing.push(() => server.stop());
    const { url, ca } = await server.listen();
    const ask = { authorization: 'Bearer t' };
    return { server, url, ca, ask, session: await client(url, ca) };
  }

  const configMaps = '/api/v1/namespaces/default/configmaps';
  const configMap = (name: string, data: object = {}) =>
    JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });

  test('speaks HTTP/2 with who chooses it, and HTTP/1.1 with the others', async () => {
    const { url, ca, ask, session } = await served();
    expect(session.alpnProtocol).toBe('h2');
    const { headers, text } = await read(session, { path: '/api/v1/namespaces/default', headers: ask });
    expect([headers[':status'], JSON.parse(text).metadata.name]).toEqual([200, 'default']);
    const version = await new Promise((resolve, reject) => {
      const sent = request(`${url}/version`, { ca, headers: ask }, (answer) => resolve(answer.resume().httpVersion));
      sent.on('error', reject).end();
    });
    expect(version).toBe('1.1');
  });

  test('answers one request of a client that it does not know, and closes the connection', async () => {
    const { url, ca, ask, session } = await served();
    const { headers, text } = await read(session, { path: '/livez' });
    expect([headers[':status'], headers.connection, text]).toEqual([200, undefined, 'ok']);
    if (!session.closed) await once(session, 'close');
    const wrong = await client(url, ca);
    const refused = await read(wrong, { path: configMaps, headers: { authorization: 'Bearer wrong' } });
    expect(refused.headers[':status']).toBe(401);
    if (!wrong.closed) await once(wrong, 'close');
    const known = await client(url, ca);
    for (let n = 0; n < 3; n++) {
      expect((await read(known, { path: '/livez', headers: ask })).headers[':status']).toBe(200);
    }
    expect(known.closed).toBe(false);
  });

  test('allows 100 streams on a connection, and reads very many headers', async () => {
    const { ask, session } = await served();
    if (session.remoteSettings.maxConcurrentStreams === undefined) await once(session, 'remoteSettings');
    expect(session.remoteSettings.maxConcurrentStreams).toBe(100);
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`x-${n}`, 'y']));
    const { headers } = await read(session, { path: configMaps, headers: { ...many, ...ask } });
    expect(headers[':status']).toBe(200);
    const acting = await read(session, {
      ...{ path: configMaps, headers: { ...many, ...ask, 'impersonate-user': 'nobody-special' } },
    });
    expect(acting.headers[':status']).toBe(403);
  });

  test('takes bodies, and answers HEAD without one', async () => {
    const { ask, session } = await served();
    const headers = { ...ask, 'content-type': 'application/json' };
    const big = 'x'.repeat(900_000);
    const made = await read(session, { path: configMaps, method: 'POST', headers, body: configMap('big', { big }) });
    expect(made.headers[':status']).toBe(201);
    const { text } = await read(session, { path: `${configMaps}/big`, headers: ask });
    expect(JSON.parse(text).data.big).toBe(big);
    const wrong = await read(session, { path: configMaps, method: 'POST', headers, body: '{' });
    expect(wrong.headers[':status']).toBe(400);
    const head = await read(session, { path: '/healthz', method: 'HEAD', headers: ask });
    expect([head.headers[':status'], head.text]).toEqual([200, '']);
  });

  test('many watches share a connection with other requests', async () => {
    const { ask, session } = await served();
    const path = `${configMaps}?watch=1&resourceVersion=0&fieldSelector=metadata.name%3Dw`;
    const watches = Array.from({ length: 50 }, () => send(session, { path, headers: ask }));
    await Promise.all(watches.map((watch) => once(watch, 'response')));
    const seen = watches.map((watch) => once(watch, 'data'));
    const headers = { ...ask, 'content-type': 'application/json' };
    await read(session, { path: configMaps, method: 'POST', headers, body: configMap('w') });
    const events = (await Promise.all(seen)).map(([bytes]) => JSON.parse(String(bytes)).object.metadata.name);
    expect(new Set(events)).toEqual(new Set(['w']));
    for (const watch of watches) watch.close();
    await Promise.all(watches.map((watch) => watch.closed || once(watch, 'close')));
    const list = await read(session, { path: configMaps, headers: ask });
    expect(JSON.parse(list.text).kind).toBe('ConfigMapList');
  });

  test('a long list arrives whole', async () => {
    const { ask, session } = await served();
    const headers = { ...ask, 'content-type': 'application/json' };
    const filling = 'y'.repeat(100_000);
    for (let i = 0; i < 60; i++) {
      await read(session, { path: configMaps, method: 'POST', headers, body: configMap(`c${i}`, { filling }) });
    }
    const { text } = await read(session, { path: `${configMaps}?labelSelector=!x`, headers: ask });
    expect(JSON.parse(text).items.length).toBeGreaterThanOrEqual(60);
  });

  test('ends its watches and closes when the server stops', async () => {
    const { server, ask, session } = await served();
    const watch = send(session, { path: `${configMaps}?watch=1`, headers: ask });
    await once(watch, 'response');
    const ended = once(watch.resume(), 'end');
    await server.stop();
    await ended;
    if (!session.closed) await once(session, 'close');
  });
});

describe('a stream', () => {
  async function listen(handle: Handle) {
    const now = systemClock.now();
    const validity = { notBefore: new Date(now - 60_000), notAfter: new Date(now + 3_600_000) };
    const authority = createAuthority('test', validity);
    const tls = authority.issue('server', ['127.0.0.1']);
    const server = await NodeServer.listen(handle, { host: '127.0.0.1', port: 0, clock: systemClock, tls });
    closing.push(() => server.close());
    return { server, session: await client(server.url, authority.cert) };
  }

  test('that its client resets aborts the request, and no other', async () => {
    const gone: Promise<string>[] = [];
    const { session } = await listen(async ({ path, signal }, reply) => {
      reply.head(200, {});
      if (path === '/quick') return reply.end();
      const aborted = once(signal, 'abort').then(() => path);
      gone.push(aborted);
      await aborted;
    });
    const [one, other] = ['/one', '/other'].map((path) => send(session, { path }));
    await Promise.all([once(one!, 'response'), once(other!, 'response')]);
    one!.close();
    expect(await Promise.race(gone)).toBe('/one');
    expect((await read(session, { path: '/quick' })).headers[':status']).toBe(200);
    session.destroy();
    expect(await gone[1]).toBe('/other');
  });

  test('that the server breaks off is an error for its client', async () => {
    const { session } = await listen(async (_, reply) => {
      reply.head(200, {});
      reply.write(Buffer.from('half'));
      reply.abort();
    });
    await expect(read(session, { path: '/' })).rejects.toThrow();
  });

  test('exposes headers as bytes, repeated ones included', async () => {
    const { session } = await listen(async ({ headers }, reply) => {
      reply.head(200, { warning: ['299 - "ü"', '299 - "b"'] });
      reply.write(Buffer.from(headers.host ?? ''));
      reply.end();
    });
    const { headers, text } = await read(session, { path: '/' });
    expect(Buffer.from(String(headers.warning), 'latin1').toString()).toBe('299 - "ü", 299 - "b"');
    expect(text).toMatch(/^127\.0\.0\.1:\d+$/);
  });

  test('applies backpressure: write returns false until the client reads', async () => {
    let kept = true;
    let finish = () => {};
    const done = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const { session } = await listen(async (_, reply) => {
      reply.head(200, {});
      while (reply.write(Buffer.alloc(64 * 1024))) {}
      kept = reply.bufferedBytes > 0;
      await reply.drained();
      reply.end();
      finish();
    });
    const stream = send(session, { path: '/' });
    stream.pause();
    await once(stream, 'response');
    stream.resume();
    await done;
    expect(kept).toBe(true);
  });
});
