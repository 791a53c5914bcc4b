import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { startFaultServer } from '../../../faults/fault-server.js';
import { startExchange } from '../../../faults/start-exchange.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { isConnectError, isConnectionRefused, TransportError } from '../errors/transport-error.js';
import { defaultTransport } from './default-transport.js';

const echo = startFaultServer.bind(undefined, (request, reply) =>
  reply.send(200, { method: request.method, path: request.path, headers: request.headers, body: `${request.body}` }),
);

describe('requests', () => {
  test('carry method, path behind the base path, query, headers and body', async () => {
    await using server = await echo();
    await using transport = defaultTransport({ server: `${server.url}/k8s/clusters/c-1/` });
    const exchange = startExchange(transport, {
      method: 'POST',
      path: '/api/v1/pods?dryRun=All&labelSelector=a%3Db',
      headers: { 'Content-Type': 'application/json', 'X-Many': ['one', 'two'] },
      body: new TextEncoder().encode('{"ü":1}'),
    });
    const { status, headers } = await exchange.answered;
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('application/json');
    expect(JSON.parse(`${await exchange.completed}`)).toMatchObject({
      method: 'POST',
      path: '/k8s/clusters/c-1/api/v1/pods?dryRun=All&labelSelector=a%3Db',
      headers: { 'content-type': 'application/json', 'x-many': 'two', 'content-length': '8' },
      body: '{"ü":1}',
    });
    expect(exchange.calls).toEqual(['onHeaders', 'onData', 'onEnd']);
  });

  test('use one connection one after the other, several side by side', async () => {
    await using server = await echo();
    await using transport = defaultTransport({ server: server.url });
    for (let i = 0; i < 5; i++) await startExchange(transport).completed;
    expect(server.connections).toBe(1);
    await Promise.all(Array.from({ length: 4 }, () => startExchange(transport).completed));
    expect(server.connections).toBe(4);
  });

  test('that cannot be sent fail without a connection', async () => {
    await using server = await echo();
    await using transport = defaultTransport({ server: server.url });
    for (const request of [{ path: 'api' }, { path: '/a b' }, { headers: { 'bad name': '' } }, { method: 'G T' }]) {
      const error = await startExchange(transport, request).failure;
      expect(error).toMatchObject({ kind: 'invalid-request', requestSent: false });
    }
    expect(server.requests).toHaveLength(0);
  });

  test('more than maxPending wait in line, streams and those without a limit for headers do not count', async () => {
    let release: () => void = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await using server = await startFaultServer(async ({ path }, reply) => {
      if (path === '/stream') {
        reply.head(200);
        return reply.hang();
      }
      await released;
      reply.send(200, 'ok');
    });
    await using transport = defaultTransport({ server: server.url }, { maxPending: 2 });
    const streams = [1, 2, 3].map(() => startExchange(transport, { path: '/stream' }));
    await Promise.all(streams.map(({ answered }) => answered));
    const unlimited = startExchange(transport, { headersTimeoutMs: 0 });
    const requests = [1, 2, 3, 4].map(() => startExchange(transport));
    const controller = new AbortController();
    const impatient = startExchange(transport, { signal: controller.signal });
    expect(transport.stats()).toEqual({ running: 9, waiting: 3, pools: 1 });
    controller.abort('enough');
    expect(await impatient.failure).toBe('enough');
    expect(transport.stats().waiting).toBe(2);
    release();
    await Promise.all([...requests, unlimited].map(({ completed }) => completed));
    expect(transport.stats()).toEqual({ running: 3, waiting: 0, pools: 1 });
    expect(server.connections).toBe(6);
  });

  test('any number at once with maxPending 0; invalid limits are refused', async () => {
    await using server = await echo();
    await using transport = defaultTransport({ server: server.url }, { maxPending: 0 });
    const requests = [1, 2, 3].map(() => startExchange(transport));
    expect(transport.stats()).toMatchObject({ running: 3, waiting: 0 });
    for (const { completed } of requests) expect(`${await completed}`).toContain('"GET"');
    for (const wrong of [{ maxPending: -1 }, { headersTimeoutMs: Number.NaN }, { keepAliveMs: -5 }]) {
      expect(() => defaultTransport({ server: server.url }, wrong)).toThrow(
        /must be a number ≥ 0 \(0 for no limit\), got/,
      );
    }
  });

  test('to an IPv6 address', async () => {
    await using server = await startFaultServer((request, reply) => reply.send(200, `${request.headers.host}`), {
      host: '::1',
    });
    await using transport = defaultTransport({ server: server.url });
    expect(`${await startExchange(transport).completed}`).toBe(`[::1]:${server.port}`);
  });
});

