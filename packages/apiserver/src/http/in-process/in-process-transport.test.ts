import { Buffer } from 'node:buffer';
import { createClient } from 'riata';
import { ConfigMap } from 'riata/kinds';
import { isTransportError, type Transport } from 'riata/rest';
import { seededRandom, VirtualClock } from 'riata/runtime';
import { describe, expect, expectTypeOf, test } from 'vitest';
import type { ServerRequest } from '../server-request.js';
import { type Handle, InProcessTransport } from './in-process-transport.js';
import type { TransportFlow, TransportRequest, TransportSink } from './transport.js';

/** Keeps what comes, in order. */
class Recorder implements TransportSink {
  readonly events: string[] = [];
  error: unknown;
  flow: TransportFlow | undefined;
  onChunk: (() => void) | undefined;

  onHeaders(status: number, headers: object, flow: TransportFlow): void {
    this.events.push(`head ${status} ${JSON.stringify(headers)}`);
    this.flow = flow;
  }
  onData(chunk: Uint8Array): void {
    this.events.push(Buffer.from(chunk).toString());
    this.onChunk?.();
  }
  onEnd(): void {
    this.events.push('end');
  }
  onError(error: unknown): void {
    this.events.push('error');
    this.error = error;
  }
}

function exchange(handle: Handle, request: Partial<TransportRequest> = {}, cuts?: Parameters<typeof seededRandom>[0]) {
  const clock = new VirtualClock();
  const random = cuts === undefined ? undefined : seededRandom(cuts);
  const transport = new InProcessTransport(handle, { clock, cuts: random });
  const sink = new Recorder();
  transport.dispatch({ method: 'GET', path: '/x?secret=1', headers: {}, ...request }, sink);
  return { clock, transport, sink };
}

const answer =
  (...parts: readonly string[]): Handle =>
  async (_request, reply) => {
    reply.head(200, { 'content-type': 'text/plain' });
    for (const part of parts) reply.write(Buffer.from(part));
    reply.end();
  };

test('it is a transport for clients', () => {
  expectTypeOf<InProcessTransport>().toExtend<Transport>();
});

