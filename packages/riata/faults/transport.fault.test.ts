import { gzipSync } from 'node:zlib';
import { defaultTransport, isConnectionReset, isProbableEof, isTransportError } from 'riata/rest';
import { VirtualClock } from 'riata/runtime';
import { describe, expect, test } from 'vitest';
import { type FaultScript, startFaultServer } from './fault-server.js';
import { startExchange } from './start-exchange.js';

async function failureOf(script: FaultScript, request = {}) {
  await using server = await startFaultServer(script);
  await using transport = defaultTransport({ server: server.url });
  const exchange = startExchange(transport, request);
  const error = await exchange.failure;
  if (!isTransportError(error)) throw error;
  return { error, exchange };
}

describe('a connection that is cut', () => {
  test('by a reset in the middle of the body: what came was delivered, then the failure', async () => {
    // A reset overtakes what the client has not read yet, so it waits until all has come.
    const arrived = deferred();
    await using server = await startFaultServer(async (_, reply) => {
      reply.head(200);
      reply.chunk('half of it');
      await arrived.promise;
      reply.reset();
    });
    await using transport = defaultTransport({ server: server.url });
    const exchange = startExchange(transport);
    await exchange.received(10);
    arrived.resolve();
    const error = await exchange.failure;
    expect(isConnectionReset(error)).toBe(true);
    expect(error).toMatchObject({
      requestSent: true,
      code: 'ECONNRESET',
      message: `GET ${server.url}/: the connection was cut in the middle of the response (ECONNRESET)`,
    });
    expect(exchange.calls).toEqual(['onHeaders', 'onData', 'onError']);
  });

  test('by a reset before the headers', async () => {
    const { error, exchange } = await failureOf((_, reply) => reply.reset());
    expect(isConnectionReset(error)).toBe(true);
    expect(error.requestSent).toBe(true);
    expect(error.message).toMatch(/before a response came/);
    expect(exchange.calls).toEqual(['onError']);
  });

  test('in an orderly way before the headers, in a chunked body and in one with a length', async () => {
    const scripts: FaultScript[] = [
      (_, reply) => reply.close(),
      (_, reply) => {
        reply.head(200);
        reply.chunk('{"items":[{"kind"');
        reply.close();
      },
      (_, reply) => {
        reply.head(200, { 'content-length': '100' });
        reply.chunk('{"items":[{"kind"');
        reply.close();
      },
      (_, reply) => {
        reply.raw('HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n9\r\nwo');
        reply.close();
      },
      (_, reply) => {
        reply.head(200, { 'content-length': '100', connection: 'close' });
        reply.chunk('{"items":[{"kind"');
        reply.close();
      },
    ];
    for (const script of scripts) {
      const { error, exchange } = await failureOf(script);
      expect([error.kind, isProbableEof(error), error.requestSent]).toEqual(['eof', true, true]);
      expect(exchange.calls.at(-1)).toBe('onError');
    }
  });

  test('while idle is not used again', async () => {
    await using server = await startFaultServer((request, reply) => {
      reply.send(200, `${request.connection}`);
      if (request.number === 1) reply.close();
    });
    await using transport = defaultTransport({ server: server.url });
    expect(`${await startExchange(transport).completed}`).toBe('1');
    await server.idle();
    expect(`${await startExchange(transport, { method: 'POST', body: '{}' }).completed}`).toBe('2');
  });

  test('half-open: silence is noticed by the limit, and by nothing before it', async () => {
    const clock = new VirtualClock();
    await using server = await startFaultServer((_, reply) => {
      reply.head(200);
      reply.chunk('{"type":"ADDED"}\n');
      return reply.hang();
    });
    await using transport = defaultTransport({ server: server.url }, { clock });
    const watch = startExchange(transport, { idleTimeoutMs: 60_000 });
    await watch.received(17);
    await clock.advance(59_999);
    expect(watch.calls).toEqual(['onHeaders', 'onData']);
    await clock.advance(1);
    expect(await watch.failure).toMatchObject({ kind: 'idle-timeout', requestSent: true });
    await server.idle();
  });
});