describe('responses', () => {
  test('give repeated headers as an array, skip 1xx, and know bodies without length', async () => {
    await using server = await startFaultServer((_, reply) => {
      reply.raw('HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n');
      reply.raw('HTTP/1.1 200 OK\r\nWarning: 299 - "a"\r\nWarning: 299 - "b"\r\nConnection: close\r\n\r\nto the end');
      reply.close();
    });
    await using transport = defaultTransport({ server: server.url });
    const exchange = startExchange(transport);
    const { status, headers } = await exchange.answered;
    expect(status).toBe(200);
    expect(headers.warning).toEqual(['299 - "a"', '299 - "b"']);
    expect(headers.link).toBeUndefined();
    expect(`${await exchange.completed}`).toBe('to the end');
  });

  test('to HEAD and 204 have no body, gzipped or not', async () => {
    await using server = await startFaultServer(({ method }, reply) => {
      const length = method === 'HEAD' ? 'content-length: 100\r\n' : '';
      reply.raw(
        `HTTP/1.1 ${method === 'HEAD' ? 200 : 204} Ok\r\nconnection: close\r\ncontent-encoding: gzip\r\n${length}\r\n`,
      );
      reply.close();
    });
    await using transport = defaultTransport({ server: server.url });
    for (const method of ['HEAD', 'DELETE']) {
      const exchange = startExchange(transport, { method });
      expect(await exchange.completed).toHaveLength(0);
      expect(exchange.calls).toEqual(['onHeaders', 'onEnd']);
    }
  });

  test('are asked for in gzip and decoded, unless the config or the request says otherwise', async () => {
    const zipped = gzipSync('zipped');
    await using server = await startFaultServer((request, reply) => {
      if (request.headers['accept-encoding'] === 'gzip') reply.send(200, zipped, { 'content-encoding': 'gzip' });
      else reply.send(200, `plain for ${request.headers['accept-encoding']}`);
    });
    await using transport = defaultTransport({ server: server.url });
    const decoded = startExchange(transport);
    expect(`${await decoded.completed}`).toBe('zipped');
    expect((await decoded.answered).headers).toEqual({});
    const own = startExchange(transport, { headers: { 'Accept-Encoding': 'gzip' } });
    expect(await own.completed).toEqual(zipped);
    expect((await own.answered).headers['content-encoding']).toBe('gzip');
    await using plain = defaultTransport({ server: server.url, disableCompression: true });
    expect(`${await startExchange(plain).completed}`).toBe('plain for undefined');
  });
});

