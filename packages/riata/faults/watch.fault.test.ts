import type { ConnectedClient } from 'riata/client';
import { ConfigMap } from 'riata/kinds';
import type { WatchEvent } from 'riata/rest';
import {
  isConnectionReset,
  isDecodeError,
  isForbidden,
  isGone,
  isInternalError,
  isProbableEof,
  isTimeoutError,
} from 'riata/rest';
import { describe, expect, test } from 'vitest';
import { deferred, failureOf, readAll, startFaultClient, turns, withoutSecrets } from './fault-client.js';
import type { FaultScript } from './fault-server.js';
import { added, configMap, errorLine, eventLine, failure, json, queryOf, short } from './sample-objects.js';
import { SleepClock } from './sleep-clock.js';

const two = added('a', 1) + eventLine('MODIFIED', configMap('b', 2, { text: 'ünï "quoted" {[\\]} 😀' }));
const bytes = Buffer.from(two);
const firstEnd = Buffer.byteLength(added('a', 1)) - 1;
const secondEnd = bytes.length - 1;
const eventsBefore = (cut: number) => [firstEnd, secondEnd].filter((end) => end <= cut).length;
const cutOf = (request: Parameters<FaultScript>[0]) =>
  Number(queryOf(request).get('labelSelector')?.slice('cut='.length));

async function watchAll(client: ConnectedClient, labelSelector?: string) {
  return readAll(await client.watch(ConfigMap, { resourceVersion: '1', labelSelector }));
}

/** What a watch of such an answer gives, in few words. */
async function eventsOf(script: FaultScript) {
  await using t = await startFaultClient(script);
  const { all, error } = await watchAll(t.client);
  for (const event of all) if (event.type === 'ERROR') withoutSecrets(event.error);
  return { all, shorts: all.map(short), error, last: errorIn(all.at(-1)) };
}

function errorIn(event: WatchEvent<ConfigMap> | undefined) {
  return event?.type === 'ERROR' ? event.error : undefined;
}

const streamed =
  (...pieces: readonly (string | Uint8Array)[]): FaultScript =>
  (_, reply) => {
    reply.head(200, json);
    for (const piece of pieces) reply.chunk(piece);
    reply.end();
  };

describe('a connection that is cut within a watch', () => {
  test.each(['between two events', 'within an event'])(
    'by a reset, %s: the events before it, then the error',
    async (where) => {
      const arrived = deferred();
      await using t = await startFaultClient(async (_, reply) => {
        reply.head(200, json);
        reply.chunk(two);
        if (where === 'within an event') reply.chunk(added('c', 3).slice(0, 40));
        await arrived.promise;
        await reply.read();
        reply.reset();
      });
      const shorts: string[] = [];
      const watch = await t.client.watch(ConfigMap);
      const error = await failureOf(
        (async () => {
          for await (const event of watch) if (shorts.push(short(event)) === 2) arrived.resolve();
        })(),
      );
      expect(shorts).toEqual(['ADDED a 1', 'MODIFIED b 2']);
      expect(isConnectionReset(error)).toBe(true);
      expect(error.message).toMatch(/the connection was cut in the middle of the response/);
      expect(t.server.requests).toHaveLength(1);
    },
  );

  test('in an orderly way, wherever it is: a lost connection, never a good end', async () => {
    await using t = await startFaultClient((request, reply) => {
      reply.head(200, json);
      reply.chunk(bytes.subarray(0, cutOf(request)));
      reply.close();
    });
    for (const cut of [
      0,
      1,
      20,
      firstEnd - 1,
      firstEnd,
      firstEnd + 1,
      firstEnd + 60,
      secondEnd - 1,
      secondEnd,
      secondEnd + 1,
    ]) {
      const { all, error } = await watchAll(t.client, `cut=${cut}`);
      expect([cut, all.length, isProbableEof(error)]).toEqual([cut, eventsBefore(cut), true]);
    }
  });

  test('half-open: silence for longer than idleTimeoutMs is an error that says so, not a good end', async () => {
    const clock = new SleepClock();
    await using t = await startFaultClient(
      (_, reply) => {
        reply.head(200, json);
        reply.chunk(two);
        return reply.hang();
      },
      { clock },
    );
    const shorts: string[] = [];
    const watch = await t.client.watch(ConfigMap, { idleTimeoutMs: 45_000 });
    const reading = failureOf(
      (async () => {
        for await (const event of watch) shorts.push(short(event));
      })(),
    );
    while (shorts.length < 2) await turns(1);
    await clock.advance(44_999);
    expect(t.server.open).toBe(1);
    await clock.advance(1);
    const error = await reading;
    expect(isTimeoutError(error)).toBe(true);
    expect(error.message).toMatch(
      /configmaps: nothing came for 45000 ms in the middle of the response; taken for half/,
    );
    await t.server.idle();
  });
});

