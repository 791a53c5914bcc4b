import { gzipSync } from 'node:zlib';
import { ConfigMap } from 'riata/kinds';
import { isApiError, isConnectionReset, isDecodeError, isForbidden, isProbableEof, isTransportError } from 'riata/rest';
import { describe, expect, test } from 'vitest';
import { deferred, failureOf, readAll, startFaultClient, turns } from './fault-client.js';
import type { FaultScript } from './fault-server.js';
import { configMap, configMapList, failure, json, queryOf } from './sample-objects.js';
import { SleepClock } from './sleep-clock.js';

const three = [configMap('a', 1), configMap('b', 2, { text: 'ünï "quoted" {[\\]} 😀' }), configMap('c', 3)];
const text = configMapList(9, three);
const bytes = Buffer.from(text);
const namesOf = (items: readonly ConfigMap[]) => items.map(({ metadata }) => metadata.name);

/** Where each item ends in the body. */
const ends = (() => {
  const found: number[] = [];
  let at = text.indexOf('"items":[') + '"items":['.length;
  for (const { apiVersion: _, kind: __, ...item } of three) {
    at += JSON.stringify(item).length;
    found.push(Buffer.byteLength(text.slice(0, at)));
    at += 1;
  }
  return found;
})();
const itemsBefore = (cut: number) => ends.filter((end) => end <= cut).length;

describe('a connection that is cut within a list', () => {
  test('by a reset: no partial list, the error says how many items came, and it is not asked for again', async () => {
    await using t = await startFaultClient(async (_, reply) => {
      reply.head(200, json);
      reply.chunk(bytes.subarray(0, (ends[1] as number) + 20));
      // A reset overtakes what the client has not read yet.
      await reply.read();
      reply.reset();
    });
    const error = await failureOf(t.client.list(ConfigMap));
    expect(isConnectionReset(error)).toBe(true);
    expect(error.message).toBe(
      `GET ${t.server.url}/api/v1/configmaps: the connection was cut in the middle of the response (ECONNRESET); ` +
        '2 items came before',
    );
    expect(t.server.requests).toHaveLength(1);
  });

  test('by a reset, read one by one: what came before it is there', async () => {
    const arrived = deferred();
    await using t = await startFaultClient(async (_, reply) => {
      reply.head(200, json);
      reply.chunk(bytes.subarray(0, (ends[1] as number) + 20));
      await arrived.promise;
      reply.reset();
    });
    const names: (string | undefined)[] = [];
    const error = await failureOf(
      (async () => {
        for await (const { metadata } of t.client.each(ConfigMap)) {
          if (names.push(metadata.name) === 2) arrived.resolve();
        }
      })(),
    );
    expect(names).toEqual(['a', 'b']);
    expect([isConnectionReset(error), error.message]).toEqual([true, expect.stringContaining('; 2 items came before')]);
  });

  test('in an orderly way, wherever it is', async () => {
    await using t = await startFaultClient((request, reply) => {
      reply.head(200, json);
      reply.chunk(bytes.subarray(0, Number(queryOf(request).get('labelSelector')?.slice('cut='.length))));
      reply.close();
    });
    const cuts = [
      0,
      1,
      10,
      60,
      ...ends.flatMap((end) => [end - 1, end, end + 1, end + 20]),
      bytes.length - 1,
      bytes.length,
    ];
    for (const cut of cuts) {
      const { all, error } = await readAll(t.client.each(ConfigMap, { labelSelector: `cut=${cut}` }));
      expect([cut, isProbableEof(error), all.length]).toEqual([cut, true, itemsBefore(cut)]);
      expect(error?.message).toMatch(new RegExp(`; ${itemsBefore(cut)} items? came before`));
    }
    expect(t.server.requests).toHaveLength(cuts.length);
  });

  test.each(['reset', 'close'] as const)('before its answer (%s): asked for again, after a second', async (how) => {
    const clock = new SleepClock({ skips: true });
    const at: number[] = [];
    await using t = await startFaultClient(
      (request, reply) => {
        at.push(clock.monotonic());
        if (request.number < 3) reply[how]();
        else reply.send(200, text, json);
      },
      { clock },
    );
    expect(namesOf((await t.client.list(ConfigMap)).items)).toEqual(['a', 'b', 'c']);
    expect(at).toEqual([0, 1000, 2000]);
  });

  test('on the second page: the first page was there, nothing comes twice', async () => {
    await using t = await startFaultClient((request, reply) => {
      if (!queryOf(request).has('continue')) {
        const page = { kind: 'ConfigMapList', apiVersion: 'v1', metadata: { continue: 'more' }, items: three };
        return reply.send(200, page);
      }
      reply.head(200, json);
      reply.chunk(bytes.subarray(0, ends[1]));
      reply.close();
    });
    const { all, error } = await readAll(t.client.each(ConfigMap, { limit: 3 }));
    expect(namesOf(all)).toEqual(['a', 'b', 'c']);
    expect([isProbableEof(error), error?.message]).toEqual([true, expect.stringContaining('; 2 items came before')]);
  });
});

