import { describe, expect, test } from 'vitest';
import { startExchange } from '../../../faults/start-exchange.js';
import { seededRandom } from '../../runtime/random.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { scriptedFailure, scriptedTransport } from './scripted-transport.js';

describe('a script', () => {
  test('sees the request and answers with JSON, text, bytes, pieces or nothing', async () => {
    const transport = scriptedTransport(({ url }) => {
      switch (url.pathname) {
        case '/json':
          return { status: 201, body: { ü: 1 } };
        case '/text':
          return { headers: { warning: ['a', 'b'] }, body: 'text' };
        case '/bytes':
          return { body: Uint8Array.of(1, 2, 3) };
        case '/pieces':
          return { body: ['one', Uint8Array.of(0x20), 'two'] };
      }
      return { status: 404 };
    });
    const json = startExchange(transport, {
      method: 'PUT',
      path: '/json?dryRun=All',
      headers: { 'Content-Type': 'text/x' },
      body: '{"a":[1]}',
    });
    expect(`${await json.completed}`).toBe('{"ü":1}');
    expect(await json.answered).toMatchObject({ status: 201, headers: { 'content-type': 'application/json' } });
    expect(transport.requests[0]).toMatchObject({ number: 1, method: 'PUT', headers: { 'content-type': 'text/x' } });
    expect(transport.requests[0]?.url.searchParams.get('dryRun')).toBe('All');
    expect(transport.requests[0]?.json()).toEqual({ a: [1] });
    const text = startExchange(transport, { path: '/text' });
    expect(`${await text.completed}`).toBe('text');
    expect((await text.answered).headers).toEqual({ warning: ['a', 'b'] });
    expect(await startExchange(transport, { path: '/bytes' }).completed).toEqual(Buffer.of(1, 2, 3));
    const pieces = startExchange(transport, { path: '/pieces' });
    expect(`${await pieces.completed}`).toBe('one two');
    expect(pieces.chunks).toHaveLength(3);
    const nothing = startExchange(transport);
    expect(await nothing.completed).toHaveLength(0);
    expect(nothing.calls).toEqual(['onHeaders', 'onEnd']);
    expect(transport.running).toBe(0);
  });

  test('that throws fails the exchange: before the headers, or in the body', async () => {
    const transport = scriptedTransport(({ path }) => {
      if (path === '/before') throw scriptedFailure('connect-refused', { requestSent: false });
      return {
        body: (async function* () {
          yield 'part';
          throw scriptedFailure('reset');
        })(),
      };
    });
    const before = startExchange(transport, { path: '/before' });
    expect(before.calls).toEqual([]);
    expect(await before.failure).toMatchObject({ kind: 'connect-refused', requestSent: false });
    const within = startExchange(transport);
    expect(await within.failure).toMatchObject({ kind: 'reset', requestSent: true });
    expect(within.calls).toEqual(['onHeaders', 'onData', 'onError']);
  });

  test('shares no memory with the sink', async () => {
    const body = Buffer.from('abc');
    const sent = Buffer.from('xyz');
    const transport = scriptedTransport(() => ({ body }));
    const exchange = startExchange(transport, { body: sent }, (chunk) => chunk.fill(0));
    sent.fill(0);
    await exchange.completed;
    expect(`${body}`).toBe('abc');
    expect(transport.requests[0]?.text()).toBe('xyz');
  });
});

describe('chunks', () => {
  const text = 'ünï'.repeat(200);

  test('are cut at random, and the same again with the same seed', async () => {
    const lengths = async (seed: number) => {
      const transport = scriptedTransport(() => ({ body: text }), { chunks: 'random', random: seededRandom(seed) });
      const exchange = startExchange(transport);
      expect(`${await exchange.completed}`).toBe(text);
      return exchange.chunks.map(({ length }) => length);
    };
    const first = await lengths(1);
    expect(first.length).toBeGreaterThan(1);
    expect(await lengths(1)).toEqual(first);
    expect(await lengths(2)).not.toEqual(first);
    expect(() => scriptedTransport(() => ({}), { chunks: 'random' })).toThrow(/requires \{ random \}/);
  });

  test('are cut every so many bytes', async () => {
    const exchange = startExchange(scriptedTransport(() => ({ body: 'abcdefg' }), { chunks: 3 }));
    await exchange.completed;
    expect(exchange.chunks.map(String)).toEqual(['abc', 'def', 'g']);
  });
});

describe('the flow', () => {
  const endless = async function* () {
    for (;;) yield 'event\n';
  } satisfies () => AsyncIterable<string>;

  test('pauses, resumes and aborts, and the script hears of the end', async () => {
    const transport = scriptedTransport(() => ({ body: endless() }));
    const exchange = startExchange(transport, {}, (_, flow) => flow.pause());
    const { flow } = await exchange.answered;
    await exchange.received(1);
    await new Promise(setImmediate);
    expect(exchange.chunks).toHaveLength(1);
    flow.resume();
    await exchange.received(7);
    await new Promise(setImmediate);
    expect(exchange.chunks).toHaveLength(2);
    flow.abort('enough');
    expect(await exchange.failure).toBe('enough');
    expect(transport.requests[0]?.signal.aborted).toBe(true);
    expect(transport.running).toBe(0);
  });

  test('ends by the signal, before and within', async () => {
    const transport = scriptedTransport(() => ({ body: endless() }));
    const early = startExchange(transport, { signal: AbortSignal.abort('early') });
    expect(early.calls).toEqual([]);
    expect(await early.failure).toBe('early');
    const controller = new AbortController();
    const late = startExchange(transport, { signal: controller.signal }, (_, flow) => flow.pause());
    await late.received(1);
    controller.abort('late');
    expect(await late.failure).toBe('late');
  });

  test('keeps the limits of time', async () => {
    const clock = new VirtualClock();
    const forever = new Promise<never>(() => {});
    const transport = scriptedTransport(
      ({ path }) => {
        if (path === '/silent') return forever;
        return {
          body: (async function* () {
            yield 'event\n';
            await forever;
          })(),
        };
      },
      { clock },
    );
    const silent = startExchange(transport, { path: '/silent', headersTimeoutMs: 1_000 });
    const watch = startExchange(transport, { idleTimeoutMs: 2_000 });
    await clock.advance(1_000);
    expect(await silent.failure).toMatchObject({ kind: 'headers-timeout' });
    await clock.advance(999);
    expect(watch.calls).toEqual(['onHeaders', 'onData']);
    await clock.advance(1);
    expect(await watch.failure).toMatchObject({ kind: 'idle-timeout' });
  });

  test('closes', async () => {
    const transport = scriptedTransport(() => ({ body: endless() }));
    const exchange = startExchange(transport, {}, (_, flow) => flow.pause());
    await exchange.received(1);
    await transport.close();
    expect(await exchange.failure).toMatchObject({ kind: 'closed' });
    expect(await startExchange(transport).failure).toMatchObject({ kind: 'closed', requestSent: false });
  });
});