describe('an abort', () => {
  test('before the dispatch, its reason arrives after dispatch has returned', async () => {
    await using transport = defaultTransport({ server: 'http://127.0.0.1:1' });
    const exchange = startExchange(transport, { signal: AbortSignal.abort('too late') });
    expect(exchange.calls).toEqual([]);
    expect(await exchange.failure).toBe('too late');
    expect(transport.stats().running).toBe(0);
  });

  test('before the connection is there, nothing is sent', async () => {
    await using server = await echo();
    await using transport = defaultTransport({ server: server.url });
    const controller = new AbortController();
    const exchange = startExchange(transport, { signal: controller.signal });
    controller.abort('changed my mind');
    expect(await exchange.failure).toBe('changed my mind');
    await startExchange(transport, { path: '/after' }).completed;
    expect(server.requests.map(({ path }) => path)).toEqual(['/after']);
  });

  test('while waiting for headers and in the middle of a body, the connection goes', async () => {
    await using server = await startFaultServer((request, reply) => {
      if (request.path === '/body') {
        reply.head(200);
        reply.chunk('part');
      }
      return reply.hang();
    });
    await using transport = defaultTransport({ server: server.url });
    for (const path of ['/body', '/headers']) {
      const controller = new AbortController();
      const exchange = startExchange(transport, { path, signal: controller.signal });
      if (path === '/body') await exchange.received(4);
      else while (server.requests.length < 2) await new Promise(setImmediate);
      controller.abort(path);
      expect(await exchange.failure).toBe(path);
      await server.idle();
    }
  });

  test('after the end does nothing, and no listener is left on the signal', async () => {
    await using server = await echo();
    await using transport = defaultTransport({ server: server.url });
    const controller = new AbortController();
    let listeners = 0;
    const { signal } = controller;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners += 1;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners -= 1;
      remove(...args);
    };
    const exchange = startExchange(transport, { signal });
    expect(listeners).toBe(1);
    await exchange.completed;
    expect(listeners).toBe(0);
    controller.abort();
    expect(exchange.calls).toEqual(['onHeaders', 'onData', 'onEnd']);
  });

  test('by the flow, with and without a reason; only the first counts', async () => {
    await using server = await startFaultServer((_, reply) => {
      reply.head(200);
      return reply.hang();
    });
    await using transport = defaultTransport({ server: server.url });
    const first = startExchange(transport);
    const { flow } = await first.answered;
    flow.abort('mine');
    flow.abort('again');
    flow.resume();
    expect(await first.failure).toBe('mine');
    const second = startExchange(transport);
    (await second.answered).flow.abort();
    expect(await second.failure).toMatchObject({ kind: 'aborted', requestSent: true });
    expect(first.calls).toEqual(['onHeaders', 'onError']);
  });
});

test('a body goes out whole beside headers beyond ASCII, as text and as bytes', async () => {
  await using server = await echo();
  await using transport = defaultTransport({ server: server.url });
  const text = `{"ü":"${'x'.repeat(100_000)}"}`;
  for (const body of [text, new TextEncoder().encode(text)]) {
    const exchange = startExchange(transport, { method: 'POST', headers: { 'x-user': 'jä' }, body });
    const seen = JSON.parse(`${await exchange.completed}`) as { body: string; headers: Record<string, string> };
    expect(seen.body).toBe(text);
    expect(Buffer.from(seen.headers['x-user'] ?? '', 'latin1').toString('utf8')).toBe('jä');
  }
  expect(server.connections).toBe(1);
});

// Node's agent keeps its own time.
describe.skipIf(process.env.RIATA_TRANSPORT === 'node')('how long a connection is kept', () => {
  test('until the limit for unused ones, by our clock', async () => {
    const clock = new VirtualClock();
    await using server = await echo();
    await using transport = defaultTransport({ server: server.url }, { clock, keepAliveMs: 5_000 });
    await startExchange(transport).completed;
    await clock.advance(4_000);
    await startExchange(transport).completed;
    await clock.advance(4_999);
    expect([server.connections, server.open]).toEqual([1, 1]);
    await clock.advance(1);
    await server.idle();
    await startExchange(transport).completed;
    expect(server.connections).toBe(2);
  });

  test('a second less than the server says; not at all if that is nothing, or if it says close', async () => {
    const clock = new VirtualClock();
    const says: Record<string, Record<string, string>> = {
      '/three': { 'keep-alive': 'timeout=3, max=9' },
      '/one': { 'keep-alive': 'timeout=1' },
      '/close': { connection: 'close' },
    };
    await using server = await startFaultServer((request, reply) => reply.send(200, 'ok', says[request.path] ?? {}));
    await using transport = defaultTransport({ server: server.url }, { clock });
    await startExchange(transport, { path: '/three' }).completed;
    await clock.advance(1_999);
    expect(server.open).toBe(1);
    await clock.advance(1);
    await server.idle();
    for (const path of ['/one', '/close']) {
      await startExchange(transport, { path }).completed;
      await server.idle();
    }
    expect(server.connections).toBe(3);
  });
});