describe('a malformed answer', () => {
  test.each([
    ['garbage', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['a TLS alert', Buffer.from('15030100020250', 'hex')],
    ['a broken chunk length', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'],
    ['a header without end', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(2_000_000)}`],
    [
      'an upgrade that nobody asked for',
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
    ],
  ])('%s is a protocol error', async (_, bytes) => {
    const { error } = await failureOf((_request, reply) => {
      reply.raw(bytes);
      return reply.hang();
    });
    expect([error.kind, error.requestSent]).toEqual(['protocol', true]);
  });

  test('bytes behind the answer do not become the next answer', async () => {
    await using server = await startFaultServer((request, reply) => {
      reply.send(200, `${request.number}`);
      if (request.number === 1) reply.raw('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil');
    });
    await using transport = defaultTransport({ server: server.url });
    expect(`${await startExchange(transport).completed}`).toBe('1');
    await server.idle();
    expect(`${await startExchange(transport).completed}`).toBe('2');
  });
});

describe('bytes arrive intact', () => {
  const text = '{"type":"ADDED","object":{"metadata":{"name":"ünï-😀"}}}\n';
  const bytes = Buffer.from(text);

  test('cut into chunks at every position', async () => {
    await using server = await startFaultServer((request, reply) => {
      reply.head(200);
      reply.cut(bytes, [Number(request.path.slice(1))]);
      reply.end();
    });
    await using transport = defaultTransport({ server: server.url });
    for (let at = 1; at < bytes.length; at++) {
      expect(`${await startExchange(transport, { path: `/${at}` }).completed}`).toBe(text);
    }
    expect(server.connections).toBe(1);
  });

  test('with every single byte of the answer, headers too, in a packet of its own', async () => {
    await using server = await startFaultServer(async (_, reply) => {
      const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-type: text/plain\r\n\r\n';
      const body = `5\r\nhello\r\n6\r\n wörl\r\n0\r\n\r\n`;
      for (const byte of Buffer.from(head + body)) {
        reply.raw(Uint8Array.of(byte));
        await reply.flushed();
      }
      reply.close();
    });
    await using transport = defaultTransport({ server: server.url });
    expect(`${await startExchange(transport).completed}`).toBe('hello wörl');
  });

  test('gzipped and cut at every position; an event comes out when its bytes are there', async () => {
    const zipped = gzipSync(text);
    await using server = await startFaultServer((request, reply) => {
      reply.head(200, { 'content-encoding': 'gzip' });
      reply.cut(zipped, [Number(request.path.slice(1))]);
      if (request.path !== '/5') return reply.end();
      return reply.hang();
    });
    await using transport = defaultTransport({ server: server.url });
    for (let at = 1; at < zipped.length; at++) {
      const exchange = startExchange(transport, { path: `/${at}` });
      if (at === 5) await exchange.received(bytes.length);
      else expect(`${await exchange.completed}`).toBe(text);
    }
  });

  test('a gzipped body that is truncated or broken is an error after what could be read', async () => {
    const zipped = gzipSync(Buffer.from(Array.from({ length: 50_000 }, (_, i) => (i * 7919) % 251)));
    for (const broken of [zipped.subarray(0, -5), Buffer.concat([zipped.subarray(0, 200), Buffer.alloc(300, 0xff)])]) {
      const { error, exchange } = await failureOf((_, reply) =>
        reply.send(200, broken, { 'content-encoding': 'gzip' }),
      );
      expect(error.kind).toBe('decompress');
      expect(error.message).toMatch(/the gzipped response is broken/);
      expect(exchange.calls.at(-1)).toBe('onError');
    }
    const { error } = await failureOf((_, reply) => reply.send(200, 'not zipped', { 'content-encoding': 'gzip' }));
    expect(error.kind).toBe('decompress');
  });

  test('a gzipped body with zeros behind its end is over when the answer is, not before', async () => {
    let goOn: (more: string) => void = () => {};
    await using server = await startFaultServer(async ({ number }, reply) => {
      if (number === 3) return reply.send(200, 'another');
      reply.head(200, { 'content-encoding': 'gzip' });
      reply.chunk(Buffer.concat([gzipSync('hello'), Buffer.alloc(8)]));
      reply.chunk(
        await new Promise<string>((resolve) => {
          goOn = resolve;
        }),
      );
      reply.end();
    });
    await using transport = defaultTransport({ server: server.url });
    // What is behind the answer could otherwise be taken for the next one.
    for (const more of ['\0\0', 'HTTP/1.1 200 OK\r\n\r\n']) {
      const exchange = startExchange(transport);
      await exchange.received(5);
      await turns(20);
      expect(exchange.calls).toEqual(['onHeaders', 'onData']);
      goOn(more);
      if (more === '\0\0') expect(`${await exchange.completed}`).toBe('hello');
      else expect(await exchange.failure).toMatchObject({ kind: 'decompress' });
    }
    expect(`${await startExchange(transport).completed}`).toBe('another');
    expect(server.connections).toBe(2);
  });
});

describe('a body of 20 MB', () => {
  const size = 20 * 1024 * 1024;
  const piece = Buffer.alloc(64 * 1024, 'abcdefgh');

  test.each(['plain', 'gzip'])('is read at the reader pace: the sender stops while it pauses (%s)', async (how) => {
    const zipped = how === 'gzip' ? gzipSync(Buffer.alloc(size, randomish()), { level: 1 }) : piece;
    let unsent = 0;
    await using server = await startFaultServer(async (_, reply) => {
      if (how === 'gzip') {
        reply.head(200, { 'content-encoding': 'gzip' });
        for (let at = 0; at < zipped.length; at += piece.length) reply.chunk(zipped.subarray(at, at + piece.length));
      } else {
        reply.head(200);
        for (let sent = 0; sent < size; sent += piece.length) reply.chunk(piece);
      }
      reply.end();
      unsent = reply.socket.writableLength;
      reply.socket.on('drain', () => {
        unsent = 0;
      });
    });
    await using transport = defaultTransport({ server: server.url });
    let received = 0;
    const exchange = startExchange(transport, {}, (chunk, flow) => {
      const before = received;
      received += chunk.length;
      if (before === 0) flow.pause();
    });
    const { flow } = await exchange.answered;
    await exchange.received(1);
    await turns(200);
    // Whatever fits into socket buffers has left; the rest waits at the sender, and next to nothing was delivered.
    expect(received).toBeLessThan(size / 10);
    if (how === 'plain') expect(unsent).toBeGreaterThan(size / 4);
    flow.resume();
    expect(await exchange.completed).toHaveLength(size);
  });
});

test('200 watches at once, each with its connection, all ended by close', async () => {
  await using server = await startFaultServer((request, reply) => {
    reply.head(200);
    reply.chunk(request.path);
    return reply.hang();
  });
  const transport = defaultTransport({ server: server.url });
  const watches = Array.from({ length: 200 }, (_, i) => startExchange(transport, { path: `/${1000 + i}` }));
  await Promise.all(watches.map(({ received }) => received(5)));
  expect(watches.map(({ chunks }) => `${chunks[0]}`)).toEqual(watches.map((_, i) => `/${1000 + i}`));
  expect(server.open).toBe(200);
  await transport.close();
  await server.idle();
  for (const { failure } of watches) expect(await failure).toMatchObject({ kind: 'closed' });
});

/** Data that hardly compresses, the same on every run. */
function randomish(): Buffer {
  const bytes = Buffer.alloc(65_521);
  let state = 1;
  for (let at = 0; at < bytes.length; at++) {
    state = (state * 48_271) % 2_147_483_647;
    bytes[at] = state & 0xff;
  }
  return bytes;
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
}

function deferred() {
  let resolve: () => void = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