describe('a body that is no whole list', () => {
  test('cut off at every position: an error that says how many items came, after these', async () => {
    await using t = await startFaultClient((request, reply) => {
      reply.send(200, bytes.subarray(0, Number(queryOf(request).get('labelSelector')?.slice('cut='.length))), json);
    });
    for (let cut = 0; cut < bytes.length; cut++) {
      const options = { labelSelector: `cut=${cut}` };
      const { all, error } = await readAll(t.client.each(ConfigMap, options));
      if (!isDecodeError(error)) throw new Error(`cut at ${cut}: no DecodeError`, { cause: error });
      expect([cut, all.length, error.decoded]).toEqual([cut, itemsBefore(cut), itemsBefore(cut)]);
      expect(error.message).toMatch(cut === 0 ? /an empty body/ : /a body that ends too early/);
      if (cut % 40 === 0) expect(isDecodeError(await failureOf(t.client.list(ConfigMap, options)))).toBe(true);
    }
    expect(t.server.connections).toBe(1);
  });

  test('gzipped and cut off at every position', async () => {
    const zipped = gzipSync(bytes);
    await using t = await startFaultClient((request, reply) => {
      const cut = Number(queryOf(request).get('labelSelector')?.slice('cut='.length));
      reply.send(200, zipped.subarray(0, cut), { ...json, 'content-encoding': 'gzip' });
    });
    for (let cut = 0; cut < zipped.length; cut++) {
      const error = await failureOf(t.client.list(ConfigMap, { labelSelector: `cut=${cut}` }));
      if (cut === 0) expect(error.message).toContain('an empty body');
      else expect(isTransportError(error) && error.kind).toBe('decompress');
    }
    const whole = await t.client.list(ConfigMap, { labelSelector: `cut=${zipped.length}` });
    expect(whole.items).toEqual(three);
  });

  const html = '<!DOCTYPE html><html><head><title>Sign in</title></head><body>Please log in</body></html>';
  const wrong: readonly [string, FaultScript, RegExp][] = [
    [
      'HTML of a login page',
      (_, r) => r.send(200, html, { 'content-type': 'text/html' }),
      /begins with "<!DOCTYPE html>/,
    ],
    ['text', (_, r) => r.send(200, 'ok', { 'content-type': 'text/plain' }), /begins with "ok"/],
    ['protobuf', (_, r) => r.send(200, Buffer.from('6b38730001', 'hex')), /begins with "k8s/],
    ['nothing', (_, r) => r.send(200, '', json), /an empty body/],
    ['an array', (_, r) => r.send(200, '[]', json), /begins with "\[\]"/],
    ['another object', (_, r) => r.send(200, configMap('a', 1)), /kind "ConfigMap" without items/],
    [
      'items that are none',
      (_, r) => r.send(200, '{"kind":"ConfigMapList","items":{}}', json),
      /items that are not an array/,
    ],
    ['two lists', (_, r) => r.send(200, text + text, json), /after the end of the list/],
  ];
  test.each(wrong)('%s: said so', async (_, script, message) => {
    await using t = await startFaultClient(script);
    const error = await failureOf(t.client.list(ConfigMap));
    expect(error.message).toMatch(message);
    expect([isDecodeError(error), isTransportError(error)]).toEqual([true, false]);
    expect(error.message.length).toBeLessThan(200);
  });

  test('a Status of failure under a success: the refusal that it is', async () => {
    await using t = await startFaultClient((_, reply) => reply.send(200, failure(403, 'Forbidden', 'not for you')));
    const error = await failureOf(t.client.list(ConfigMap));
    expect(isForbidden(error) && isApiError(error)).toBe(true);
    expect(error.message).toContain('not for you');
  });
});

describe('bytes of a list', () => {
  test('split at every position: the same objects', async () => {
    await using t = await startFaultClient((request, reply) => {
      reply.head(200, json);
      reply.cut(bytes, [Number(queryOf(request).get('labelSelector')?.slice('cut='.length))]);
      reply.end();
    });
    for (let cut = 1; cut < bytes.length; cut++) {
      const { items, metadata } = await t.client.list(ConfigMap, { labelSelector: `cut=${cut}` });
      expect([metadata, items]).toEqual([{ resourceVersion: '9' }, three]);
    }
  });

  test('each in a packet of its own: the same objects', async () => {
    await using t = await startFaultClient(async (_, reply) => {
      reply.head(200, json);
      for (const byte of bytes) {
        reply.chunk(Uint8Array.of(byte));
        await reply.flushed();
      }
      reply.end();
    });
    expect((await t.client.list(ConfigMap)).items).toEqual(three);
    expect((await readAll(t.client.each(ConfigMap))).all).toEqual(three);
  });

  test('one object of 20 MB among small ones', async () => {
    const data = { big: 'x'.repeat(20 * 1024 * 1024) };
    const body = configMapList(9, [configMap('a', 1), configMap('big', 2, data), configMap('c', 3)]);
    await using t = await startFaultClient((_, reply) => reply.send(200, body, json));
    const { items } = await t.client.list(ConfigMap);
    expect(namesOf(items)).toEqual(['a', 'big', 'c']);
    expect(items[1]?.data?.big === data.big).toBe(true);
  });
});

test('150,000 objects in one answer', async () => {
  const count = 150_000;
  const item = (i: number) => ({ metadata: { name: `c${i}` } });
  await using t = await startFaultClient((_, reply) => {
    const items = Array.from({ length: count }, (_, i) => item(i));
    reply.send(200, { kind: 'ConfigMapList', apiVersion: 'v1', metadata: {}, items });
  });
  const { items } = await t.client.list(ConfigMap);
  expect(items).toHaveLength(count);
  expect(items.every(({ metadata }, i) => metadata.name === `c${i}`)).toBe(true);
});

test('a slow reader slows the server down', async () => {
  const filler = { text: 'y'.repeat(100_000) };
  const count = 300;
  const body = Buffer.from(
    configMapList(
      9,
      Array.from({ length: count }, (_, i) => configMap(`c${i}`, i, filler)),
    ),
  );
  let unsent = () => 0;
  await using t = await startFaultClient((_, reply) => {
    reply.head(200, { ...json, 'content-length': String(body.length) });
    for (let at = 0; at < body.length; at += 65_536) reply.raw(body.subarray(at, at + 65_536));
    unsent = () => reply.socket.writableLength;
    reply.end();
  });
  let read = 0;
  let waited = 0;
  for await (const { metadata } of t.client.each(ConfigMap)) {
    expect(metadata.name).toBe(`c${read++}`);
    if (read !== 10) continue;
    await turns(300);
    // Sockets hold some MB; the rest waits at the server, not with the reader.
    waited = unsent();
  }
  expect(read).toBe(count);
  expect(waited).toBeGreaterThan(body.length / 3);
});
