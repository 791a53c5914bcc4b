import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { busyClock, item, Script } from '../transport/scripted-exchange.fixture.js';
import { type WatchEvent, type WatchStream, watchStream } from './watch-stream.js';

const event = (n: number) => `{"type":"ADDED","object":${item(n)}}\n`;

describe('watch', () => {
  test('consume passes on events as they come; the end is reported once', async () => {
    const server = new Script();
    const seen: WatchEvent[] = [];
    const ends: unknown[] = [];
    const stream = watchStream(server, { idleTimeoutMs: 5, clock: new VirtualClock() });
    const ended = new Promise<void>((resolve) => {
      stream.consume({
        onEvent: (each) => seen.push(each),
        onEnd: (error) => {
          ends.push(error);
          resolve();
        },
      });
    });
    expect(server.options).toMatchObject({ watch: true, idleTimeoutMs: 5 });
    server.headers().send(event(0) + event(1).slice(0, 20));
    expect(seen).toHaveLength(1);
    server.send(event(1).slice(20));
    expect(seen).toHaveLength(2);
    server.end();
    await ended;
    expect(ends).toEqual([undefined]);
  });

  test.each<[string, (stream: WatchStream) => Promise<unknown>]>([
    ['open', (stream) => stream.open()],
    ['next', (stream) => stream[Symbol.asyncIterator]().next()],
    ['consume', (stream) => new Promise((_, onEnd) => stream.consume({ onEvent() {}, onEnd }))],
  ])('%s: a refusal is told, and nothing stays on the signal', async (_, read) => {
    const server = new Script();
    const { signal } = new AbortController();
    const stream = watchStream(server, { signal });
    const refused = expect(read(stream)).rejects.toThrow('not you');
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    server.sink?.onError(new Error('not you'));
    await refused;
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    await expect(stream.open()).rejects.toThrow('not you');
  });

  test('for await ends with the stream, and with stop()', async () => {
    const server = new Script();
    const stream = watchStream(server);
    const iterator = stream[Symbol.asyncIterator]();
    const first = iterator.next();
    server.headers().send(event(0));
    expect((await first).value).toMatchObject({ type: 'ADDED' });
    const waiting = iterator.next();
    stream.stop();
    expect((await waiting).done).toBe(true);
    expect(server.aborted).toBeInstanceOf(Error);
  });

  test.each([
    ['cut off', '{"type":"ADDED","obj', true],
    ['malformed', 'nonsense\n', false],
  ])('an event that is %s is an ERROR event, and the stream ends', async (_, text, atEnd) => {
    const server = new Script();
    const reading = (async () => {
      const types: string[] = [];
      for await (const each of watchStream(server)) types.push(each.type);
      return types;
    })();
    await Promise.resolve();
    server.headers().send(event(0) + text);
    if (atEnd) server.end();
    expect(await reading).toEqual(['ADDED', 'ERROR']);
    expect(server.aborted !== undefined).toBe(!atEnd);
  });

  test('an error that the server reports is an event, and the stream continues', async () => {
    const server = new Script();
    const types: string[] = [];
    watchStream(server, { clock: new VirtualClock() }).consume({
      onEvent: ({ type }) => types.push(type),
      onEnd: () => types.push('end'),
    });
    server
      .headers()
      .send('{"type":"ERROR","object":{"kind":"Status","status":"Failure","code":500,"reason":"InternalError"}}\n');
    server.send(event(1));
    expect(types).toEqual(['ERROR', 'ADDED']);
    expect(server.aborted).toBeUndefined();
  });

  test('a lost connection and a throwing callback go to onEnd', async () => {
    const lost = new Script();
    const end = new Promise((resolve) => {
      watchStream(lost).consume({ onEvent: () => {}, onEnd: resolve });
    });
    lost.headers().send(event(0));
    lost.sink?.onError(new Error('reset'));
    expect(await end).toMatchObject({ message: 'reset' });

    const server = new Script();
    const failed = new Promise((resolve) => {
      const onEvent = () => {
        throw new Error('mine');
      };
      watchStream(server).consume({ onEvent, onEnd: resolve });
    });
    server.headers().send(event(0));
    expect(await failed).toMatchObject({ message: 'mine' });
    expect(server.aborted).toMatchObject({ message: 'mine' });
  });

  test('a backlog of events is handed out in slices, in order', async () => {
    const server = new Script();
    const clock = busyClock(1);
    const seen: string[] = [];
    const ended = new Promise((resolve) => {
      watchStream(server, { clock }).consume({
        onEvent: (each) => {
          if (each.type === 'ADDED') seen.push(each.object.metadata.name);
        },
        onEnd: resolve,
      });
    });
    server.headers().send(Array.from({ length: 50 }, (_, n) => event(n)).join(''));
    expect(server.paused).toBe(true);
    server.send(event(50));
    server.end();
    await ended;
    expect(seen).toEqual(Array.from({ length: 51 }, (_, n) => `p${n}`));
  });

  test('an event that stays incomplete ends the watch, however often bytes of it come', async () => {
    const server = new Script();
    const clock = new VirtualClock();
    const ended = new Promise<unknown>((onEnd) => watchStream(server, { clock }).consume({ onEvent() {}, onEnd }));
    server.headers().send(event(0));
    await clock.advance(100_000);
    expect(server.aborted).toBeUndefined();
    for (const byte of event(1).slice(0, 29)) {
      server.send(byte);
      await clock.advance(1_000);
    }
    expect(server.aborted).toBeUndefined();
    await clock.advance(1_000);
    const message = 'watch: an event was still incomplete after 30 s, with 29 bytes of it; taken for dead';
    expect(await ended).toMatchObject({ kind: 'idle-timeout', message });
    expect(clock.pending).toBe(0);
  });

  test('a slow reader is not taken for a slow server', async () => {
    const server = new Script();
    const clock = new VirtualClock();
    const stream = watchStream(server, { clock });
    const iterator = stream[Symbol.asyncIterator]();
    const first = iterator.next();
    server.headers().send(event(0) + event(1).slice(0, 20));
    await first;
    const second = iterator.next();
    await clock.settle();
    server.send(event(1).slice(20));
    await clock.advance(100_000);
    expect((await second).value).toMatchObject({ type: 'ADDED' });
    server.send(event(2));
    await clock.advance(100_000);
    expect((await iterator.next()).value).toMatchObject({ type: 'ADDED' });
    stream.stop();
    expect(clock.pending).toBe(0);
  });
});