describe('a kept connection', () => {
  const cutting = (number: number) =>
    startFaultServer((request, reply) => {
      if (request.number === number) reply.reset();
      else reply.send(200, `${request.connection}`);
    });

  test('that turns out dead costs a read nothing but another connection', async () => {
    await using server = await cutting(2);
    await using transport = defaultTransport({ server: server.url });
    expect(`${await startExchange(transport).completed}`).toBe('1');
    const second = startExchange(transport);
    expect(`${await second.completed}`).toBe('2');
    expect(second.calls).toEqual(['onHeaders', 'onData', 'onEnd']);
    expect(server.requests).toHaveLength(3);
    expect(transport.stats().running).toBe(0);
  });

  test('that turns out dead fails a write, which may have had its effect', async () => {
    await using server = await cutting(2);
    await using transport = defaultTransport({ server: server.url });
    await startExchange(transport).completed;
    const write = startExchange(transport, { method: 'POST', body: '{}' });
    expect(await write.failure).toMatchObject({ kind: 'reset', requestSent: true });
    expect(server.requests).toHaveLength(2);
  });

  test('is the only one with a second chance: a new one has none', async () => {
    await using server = await cutting(1);
    await using transport = defaultTransport({ server: server.url });
    expect(await startExchange(transport).failure).toMatchObject({ kind: 'reset', requestSent: true });
    expect(server.requests).toHaveLength(1);
  });

  test('is not replaced after an abort before it is needed', async () => {
    await using server = await startFaultServer((_, reply) => {
      reply.head(200);
      return reply.hang();
    });
    await using transport = defaultTransport({ server: server.url });
    const exchange = startExchange(transport);
    (await exchange.answered).flow.abort('enough');
    await server.idle();
    for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate);
    expect([server.connections, server.open]).toEqual([1, 0]);
  });
});

describe('a sink', () => {
  test('that throws ends its exchange and hears of it', async () => {
    await using server = await startFaultServer((_, reply) => {
      reply.head(200);
      reply.chunk('x');
      return reply.hang();
    });
    await using transport = defaultTransport({ server: server.url });
    const exchange = startExchange(transport, {}, () => {
      throw new Error('cannot use this');
    });
    expect(await exchange.failure).toMatchObject({ message: 'cannot use this' });
    await server.idle();
    expect(transport.stats().running).toBe(0);
  });

  test('that pauses while the end is there already leaves a connection that serves the next', async () => {
    await using server = await startFaultServer((_, reply) => reply.send(200, 'whole'));
    await using transport = defaultTransport({ server: server.url, disableCompression: true });
    for (let turn = 0; turn < 3; turn += 1) {
      const body = await new Promise<string>((resolve, reject) => {
        let text = '';
        transport.dispatch(
          { method: 'GET', path: `/${turn}`, headers: {} },
          {
            onHeaders(_status, _headers, flow) {
              flow.pause();
              // The body has come with the headers: it waits here, and the socket is paused.
              setImmediate(() => flow.resume());
            },
            onData: (chunk) => {
              text += Buffer.from(chunk).toString();
            },
            onEnd: () => resolve(text),
            onError: reject,
          },
        );
      });
      expect(body).toBe('whole');
    }
    expect(transport.stats().running).toBe(0);
  });

  test.each(['/data', '/end'])('that pauses gets nothing until it resumes, not even the end (%s)', async (path) => {
    let go: () => void = () => {};
    const paused = new Promise<void>((resolve) => {
      go = resolve;
    });
    await using server = await startFaultServer(async (_, reply) => {
      reply.head(200);
      reply.chunk('one');
      await paused;
      if (path === '/data') reply.chunk('two');
      reply.end();
    });
    await using transport = defaultTransport({ server: server.url });
    const exchange = startExchange(transport, { path });
    const { flow } = await exchange.answered;
    await exchange.received(3);
    flow.pause();
    go();
    for (let turns = 0; turns < 50; turns++) await new Promise(setImmediate);
    expect(exchange.calls).toEqual(['onHeaders', 'onData']);
    expect(exchange.chunks).toHaveLength(1);
    flow.resume();
    expect(`${await exchange.completed}`).toBe(path === '/data' ? 'onetwo' : 'one');
    expect(exchange.calls).toEqual(['onHeaders', 'onData', 'onEnd']);
  });
});

