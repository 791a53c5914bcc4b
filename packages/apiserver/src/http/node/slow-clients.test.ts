import { once } from 'node:events';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { createAuthority, systemClock, VirtualClock } from 'riata/runtime';
import { afterEach, describe, expect, test } from 'vitest';
import type { Handle } from '../in-process/in-process-transport.js';
import { sendBytes } from '../reply.js';
import { NodeServer, type NodeServerOptions } from './node-server.js';

const servers: NodeServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

const seen: string[] = [];
const handle: Handle = async ({ path, body }, reply) => {
  seen.push(`${path} ${body.length}`);
  sendBytes(reply, 200, {}, Buffer.from('ok'));
};

async function listen(options: Partial<NodeServerOptions> = {}): Promise<NodeServer> {
  const server = await NodeServer.listen(handle, { host: '127.0.0.1', port: 0, clock: systemClock, ...options });
  servers.push(server);
  return server;
}

async function open({ url }: NodeServer): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

/** All that a connection brings until the server closes it. */
async function heardBy(socket: Socket): Promise<string> {
  let heard = '';
  for await (const part of socket) heard += String(part);
  return heard;
}

const head = (path: string, length: number) => `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`;

describe('a client that is too slow', () => {
  test('for the head of its request is cut off without an answer', async () => {
    const server = await listen({ headTimeoutMs: 50 });
    const socket = await open(server);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nX-Never-En');
    expect(await heardBy(socket)).toBe('');
  });

  test('to send anything is cut off', async () => {
    const server = await listen({ headTimeoutMs: 50 });
    expect(await heardBy(await open(server))).toBe('');
  });

  test('for the TLS handshake is cut off', async () => {
    const now = systemClock.now();
    const validity = { notBefore: new Date(now - 60_000), notAfter: new Date(now + 60_000) };
    const tls = createAuthority('test', validity).issue('server', ['127.0.0.1']);
    const server = await listen({ headTimeoutMs: 50, tls });
    const socket = await open(server);
    socket.on('error', () => {});
    expect(await heardBy(socket).catch(() => '')).toBe('');
  });

  test('for the body gets 504 when the time of the request is over, and its connection is closed', async () => {
    const clock = new VirtualClock();
    const server = await listen({ clock });
    const answers = [
      ['/slow', 60_000],
      ['/apis/a/b/c?timeout=2s', 2_000],
      ['/slow?timeout=no-time', 60_000],
    ] as const;
    for (const [path, ms] of answers) {
      const socket = await open(server);
      socket.write(`${head(path, 10)}12345`);
      while (server.running === 0) await systemClock.yield();
      await clock.advance(ms - 1);
      expect(server.running).toBe(1);
      await clock.advance(1);
      const heard = await heardBy(socket);
      expect(heard).toMatch(/^HTTP\/1.1 504 Gateway Timeout\r\n/);
      expect(heard).toMatch(/\r\nconnection: close\r\n/i);
      expect(JSON.parse(heard.split('\r\n\r\n')[1] ?? '')).toEqual({
        ...{ metadata: {}, status: 'Failure', reason: 'Timeout', details: {}, code: 504 },
        message: 'Timeout: request did not complete within the allotted timeout',
      });
    }
    expect(seen.filter((one) => one.includes('slow'))).toEqual([]);
  });

  test('a request whose body comes in time is served, and leaves no timer', async () => {
    const clock = new VirtualClock();
    const server = await listen({ clock });
    const socket = await open(server);
    socket.write(`${head('/in-time', 10)}12345`);
    while (server.running === 0) await systemClock.yield();
    await clock.advance(59_999);
    socket.write('67890');
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1.1 200 OK\r\n/);
    await clock.advance(120_000);
    socket.write(`${head('/in-time', 5)}12345`);
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1.1 200 OK\r\n/);
    expect(seen.slice(-2)).toEqual(['/in-time 10', '/in-time 5']);
    socket.destroy();
  });

  test('over HTTP/2 loses its stream alone', async () => {
    const clock = new VirtualClock();
    const now = systemClock.now();
    const validity = { notBefore: new Date(now - 60_000), notAfter: new Date(now + 60_000) };
    const authority = createAuthority('test', validity);
    const server = await listen({ clock, tls: authority.issue('server', ['127.0.0.1']) });
    const session = connectHttp2(server.url, { ca: authority.cert });
    const slow = session.request({ ':method': 'POST', ':path': '/slow' });
    slow.write('12345');
    const status = once(slow, 'response');
    while (server.running === 0) await systemClock.yield();
    await clock.advance(60_000);
    expect((await status)[0][':status']).toBe(504);
    expect(await statusOf(session)).toBe(200);
    session.destroy();
  });
});

async function statusOf(session: ClientHttp2Session): Promise<unknown> {
  const stream = session.request({ ':path': '/other' });
  const [headers] = await once(stream, 'response');
  return headers[':status'];
}
