import { once } from 'node:events';
import * as net from 'node:net';
import { describe, expect, test } from 'vitest';
import { startFaultServer } from '../../../faults/fault-server.js';
import { startExchange } from '../../../faults/start-exchange.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { isTimeoutError } from '../errors/transport-error.js';
import { defaultTransport } from './default-transport.js';

describe('limits of time run on the clock given', () => {
  test('for the headers, and for silence in a body, which data puts off and a pause suspends', async () => {
    const clock = new VirtualClock();
    let write: (text: string) => void = () => {};
    await using server = await startFaultServer(({ path }, reply) => {
      if (path === '/silent') return reply.hang();
      reply.head(200);
      write = (text) => reply.chunk(text);
      return reply.hang();
    });
    await using transport = defaultTransport({ server: server.url }, { clock, headersTimeoutMs: 5_000 });
    const silent = startExchange(transport, { path: '/silent' });
    while (server.requests.length < 1) await new Promise(setImmediate);
    await clock.advance(4_999);
    expect(silent.calls).toEqual([]);
    await clock.advance(1);
    const late = await silent.failure;
    expect(late).toMatchObject({ kind: 'headers-timeout', requestSent: true });
    expect(isTimeoutError(late)).toBe(true);

    const watch = startExchange(transport, { path: '/watch', idleTimeoutMs: 1_000 });
    const { flow } = await watch.answered;
    await clock.advance(900);
    write('event');
    await watch.received(5);
    await clock.advance(900);
    flow.pause();
    await clock.advance(10_000);
    flow.resume();
    await clock.advance(999);
    expect(watch.calls).toEqual(['onHeaders', 'onData']);
    await clock.advance(1);
    const error = await watch.failure;
    expect(error).toMatchObject({ kind: 'idle-timeout', requestSent: true });
    expect((error as Error).message).toBe(
      `GET ${server.url}/watch: nothing came for 1000 ms in the middle of the response; taken for half-open`,
    );
    await server.idle();
    expect(clock.pending).toBe(0);
  });

  test('for setting up a connection', async () => {
    const clock = new VirtualClock();
    // Plain where TLS is expected, and silent: the handshake never ends.
    const silent = net.createServer(() => {});
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as net.AddressInfo;
    await using transport = defaultTransport({ server: `https://127.0.0.1:${port}` }, { clock });
    const exchange = startExchange(transport);
    const [socket] = (await once(silent, 'connection')) as [net.Socket];
    await clock.advance(30_000);
    const error = await exchange.failure;
    expect(error).toMatchObject({ kind: 'connect-timeout', requestSent: false });
    expect((error as Error).message).toMatch(/no connection to 127\.0\.0\.1:\d+ within 30000 ms$/);
    socket.destroy();
    silent.close();
  });

  test('0 means none', async () => {
    const clock = new VirtualClock();
    await using server = await startFaultServer((_, reply) => {
      reply.head(200);
      return reply.hang();
    });
    await using transport = defaultTransport({ server: server.url }, { clock });
    const watch = startExchange(transport, { idleTimeoutMs: 0, headersTimeoutMs: 0 });
    await watch.answered;
    expect(clock.pending).toBe(0);
    await clock.advance(86_400_000);
    expect(watch.calls).toEqual(['onHeaders']);
  });
});
