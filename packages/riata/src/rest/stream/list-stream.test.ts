import { describe, expect, test } from 'vitest';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { isDecodeError } from '../errors/decode-error.js';
import { TransportError } from '../errors/transport-error.js';
import { busyClock, item, Script } from '../transport/scripted-exchange.fixture.js';
import { listStream } from './list-stream.js';

const head = '{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[';
const items = (count: number) => Array.from({ length: count }, (_, n) => item(n)).join(',');
const names = (list: readonly { metadata: { name: string } }[]) => list.map(({ metadata }) => metadata.name);

describe('list', () => {
  test('consume hands out items as they come, and resolves to the rest of the list', async () => {
    const server = new Script();
    const stream = listStream(server, { clock: new VirtualClock() });
    const seen: string[] = [];
    const done = stream.consume((pod) => seen.push(`${pod.kind} ${pod.metadata.name}`));
    server.headers().send(`${head}${item(0)},{"meta`);
    expect(seen).toEqual(['Pod p0']);
    expect(stream.metadata).toEqual({ resourceVersion: '7' });
    server.send('data":{"name":"p1"}}]');
    expect(seen).toEqual(['Pod p0', 'Pod p1']);
    server.send('}');
    server.end();
    expect(await done).toEqual({ apiVersion: 'v1', kind: 'PodList', metadata: { resourceVersion: '7' }, count: 2 });
    expect(stream.end?.count).toBe(2);
    expect(server.aborted).toBeUndefined();
  });

  test('for await gives the same; the metadata after the items is there at the end', async () => {
    const server = new Script();
    const stream = listStream<{ name: string }>(server);
    const reading = (async () => {
      const seen: unknown[] = [];
      for await (const each of stream) seen.push(each);
      return seen;
    })();
    await Promise.resolve();
    server.headers().send('{"items":[{"kind":"A","apiVersion":"v1"}');
    server.send('],"kind":"AList","apiVersion":"v1","metadata":{"continue":"c"}}');
    server.end();
    expect(await reading).toEqual([{ kind: 'A', apiVersion: 'v1' }]);
    expect(stream.end).toEqual({ apiVersion: 'v1', kind: 'AList', metadata: { continue: 'c' }, count: 1 });
    expect(stream.metadata).toEqual({ continue: 'c' });
  });

  test('collect gives the list object', async () => {
    const server = new Script();
    const list = listStream(server).collect();
    server.headers().send(`${head}${items(3)}]}`);
    server.end();
    const { kind, metadata, items: got } = await list;
    expect([kind, metadata, names(got)]).toEqual(['PodList', { resourceVersion: '7' }, ['p0', 'p1', 'p2']]);
  });

  test('long work is sliced: the flow waits, nothing is lost, order is kept', async () => {
    const server = new Script();
    const clock = busyClock(0.5);
    const seen: string[] = [];
    let longest = 0;
    let since = 0;
    const done = listStream(server, { clock }).consume((pod) => {
      longest = Math.max(longest, seen.push(pod.metadata.name) - since);
    });
    server.headers();
    const turn = clock.yield.bind(clock);
    clock.yield = async () => {
      since = seen.length;
      await turn();
      since = seen.length;
    };
    const text = `${head}${items(200)}]}`;
    const cuts = [0, 1_000, 1_500, 4_000, text.length];
    server.send(text.slice(cuts[0], cuts[1]));
    expect(server.paused).toBe(true);
    expect(seen.length).toBeLessThan(40);
    // A transport may hand out what it has already read in spite of a pause.
    for (let i = 1; i < cuts.length - 1; i++) server.send(text.slice(cuts[i], cuts[i + 1]));
    server.end();
    expect((await done).count).toBe(200);
    expect(seen).toEqual(Array.from({ length: 200 }, (_, n) => `p${n}`));
    expect(clock.turns).toBeGreaterThan(5);
    expect(longest).toBeLessThanOrEqual(16);
  });

  test('many small pieces within one turn of the event loop count together', async () => {
    const server = new Script();
    const done = listStream(server, { clock: busyClock(0.1) }).consume(() => {});
    server.headers().send(head);
    let sent = 0;
    while (!server.paused && sent < 1_000) server.send(sent++ === 0 ? item(0) : `,${item(sent)}`);
    expect(sent).toBeLessThan(100);
    server.send(']}');
    server.end();
    expect((await done).count).toBe(sent);
  });

  test('a slow reader stops the flow after 256 KB, and starts it again', async () => {
    const server = new Script();
    const stream = listStream(server);
    const iterator = stream[Symbol.asyncIterator]();
    const first = iterator.next();
    server.headers().send(head);
    server.send(item(0));
    expect((await first).value?.metadata.name).toBe('p0');
    expect(server.paused).toBe(false);
    const big = `,{"metadata":{"name":"big"},"data":"${'x'.repeat(100_000)}"}`;
    for (let i = 0; i < 3; i++) {
      if (server.paused) server.held.push(big);
      else server.send(big);
    }
    expect(server.paused).toBe(true);
    server.held.push(']}');
    for (let i = 0; i < 3; i++) expect((await iterator.next()).value?.metadata.name).toBe('big');
    const last = iterator.next();
    await Promise.resolve();
    expect(server.paused).toBe(false);
    server.end();
    expect((await last).done).toBe(true);
  });

  test('an end that was held back comes with resume, and is not missed', async () => {
    const server = new Script();
    server.resume = () => {
      server.paused = false;
      server.end();
    };
    const list = listStream(server);
    const opened = list.open();
    server.headers();
    await opened;
    expect(server.paused).toBe(true);
    server.send(`${head}${items(2)}]}`);
    const names: (string | undefined)[] = [];
    for await (const pod of list) names.push(pod.metadata?.name);
    expect(names).toEqual(['p0', 'p1']);
    expect(list.end?.count).toBe(2);
  });

  test('nothing is decoded between open and reading', async () => {
    const server = new Script();
    const stream = listStream(server);
    const opened = stream.open();
    server.headers();
    expect(await opened).toBe(stream);
    expect(server.paused).toBe(true);
    server.held.push(`${head}${items(2)}]}`);
    const list = stream.collect();
    server.end();
    expect(names((await list).items)).toEqual(['p0', 'p1']);
  });

  test('a refusal and a lost connection are thrown, the latter after what came before', async () => {
    const refused = new Script();
    const opening = listStream(refused).open();
    refused.abort(new Error('403'));
    await expect(opening).rejects.toThrow('403');

    const server = new Script();
    const seen: string[] = [];
    const done = listStream(server).consume((pod) => seen.push(pod.metadata.name));
    server.headers().send(`${head}${items(2)},{`);
    server.sink?.onError(new Error('reset'));
    await expect(done).rejects.toThrow('reset');
    expect(seen).toEqual(['p0', 'p1']);
  });

  test('errors found in the body name the request; so does the number of items that came before a cut', async () => {
    const origin = () => ({ method: 'GET', url: 'https://host/api/v1/pods?limit=2' });
    const read = (body: string, error?: unknown) => {
      const server = Object.assign(new Script(), { origin });
      const done = listStream(server).collect();
      server.headers().send(body);
      if (error === undefined) server.end();
      else server.sink?.onError(error);
      return done;
    };
    const status = {
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      code: 410,
      reason: 'Expired',
      message: 'old',
    };
    await expect(read(JSON.stringify(status))).rejects.toMatchObject({
      name: 'ApiError',
      code: 410,
      method: 'GET',
      url: 'https://host/api/v1/pods?limit=2',
      message: 'GET /api/v1/pods: old (410 Expired)',
    });
    await expect(read(`${head}${item(0)},`)).rejects.toMatchObject({
      name: 'DecodeError',
      decoded: 1,
      message: expect.stringMatching(/^GET \/api\/v1\/pods: /),
    });
    const cut = new TransportError('cut', { kind: 'reset', requestSent: true });
    await expect(read(`${head}${item(0)},{`, cut)).rejects.toThrow('cut; 1 item came before');
    await expect(read(`${head}${items(2)},{`, cut)).rejects.toThrow('cut; 2 items came before');
  });

  test('a body that ends too early is an error for every way of reading', async () => {
    for (const read of ['consume', 'collect', 'iterate'] as const) {
      const server = new Script();
      const stream = listStream(server);
      const done =
        read === 'consume'
          ? stream.consume(() => {})
          : read === 'collect'
            ? stream.collect()
            : (async () => {
                for await (const pod of stream) expect(pod.metadata.name).toBe('p0');
              })();
      server.headers().send(`${head}${item(0)},`);
      server.end();
      const error: unknown = await done.then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(isDecodeError(error) && error.decoded).toBe(1);
    }
  });

  test('broken JSON and a throwing callback end the exchange', async () => {
    const server = new Script();
    const done = listStream(server).consume(() => {});
    server.headers().send(`${head}{"a":tru}`);
    await expect(done).rejects.toThrow('broken JSON');
    expect(isDecodeError(server.aborted)).toBe(true);

    const other = new Script();
    const failing = listStream(other).consume(() => {
      throw new Error('mine');
    });
    other.headers().send(`${head}${item(0)}`);
    await expect(failing).rejects.toThrow('mine');
    expect(other.aborted).toMatchObject({ message: 'mine' });
  });

  test('the signal ends it with its reason, also in the middle of a slice', async () => {
    const server = new Script();
    const controller = new AbortController();
    const seen: unknown[] = [];
    const done = listStream(server, { signal: controller.signal, clock: busyClock(2) }).consume((pod) =>
      seen.push(pod),
    );
    server.headers().send(`${head}${items(100)}]}`);
    const before = seen.length;
    controller.abort(new Error('enough'));
    await expect(done).rejects.toThrow('enough');
    expect(seen.length).toBe(before);
  });

  test('leaving the loop and stop() end the exchange', async () => {
    const server = new Script();
    const stream = listStream(server);
    const reading = (async () => {
      for await (const pod of stream) return pod.metadata.name;
      return undefined;
    })();
    await Promise.resolve();
    server.headers().send(`${head}${items(2)}`);
    expect(await reading).toBe('p0');
    expect(server.aborted).toBeInstanceOf(Error);

    const early = new Script();
    const stopped = listStream(early);
    const done = stopped.consume(() => {});
    stopped.stop();
    await expect(done).rejects.toThrow('stopped after 0 items');
    expect(early.aborted).toBeInstanceOf(Error);
  });

  test('can be read once', async () => {
    const server = new Script();
    const stream = listStream(server);
    const first = stream.collect();
    await expect(stream.collect()).rejects.toThrow('can be read once');
    server.headers().send(`${head}]}`);
    server.end();
    expect((await first).items).toEqual([]);
  });
});
