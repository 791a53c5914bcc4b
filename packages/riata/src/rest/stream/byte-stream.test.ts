import { describe, expect, test } from 'vitest';
import { memoryLogger } from '../../runtime/log/memory-logger.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { RestClient } from '../rest-client.js';
import { type Answer, answeringTransport } from '../transport/answering-transport.fixture.js';

function open(answer: Answer, signal?: AbortSignal) {
  const transport = answeringTransport([answer]);
  const runtime = { log: memoryLogger(), clock: new VirtualClock() };
  return RestClient.for({ server: 'https://host' }, { transport, runtime }).get().absPath('/log').stream({ signal });
}
const text = (chunk: Uint8Array) => Buffer.from(chunk).toString();

describe('stream()', () => {
  test('gives the status and the bytes as they come', async () => {
    const headers = { 'content-type': 'text/plain', warning: '299 - "old"' };
    const stream = await open({ status: 206, headers, body: ['a', 'bc'] });
    expect(stream).toMatchObject({ statusCode: 206, contentType: 'text/plain', headers });
    expect(stream.warnings).toHaveLength(1);
    const chunks: string[] = [];
    for await (const chunk of stream) chunks.push(text(chunk));
    expect(chunks).toEqual(['a', 'bc']);
    expect(await stream.next()).toEqual({ value: undefined, done: true });
  });

  test('rejects when the server refuses', async () => {
    await expect(open({ status: 403, body: 'not you' })).rejects.toThrow('not you (403 Forbidden)');
  });

  test('gives what came before a failure, then the failure', async () => {
    const cut = new Error('cut');
    const stream = await open({ status: 200, body: ['a'], error: cut });
    expect(text((await stream.next()).value)).toBe('a');
    await expect(stream.next()).rejects.toBe(cut);
    expect((await stream.next()).done).toBe(true);
  });

  test('slows the server down without a reader', async () => {
    const stream = await open({ body: Array.from({ length: 10 }, (_, i) => String(i).repeat(40_000)) });
    await new Promise((resolve) => setImmediate(resolve));
    let seen = '';
    for await (const chunk of stream) {
      seen += text(chunk)[0];
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(seen).toBe('0123456789');
  });

  test('is ended by leaving the loop', async () => {
    const controller = new AbortController();
    const stream = await open({ status: 200, body: ['a', 'b'], hangs: true }, controller.signal);
    for await (const chunk of stream) {
      expect(text(chunk)).toBe('a');
      break;
    }
    expect(await stream.next()).toEqual({ value: undefined, done: true });
  });

  test('ends a waiting reader by close and by disposal', async () => {
    let pending: Promise<IteratorResult<Uint8Array>>;
    {
      await using stream = await open({ status: 200, hangs: true });
      pending = stream.next();
      await expect(stream.next()).rejects.toThrow('before the last call had settled');
    }
    expect((await pending).done).toBe(true);
  });

  test('an abort reaches a waiting reader', async () => {
    const controller = new AbortController();
    const stream = await open({ status: 200, hangs: true }, controller.signal);
    const pending = stream.next();
    const reason = new Error('enough');
    controller.abort(reason);
    await expect(pending).rejects.toBe(reason);
  });
});
