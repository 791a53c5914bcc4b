import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { startFaultServer } from '../../../faults/fault-server.js';
import { createClient } from '../../client/create-client.js';
import { ConfigMap } from '../../kinds/index.js';
import { silentLogger } from '../../runtime/log/logger.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { RestClient, type RestClientOptions } from '../rest-client.js';
import type { WatchEvent } from '../stream/watch-event.js';
import { watchStream } from '../stream/watch-stream.js';
import { answeringTransport } from '../transport/answering-transport.fixture.js';
import { item, Script } from '../transport/scripted-exchange.fixture.js';

const runtime = { clock: new VirtualClock(), log: silentLogger };
/** Both ways that a request takes: straight to the transport, and through the chain because of a deadline. */
const ways: readonly [string, RestClientOptions][] = [
  ['at once', {}],
  ['with a deadline', { timeout: '1h' }],
];

describe.each(ways)('answers that are read as a whole, sent %s', (_, way) => {
  test('a small gzipped body that grows past the limit ends the request', async () => {
    const bomb = gzipSync(Buffer.alloc(32 << 20, 'a'));
    expect(bomb.length).toBeLessThan(64 << 10);
    await using server = await startFaultServer((_request, reply) =>
      reply.send(200, bomb, { 'content-type': 'application/json', 'content-encoding': 'gzip' }),
    );
    await using rest = RestClient.for({ server: server.url }, { ...way, maxObjectBytes: 1 << 20 });
    const failure = await rest
      .get()
      .absPath('/api/v1/big')
      .do()
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'TransportError', kind: 'too-large', requestSent: true });
    expect((failure as Error).message).toBe(
      'GET /api/v1/big: the response has more than 1048576 bytes, decompressed; raise ' +
        'maxObjectBytes of the client, or read it in pieces: a list by its items, anything else by stream()',
    );
    await server.idle();
  });

  test('as many bytes as allowed are taken, in one chunk or many; one more is too much', async () => {
    const body = '{"a":"bcdefg"}';
    for (const chunks of [[body], [...body]]) {
      const transport = answeringTransport([{ headers: { 'content-type': 'application/json' }, body: chunks }]);
      const get = (maxObjectBytes: number) =>
        RestClient.for({ server: 'http://a' }, { ...way, transport, maxObjectBytes, runtime })
          .get()
          .absPath('/x')
          .do();
      expect((await get(body.length)).json()).toEqual({ a: 'bcdefg' });
      await expect(get(body.length - 1)).rejects.toMatchObject({ kind: 'too-large' });
    }
  });
});

test('the limit is 64 MiB unless given, and must be one', () => {
  expect(RestClient.for({ server: 'http://a' }).maxObjectBytes).toBe(64 << 20);
  expect(() => RestClient.for({ server: 'http://a' }, { maxObjectBytes: 0 })).toThrow(
    'maxObjectBytes must be an integer ≥ 1, got 0',
  );
});

describe('the limit of a client', () => {
  const answered = (body: string) => {
    const transport = answeringTransport([{ headers: { 'content-type': 'application/json' }, body }]);
    return createClient({ server: 'http://a' }, { transport, runtime, maxObjectBytes: 1_000 });
  };
  const long = 'x'.repeat(2_000);

  test('is one for each item of a list, not for all of them', async () => {
    const items = Array.from({ length: 10 }, (_, i) => ({
      metadata: { name: `${i}`, labels: { a: 'y'.repeat(800) } },
    }));
    const list = (all: readonly object[]) => JSON.stringify({ kind: 'ConfigMapList', apiVersion: 'v1', items: all });
    expect((await answered(list(items)).list(ConfigMap)).items).toHaveLength(10);
    const tooLong = list([...items, { metadata: { name: 'long' }, data: { long } }]);
    await expect(answered(tooLong).list(ConfigMap)).rejects.toThrow(
      'an item of more than 1000 bytes; raise maxObjectBytes of the client (10 items came before)',
    );
  });

  test('holds for what stands around the items, too', async () => {
    const list = JSON.stringify({ kind: 'ConfigMapList', apiVersion: 'v1', metadata: { continue: long }, items: [] });
    await expect(answered(list).list(ConfigMap)).rejects.toThrow('metadata of more than 1000 bytes');
  });

  test('and for the events of a watch', async () => {
    const event = {
      type: 'ADDED',
      object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { long } },
    };
    const events: WatchEvent<ConfigMap>[] = [];
    for await (const each of await answered(JSON.stringify(event)).watch(ConfigMap)) events.push(each);
    expect(events).toMatchObject([{ type: 'ERROR' }]);
    expect(JSON.stringify(events)).toContain('an event has more than 1000 bytes; raise maxObjectBytes of the client');
  });
});

describe('an event of a watch that stays incomplete', () => {
  const event = (n: number) => `{"type":"ADDED","object":${item(n)}}\n`;

  function reading() {
    const clock = new VirtualClock();
    const server = new Script();
    const seen: WatchEvent[] = [];
    const ended: { error?: unknown }[] = [];
    const stream = watchStream(server, { clock });
    stream.consume({ onEvent: (each) => seen.push(each), onEnd: (error) => ended.push({ error }) });
    server.headers();
    return { clock, server, seen, ended, stream };
  }

  test('ends the watch 30 s after its first byte, though more of it trickles in', async () => {
    const { clock, server, seen, ended } = reading();
    const [first, second] = [event(0), event(1)];
    server.send(first + second.slice(0, 10));
    for (let i = 10; i < 39; i += 1) {
      await clock.advance(1_000);
      server.send(second.slice(i, i + 1));
    }
    expect(ended).toEqual([]);
    await clock.advance(1_000);
    expect(seen).toHaveLength(1);
    expect(ended).toMatchObject([{ error: { kind: 'idle-timeout', requestSent: true } }]);
    expect(String((ended[0] as { error: Error }).error.message)).toBe(
      'watch: an event was still incomplete after 30 s, with 39 bytes of it; taken for dead',
    );
    expect(server.aborted).toBeInstanceOf(Error);
    expect(clock.pending).toBe(0);
  });

  test('one that is completed in time, and silence between events, are nothing', async () => {
    const { clock, server, seen, ended, stream } = reading();
    for (let n = 0; n < 5; n += 1) {
      server.send(event(n).slice(0, 20));
      await clock.advance(29_000);
      server.send(event(n).slice(20));
      await clock.advance(n === 3 ? 3_600_000 : 0);
    }
    await clock.advance(3_600_000);
    expect(seen).toHaveLength(5);
    expect(ended).toEqual([]);
    stream.stop();
    expect(clock.pending).toBe(0);
  });

  test('a reader that takes its time is not taken for a server that does', async () => {
    const clock = new VirtualClock();
    const server = new Script();
    const iterator = watchStream(server, { clock })[Symbol.asyncIterator]();
    const first = iterator.next();
    server.headers().send(event(0) + event(1).slice(0, 20));
    expect((await first).value).toMatchObject({ type: 'ADDED' });
    const second = iterator.next();
    server.send(event(1).slice(20) + event(2).slice(0, 20));
    await second;
    server.send(event(2).slice(20));
    await clock.advance(3_600_000);
    expect((await iterator.next()).value).toMatchObject({ type: 'ADDED' });
    await iterator.return(undefined);
    expect(clock.pending).toBe(0);
  });
});
