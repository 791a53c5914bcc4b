import { Buffer } from 'node:buffer';
import { Agent, type ClientRequest, type IncomingMessage, request as plain, type RequestOptions } from 'node:http';
import { request as secure } from 'node:https';
import { connect } from 'node:net';
import { createAuthority, systemClock, VirtualClock } from 'riata/runtime';
import { afterEach, describe, expect, test } from 'vitest';
import type { Handle } from '../in-process/in-process-transport.js';
import { NodeServer, type NodeServerOptions } from './node-server.js';

const servers: NodeServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function listen(handle: Handle, options: Partial<NodeServerOptions> = {}): Promise<NodeServer> {
  const server = await NodeServer.listen(handle, { host: '127.0.0.1', port: 0, clock: systemClock, ...options });
  servers.push(server);
  return server;
}

interface Sent extends RequestOptions {
  readonly body?: string | Buffer;
  readonly ca?: string;
}

/** Sends a request; resolves with the head of the answer. */
function send(url: string, { body, ...options }: Sent = {}): Promise<{ answer: IncomingMessage; sent: ClientRequest }> {
  return new Promise((resolve, reject) => {
    const sent = (url.startsWith('https') ? secure : plain)(url, options, (answer) => resolve({ answer, sent }));
    sent.on('error', reject);
    sent.end(body);
  });
}

async function read(url: string, options?: Sent): Promise<{ status: number | undefined; text: string }> {
  const { answer } = await send(url, options);
  const parts: Buffer[] = [];
  for await (const part of answer) parts.push(part as Buffer);
  return { status: answer.statusCode, text: Buffer.concat(parts).toString() };
}

const echo: Handle = async ({ method, path, headers, body }, reply) => {
  const text = JSON.stringify({ method, path, test: headers['x-test'], length: body.length });
  reply.head(200, { 'content-type': 'application/json', warning: ['299 - "ü"', '299 - "b"'] });
  reply.write(Buffer.from(text));
  reply.end();
};

/** Resolves with the next of something that comes by a callback. */
function once<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

describe('HTTP', () => {
  test('carries requests and answers', async () => {
    const server = await listen(echo);
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const { answer } = await send(`${server.url}/a%2fb?c=d`, {
      method: 'PUT',
      headers: { 'x-test': 'y' },
      body: 'four',
    });
    expect(answer.headers.warning).toBe('299 - "Ã¼", 299 - "b"');
    let text = '';
    for await (const part of answer) text += String(part);
    expect(JSON.parse(text)).toEqual({ method: 'PUT', path: '/a%2fb?c=d', test: 'y', length: 4 });
  });

  test('drops what a body has past its limit', async () => {
    const server = await listen(echo);
    const { text } = await read(server.url, { method: 'POST', body: Buffer.alloc(5_000_000) });
    expect(JSON.parse(text)).toMatchObject({ length: 3 * 1024 * 1024 + 1 });
  });

  test('keeps connections', async () => {
    const server = await listen(echo);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ports = new Set<number | undefined>();
    for (let i = 0; i < 3; i += 1) {
      const { answer } = await send(server.url, { agent });
      ports.add(answer.socket.localPort);
      for await (const _ of answer);
    }
    agent.destroy();
    expect(ports.size).toBe(1);
  });

  test('answers malformed HTTP with 400, and a head that is too long with 431', async () => {
    const server = await listen(echo);
    const { port } = new URL(server.url);
    const say = async (text: string) => {
      const socket = connect(Number(port), '127.0.0.1');
      socket.end(text);
      let received = '';
      for await (const part of socket) received += String(part);
      return received.slice(0, 12);
    };
    expect(await say('nonsense\r\n\r\n')).toBe('HTTP/1.1 400');
    expect(await say(`GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'y'.repeat(1_100_000)}\r\n\r\n`)).toBe('HTTP/1.1 431');
    expect((await read(server.url)).status).toBe(200);
  });
});