describe('what ends a watch inside the stream is an event', () => {
  test('cut off at every position: an ERROR event, unless between two events', async () => {
    await using t = await startFaultClient((request, reply) => {
      reply.head(200, json);
      reply.chunk(bytes.subarray(0, cutOf(request)));
      reply.end();
    });
    for (let cut = 0; cut <= bytes.length; cut++) {
      const { all, error } = await watchAll(t.client, `cut=${cut}`);
      expect(error).toBe(undefined);
      const whole = [0, firstEnd, firstEnd + 1, secondEnd, secondEnd + 1].includes(cut);
      expect([cut, all.length]).toEqual([cut, eventsBefore(cut) + (whole ? 0 : 1)]);
      const last = errorIn(all.at(-1));
      expect(last === undefined).toBe(whole);
      if (last) expect(last.message).toContain('the stream ended in the middle of an event');
    }
  });

  test.each([410, 500, 504])('an ERROR event of the server (%i) is handed on', async (code) => {
    const { shorts, last, error } = await eventsOf(streamed(two, errorLine(code, 'Whatever', 'too old, say')));
    expect(shorts).toEqual(['ADDED a 1', 'MODIFIED b 2', `ERROR ${code}`]);
    expect(last?.message).toContain('too old, say');
    expect(isGone(last)).toBe(code === 410);
    expect(error).toBe(undefined);
  });

  const broken: readonly [string, string, RegExp][] = [
    ['a line that is no JSON', 'surprise!\n', /expected an event in JSON, got "s"/],
    ['broken JSON', '{"type":"ADDED","object":{"metadata":{]}}\n', /broken JSON in an event/],
    ['an unknown type', eventLine('RENAMED', configMap('c', 3)), /unknown event type RENAMED/],
    ['an event without object', '{"type":"ADDED"}\n', /ADDED event without an object/],
    ['null', 'null\n', /expected an event in JSON/],
    ['HTML of a proxy', '<html><body>502 Bad Gateway</body></html>', /expected an event in JSON/],
  ];
  test.each(broken)('%s: the events before it, an ERROR event, and the end', async (_, line, message) => {
    const { shorts, last, error } = await eventsOf(streamed(two, line, added('never', 9)));
    expect(shorts).toEqual(['ADDED a 1', 'MODIFIED b 2', 'ERROR 500']);
    expect(last?.message).toMatch(message);
    expect(isInternalError(last) && isDecodeError(last?.cause)).toBe(true);
    expect(error).toBe(undefined);
  });

  test('the rest of a stream that went wrong is not read on: the connection is closed', async () => {
    await using t = await startFaultClient((_, reply) => {
      reply.head(200, json);
      reply.chunk('surprise!\n');
      return reply.hang();
    });
    expect((await watchAll(t.client)).all.map(short)).toEqual(['ERROR 500']);
    await t.server.idle();
  });
});