describe('an exchange', () => {
  test('brings head, pieces and end, nothing before dispatch returns', async () => {
    const { clock, sink, transport } = exchange(answer('a', 'b'));
    expect(sink.events).toEqual([]);
    expect(transport.running).toBe(1);
    await clock.settle();
    expect(sink.events).toEqual(['head 200 {"content-type":"text/plain"}', 'a', 'b', 'end']);
    expect(transport.running).toBe(0);
    expect(clock.pending).toBe(0);
  });

  test('shares no bytes', async () => {
    const sent = Buffer.from('request');
    const written = Buffer.from('answer');
    let seen: ServerRequest | undefined;
    const handle: Handle = async (request, reply) => {
      seen = request;
      reply.head(200, {});
      reply.write(written);
      reply.end();
    };
    const { clock, sink } = exchange(handle, { body: sent, headers: { 'X-A': ['1', '2'], Accept: 'y' } });
    sent.fill(0);
    await clock.settle();
    expect(Buffer.from(seen?.body ?? []).toString()).toBe('request');
    expect(seen?.headers).toEqual({ 'x-a': '1, 2', accept: 'y' });
    written.fill(0);
    expect(sink.events).toContain('answer');
  });

  test('is cut into pieces as a seed says, and loses nothing', async () => {
    const text = 'the quick brown fox jumps over the lazy dog '.repeat(20);
    const run = async (seed: number) => {
      const { clock, sink } = exchange(answer(text, text), {}, seed);
      await clock.settle();
      return sink.events.slice(1, -1);
    };
    const pieces = await run(1);
    expect(pieces.length).toBeGreaterThan(4);
    expect(pieces.join('')).toBe(text + text);
    expect(await run(1)).toEqual(pieces);
    expect(await run(2)).not.toEqual(pieces);
  });

  test('waits while it is paused, and makes the server wait', async () => {
    let buffered = 0;
    let drained = false;
    const handle: Handle = async (_request, reply) => {
      reply.head(200, {});
      expect(reply.write(Buffer.from('first'))).toBe(true);
      await reply.drained();
      expect(reply.write(Buffer.alloc(300_000))).toBe(false);
      buffered = reply.bufferedBytes;
      await reply.drained();
      drained = true;
      reply.end();
    };
    const { clock, sink } = exchange(handle);
    sink.onChunk = () => sink.flow?.pause();
    await clock.settle();
    expect([sink.events.length, drained, buffered]).toEqual([2, false, 300_005]);
    sink.onChunk = undefined;
    sink.flow?.resume();
    await clock.settle();
    expect([sink.events.length, drained, sink.events.at(-1)]).toEqual([4, true, 'end']);
  });

  test.each(['signal', 'flow'])('is ended by the client (%s), and the server notices', async (by) => {
    const controller = new AbortController();
    const reason = new Error('enough');
    let gone: unknown;
    const handle: Handle = async ({ signal }, reply) => {
      signal.addEventListener('abort', () => {
        gone = signal.reason;
      });
      reply.head(200, {});
    };
    const { clock, sink, transport } = exchange(handle, { signal: controller.signal });
    await clock.settle();
    if (by === 'signal') controller.abort(reason);
    else sink.flow?.abort(reason);
    await clock.settle();
    expect([sink.events.at(-1), sink.error, gone, transport.running]).toEqual(['error', reason, reason, 0]);
  });

  test('with a signal that has aborted never reaches the server', async () => {
    let reached = false;
    const handle: Handle = async () => {
      reached = true;
    };
    const { clock, sink } = exchange(handle, { signal: AbortSignal.abort('no') });
    await clock.settle();
    expect([reached, sink.events, sink.error]).toEqual([false, ['error'], 'no']);
  });

  test('that the server breaks off fails, after what was written', async () => {
    const { clock, sink } = exchange(async (_request, reply) => {
      reply.head(200, {});
      reply.write(Buffer.from('half'));
      reply.abort();
    });
    await clock.settle();
    expect(sink.events.slice(1)).toEqual(['half', 'error']);
    expect(isTransportError(sink.error) && sink.error.kind).toBe('reset');
    expect(String(sink.error)).not.toContain('secret');
  });

  test('has limits of time, on the clock it is given', async () => {
    const silent = exchange(async () => {}, { headersTimeoutMs: 1_000 });
    const head: Handle = async (_request, reply) => reply.head(200, {});
    const idle = exchange(head, { headersTimeoutMs: 1_000, idleTimeoutMs: 5_000 });
    await silent.clock.advance(999);
    expect(silent.sink.events).toEqual([]);
    await silent.clock.advance(1);
    expect(silent.sink.error).toMatchObject({ kind: 'headers-timeout', requestSent: true });
    await idle.clock.advance(4_999);
    expect(idle.sink.events).toHaveLength(1);
    await idle.clock.advance(1);
    expect(idle.sink.error).toMatchObject({ kind: 'idle-timeout' });
  });
});

test('closing ends what runs, and refuses what comes', async () => {
  const { clock, sink, transport } = exchange(async (_request, reply) => reply.head(200, {}));
  await clock.settle();
  await transport.close();
  expect(sink.error).toMatchObject({ kind: 'closed', requestSent: true });
  const late = new Recorder();
  transport.dispatch({ method: 'GET', path: '/', headers: {} }, late);
  await clock.settle();
  expect(late.error).toMatchObject({ kind: 'closed', requestSent: false });
});

test('a client reads through it in small pieces', async () => {
  const clock = new VirtualClock();
  const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'ü', namespace: 'a', uid: 'u' } };
  const handle: Handle = async ({ path, headers }, reply) => {
    expect([path, headers.authorization]).toEqual(['/api/v1/namespaces/a/configmaps/x', 'Bearer t']);
    reply.head(200, { 'content-type': 'application/json' });
    reply.write(Buffer.from(JSON.stringify(object)));
    reply.end();
  };
  const transport = new InProcessTransport(handle, { clock, cuts: seededRandom(3) });
  const credentials = { authorization: async () => 'Bearer t', tls: async () => ({}), refresh: async () => false };
  const client = createClient({ server: 'http://riata.in-process', transport, credentials }, { runtime: { clock } });
  const reading = client.get(ConfigMap, { namespace: 'a', name: 'x' });
  await clock.settle();
  expect(await reading).toEqual(object);
});