describe('a stream', () => {
  test('sends its head and each piece at once', async () => {
    const steps = [once<void>(), once<void>()];
    const server = await listen(async (_request, reply) => {
      reply.head(200, {});
      for (const step of steps) {
        await step.promise;
        reply.write(Buffer.from('event\n'));
      }
      reply.end();
    });
    const { answer } = await send(server.url);
    const pieces = answer[Symbol.asyncIterator]();
    for (const step of steps) {
      step.resolve();
      expect(String((await pieces.next()).value)).toBe('event\n');
    }
    expect((await pieces.next()).done).toBe(true);
  });

  test('notifies the server that its reader is slow, and continues when it reads', async () => {
    const stuck = once<number>();
    const drained = once<void>();
    const server = await listen(async (_request, reply) => {
      reply.head(200, {});
      const piece = Buffer.alloc(256 * 1024);
      while (reply.write(piece));
      while (reply.bufferedBytes < 4 * 1024 * 1024) reply.write(piece);
      stuck.resolve(reply.bufferedBytes);
      await reply.drained();
      drained.resolve();
      reply.end();
    });
    const { answer } = await send(server.url);
    expect(await stuck.promise).toBeGreaterThan(1024 * 1024);
    answer.resume();
    await drained.promise;
    await new Promise((resolve) => answer.once('end', resolve));
    expect(answer.complete).toBe(true);
  });

  test('notices that its reader has gone', async () => {
    const gone = once<boolean>();
    const server = await listen(async ({ signal }, reply) => {
      reply.head(200, {});
      while (!reply.ended) {
        reply.write(Buffer.alloc(256 * 1024));
        await reply.drained();
      }
      gone.resolve(signal.aborted);
    });
    const { sent, answer } = await send(server.url);
    answer.on('error', () => {});
    sent.destroy();
    expect(await gone.promise).toBe(true);
  });

  test('is cut after a while if the client does not read it', async () => {
    const clock = new VirtualClock();
    const ended = once<void>();
    const server = await listen(
      async (_request, reply) => {
        reply.head(200, {});
        reply.write(Buffer.alloc(32 * 1024 * 1024));
        reply.end();
        ended.resolve();
      },
      { clock },
    );
    const { answer } = await send(server.url);
    const cut = new Promise((resolve) => answer.once('error', resolve));
    await ended.promise;
    await clock.advance(30_000);
    answer.resume();
    expect(await cut).toMatchObject({ code: 'ECONNRESET' });
  });

  test('that is broken off shows as such', async () => {
    const server = await listen(async (_request, reply) => {
      reply.head(200, {});
      reply.write(Buffer.from('half'));
      reply.abort();
    });
    await expect(read(server.url)).rejects.toThrow();
  });
});

describe('HTTPS', () => {
  const day = 24 * 60 * 60 * 1000;
  const now = systemClock.now();
  const authority = createAuthority('test authority', {
    notBefore: new Date(now - day),
    notAfter: new Date(now + day),
  });

  test('is trusted by who trusts the authority, under the names of the certificate', async () => {
    const tls = authority.issue('server', ['localhost', '127.0.0.1', '::1', 'fe80::1:2']);
    const { url } = await listen(echo, { tls });
    expect(url).toMatch(/^https:/);
    expect((await read(url, { ca: authority.cert })).status).toBe(200);
    expect((await read(url.replace('127.0.0.1', 'localhost'), { ca: authority.cert })).status).toBe(200);
    await expect(read(url)).rejects.toThrow(/certificate/);
    const other = createAuthority('test authority', { notBefore: new Date(now - day), notAfter: new Date(now + day) });
    await expect(read(url, { ca: other.cert })).rejects.toThrow(/certificate|signature/);
  });

  test('is not trusted under other names', async () => {
    const { url } = await listen(echo, { tls: authority.issue('server', ['elsewhere.example']) });
    await expect(read(url, { ca: authority.cert })).rejects.toThrow(/altnames|does not match/i);
  });
});

describe('closing', () => {
  test('waits for requests in flight, and leaves no connection', async () => {
    const started = once<void>();
    const goOn = once<void>();
    const server = await listen(async (_request, reply) => {
      started.resolve();
      await goOn.promise;
      reply.head(200, {});
      reply.write(Buffer.from('done'));
      reply.end();
    });
    const agent = new Agent({ keepAlive: true });
    const asking = read(server.url, { agent });
    await started.promise;
    const closing = server.close();
    goOn.resolve();
    expect(await asking).toEqual({ status: 200, text: 'done' });
    await closing;
    await expect(read(server.url)).rejects.toThrow('ECONNREFUSED');
    agent.destroy();
  });

  test('cuts what does not come to an end', async () => {
    const server = await listen(
      async (_request, reply) => {
        reply.head(200, {});
        await new Promise(() => {});
      },
      { graceMs: 1 },
    );
    const { answer } = await send(server.url);
    const ended = new Promise((resolve) => answer.once('error', resolve));
    await server.close();
    expect(await ended).toMatchObject({ code: 'ECONNRESET' });
  });

  test('a port that is taken is an error', async () => {
    const server = await listen(echo);
    const port = Number(new URL(server.url).port);
    await expect(listen(echo, { port })).rejects.toThrow('EADDRINUSE');
  });
});