describe('failures', () => {
  test('of connecting name method, URL without query, address and remedy', async () => {
    // Never assigned, unlike one that was in use a moment ago.
    const [url, port] = ['http://127.0.0.1:1', 1];
    await using transport = defaultTransport({ server: url });
    const error = await startExchange(transport, { path: '/api?token=hunter2' }).failure;
    expect(isConnectionRefused(error) && isConnectError(error)).toBe(true);
    expect(error).toBeInstanceOf(TransportError);
    expect(error).toMatchObject({ requestSent: false, code: 'ECONNREFUSED' });
    expect((error as Error).message).toBe(
      `GET ${url}/api: connection refused by 127.0.0.1:${port}; ` +
        'is the API server running, and is "server" in the kubeconfig right?',
    );
  });

  test('of a name that does not exist', async () => {
    await using transport = defaultTransport({ server: 'http://nowhere.invalid' });
    const error = await startExchange(transport).failure;
    expect(error).toMatchObject({ kind: 'dns', requestSent: false });
  });

  test('of the credentials arrive as they are', async () => {
    const broken = new Error('client-key of user "dev": no such file');
    const credentials = {
      authorization: async () => undefined,
      tls: () => Promise.reject(broken),
      refresh: async () => false,
    };
    await using transport = defaultTransport({ server: 'https://127.0.0.1:1', credentials });
    expect(await startExchange(transport).failure).toBe(broken);
    expect(transport.stats().running).toBe(0);
  });

  test('of a config that cannot work are thrown at once, without its secrets', () => {
    expect(() => defaultTransport({ server: 'localhost:6443' })).toThrow(/server must be a URL such as https:/);
    expect(() => defaultTransport({ server: 'ftp://u:hunter2@host' })).toThrow(/^server must be .* got "…@host"$/);
    expect(() => defaultTransport({ server: 'https://u:hunter2@host' })).toThrow(
      /^server https:\/\/host must not contain a user/,
    );
    expect(() => defaultTransport({ server: 'https://a', proxyUrl: 'ftp://u:hunter2@p' })).toThrow(
      'proxy-url must be a URL that starts with http://, https:// or socks5://, got one with "ftp://"',
    );
    expect(() => defaultTransport({ server: 'https://a', proxyUrl: 'http://u:100%hunter2@p' })).toThrow(
      /^proxy-url has a "%" in its user or password that does not start an escape; write it as %25$/,
    );
  });
});

describe('close', () => {
  test('ends what runs and what waits, frees every socket, and refuses more', async () => {
    await using server = await startFaultServer((request, reply) => {
      if (request.path === '/quick') return reply.send(200, 'ok');
      reply.head(200);
      return reply.hang();
    });
    const transport = defaultTransport({ server: server.url });
    const exchanges = Array.from({ length: 3 }, () => startExchange(transport));
    await Promise.all(exchanges.map(({ answered }) => answered));
    await startExchange(transport, { path: '/quick' }).completed;
    expect(server.open).toBe(4);
    const unsent = startExchange(transport);
    await Promise.all([transport.close(), transport.close()]);
    for (const { failure } of [...exchanges, unsent]) expect(await failure).toMatchObject({ kind: 'closed' });
    await server.idle();
    expect(await startExchange(transport).failure).toMatchObject({ kind: 'closed', requestSent: false });
    expect(transport.stats()).toEqual({ running: 0, waiting: 0, pools: 0 });
  });
});