describe('an answer that is no watch', () => {
  test('a Status of failure under a success is its ERROR event', async () => {
    const { shorts, last } = await eventsOf((_, reply) => reply.send(200, failure(403, 'Forbidden', 'not for you')));
    expect(shorts).toEqual(['ERROR 403']);
    expect(isForbidden(last)).toBe(true);
  });

  test('HTML under a success is an ERROR event that shows its beginning', async () => {
    const page = '<!DOCTYPE html><html><body>Please log in</body></html>';
    const { shorts, last } = await eventsOf((_, reply) => reply.send(200, page, { 'content-type': 'text/html' }));
    expect(shorts).toEqual(['ERROR 500']);
    expect(last?.message).toMatch(/got "<!DOCTYPE html>/);
  });

  test('nothing at all is a watch that ended', async () => {
    expect(await eventsOf((_, reply) => reply.send(200, '', json))).toMatchObject({ shorts: [], error: undefined });
  });
});

describe('bytes of a watch', () => {
  test('split at every position: the same events', async () => {
    const whole = (await eventsOf(streamed(two))).all;
    await using t = await startFaultClient((request, reply) => {
      reply.head(200, json);
      reply.cut(bytes, [cutOf(request)]);
      reply.end();
    });
    for (let cut = 1; cut < bytes.length; cut++) {
      expect(await watchAll(t.client, `cut=${cut}`)).toEqual({ all: whole });
    }
    expect(whole.map(short)).toEqual(['ADDED a 1', 'MODIFIED b 2']);
  });

  test('each in a packet of its own: the same events', async () => {
    const whole = (await eventsOf(streamed(two))).all;
    const { all } = await eventsOf(async (_, reply) => {
      reply.head(200, json);
      for (const byte of bytes) {
        reply.chunk(Uint8Array.of(byte));
        await reply.flushed();
      }
      reply.end();
    });
    expect(all).toEqual(whole);
  });

  test('10,000 events in one chunk: all, in order', async () => {
    const count = 10_000;
    const many = Array.from({ length: count }, (_, i) => added(`c${i}`, i)).join('');
    const { shorts, error } = await eventsOf(streamed(many));
    expect(shorts).toEqual(Array.from({ length: count }, (_, i) => `ADDED c${i} ${i}`));
    expect(error).toBe(undefined);
  });

  test('an event of 20 MB between small ones', async () => {
    const data = { big: 'x'.repeat(20 * 1024 * 1024) };
    const { all, shorts } = await eventsOf(
      streamed(added('a', 1), eventLine('MODIFIED', configMap('big', 2, data)), added('c', 3)),
    );
    expect(shorts).toEqual(['ADDED a 1', 'MODIFIED big 2', 'ADDED c 3']);
    const [, big] = all;
    expect(big?.type === 'MODIFIED' && big.object.data?.big === data.big).toBe(true);
  });
});

test('a slow reader slows the server down; silence of its own making is not taken for a dead connection', async () => {
  const clock = new SleepClock();
  const count = 300;
  const filler = { text: 'y'.repeat(100_000) };
  const line = (i: number) => eventLine('ADDED', configMap(`c${i}`, i, filler));
  let unsent = () => 0;
  await using t = await startFaultClient(
    (_, reply) => {
      reply.head(200, json);
      for (let i = 0; i < count; i++) reply.chunk(line(i));
      unsent = () => reply.socket.writableLength;
      reply.end();
    },
    { clock },
  );
  let read = 0;
  let waited = 0;
  for await (const event of await t.client.watch(ConfigMap, { idleTimeoutMs: 1_000 })) {
    expect(short(event)).toBe(`ADDED c${read} ${read++}`);
    if (read !== 10) continue;
    await turns(300);
    await clock.advance(60_000);
    // Sockets hold some MB; the rest waits at the server, not with the reader.
    waited = unsent();
  }
  expect(read).toBe(count);
  expect(waited).toBeGreaterThan((line(0).length * count) / 3);
});
