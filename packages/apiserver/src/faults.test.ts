import { createClient } from 'riata';
import { ConfigMap } from 'riata/kinds';
import {
  type ApiError,
  isApiError,
  isConnectionRefused,
  isConnectionReset,
  isResourceExpired,
  isTimeoutError,
  isTransportError,
} from 'riata/rest';
import { seededRandom, silentLogger, VirtualClock } from 'riata/runtime';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { type Fault, type FaultRequest, type Faults, randomFaults } from './faults.js';
import { ApiServer, type ConnectOptions, type InProcessConfig } from './index.js';

const log = silentLogger;
const namespace = 'default';
const thing = (name: string, data: Record<string, string> = {}) => ConfigMap({ metadata: { namespace, name }, data });

/** A server and clients of it, on a clock that the test moves. */
async function start() {
  const clock = new VirtualClock();
  const server = await ApiServer.start({ clock, log, random: seededRandom(1) });
  const clientOf = (config: InProcessConfig) =>
    createClient(config, { runtime: { clock, log, random: seededRandom(2) }, timeout: '5s' });
  const connect = (options: ConnectOptions) => clientOf(server.connect(options));
  /** The result of a promise, when nothing is left to do but to wait for time. */
  const settled = async <T>(promise: Promise<T>): Promise<T> => {
    promise.catch(() => {});
    await clock.settle();
    return promise;
  };
  return { clock, server, connect, settled, plain: clientOf(server.config) };
}

const always =
  (fault: Fault): Faults =>
  () =>
    fault;

/** Only writes: what a client asks first, such as for discovery, goes well. */
const onCreate =
  (fault: Fault): Faults =>
  ({ method }) =>
    method === 'POST' ? fault : undefined;

const once = { maxRetries: 0 };

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a client with faults', () => {
  test('sees them, and others do not', async () => {
    const { server, connect, settled, plain } = await start();
    await using _ = server;
    const flaky = connect({ faults: always({ fail: { code: 500, message: 'no luck' } }) });
    const error = await settled(failure(flaky.get(ConfigMap, { namespace, name: 'a' }, once)));
    expect(error).toSatisfy(isApiError);
    expect((error as ApiError).status).toMatchObject({ code: 500, message: 'no luck' });
    expect((await settled(plain.create(thing('a'), once))).metadata.name).toBe('a');
  });

  test('is asked about with what the request says, in order', async () => {
    const { server, connect, settled } = await start();
    await using _ = server;
    const seen: FaultRequest[] = [];
    const faults: Faults = (request) => {
      seen.push(request);
      return undefined;
    };
    const client = connect({ name: 'curious', faults });
    await settled(client.create(thing('a')));
    const watch = await settled(client.watch(ConfigMap, { namespace, resourceVersion: '7' }));
    watch.stop();
    expect(seen).toMatchObject([
      { client: 'curious', number: 1, method: 'POST', path: '/api/v1/namespaces/default/configmaps', watch: false },
      { client: 'curious', number: 2, method: 'GET', path: '/api/v1/namespaces/default/configmaps', watch: true },
    ]);
    expect(seen[1]?.query.get('resourceVersion')).toBe('7');
  });

  test('that has no name gets one', async () => {
    const { server, connect, settled } = await start();
    await using _ = server;
    const names: string[] = [];
    const faults: Faults = ({ client }) => void names.push(client);
    await settled(connect({ faults }).create(thing('a')));
    await settled(connect({ faults }).create(thing('b')));
    expect(names).toEqual(['client-1', 'client-2']);
  });

  test('gets the error of its hook', async () => {
    const { server, connect, settled } = await start();
    await using _ = server;
    const bug = new Error('a bug in the test');
    const faults: Faults = () => {
      throw bug;
    };
    const error = await settled(failure(connect({ faults }).create(thing('a'), once)));
    expect([error, (error as Error).cause]).toContain(bug);
  });
});

describe('a request', () => {
  test('that is delayed takes its time both ways, on the clock', async () => {
    const { clock, server, connect, settled, plain } = await start();
    await using _ = server;
    const client = connect({ faults: onCreate({ delayMs: 300, answerDelayMs: 200 }) });
    let done = false;
    const creating = client.create(thing('a')).then(() => {
      done = true;
    });
    await clock.advance(299);
    expect(await settled(failure(plain.get(ConfigMap, { namespace, name: 'a' })))).toSatisfy(isApiError);
    await clock.advance(1);
    expect((await settled(plain.get(ConfigMap, { namespace, name: 'a' }))).metadata.name).toBe('a');
    await clock.advance(199);
    expect(done).toBe(false);
    await clock.advance(1);
    await creating;
    expect(clock.pending).toBe(0);
  });

  test('that is failed with Retry-After is tried again then', async () => {
    const { clock, server, connect } = await start();
    await using _ = server;
    const faults: Faults = ({ number }) => (number === 1 ? { fail: { code: 429, retryAfterSeconds: 3 } } : undefined);
    let done = false;
    const creating = connect({ faults })
      .create(thing('a'))
      .then(() => {
        done = true;
      });
    await clock.advance(2_900);
    expect(done).toBe(false);
    await clock.advance(1_000);
    expect(done).toBe(true);
    await creating;
  });

  test.each([
    ['before it reached the server', { cut: 'request' }, false],
    ['when its answer is lost', { cut: 'answer' }, true],
  ] as const)('is cut %s', async (_title, fault, stored) => {
    const { server, connect, settled, plain } = await start();
    await using _ = server;
    const client = connect({ faults: onCreate(fault) });
    const error = await settled(failure(client.create(thing('a'), once)));
    expect(error).toSatisfy(isConnectionReset);
    expect(error).toMatchObject({ requestSent: true });
    const { items } = await settled(plain.list(ConfigMap, { namespace, fieldSelector: 'metadata.name=a' }));
    expect(items.length).toBe(stored ? 1 : 0);
  });

  test('that is refused has not reached the server, and says so', async () => {
    const { server, connect, settled } = await start();
    await using _ = server;
    const error = await settled(failure(connect({ faults: onCreate({ refuse: true }) }).create(thing('a'), once)));
    expect(error).toSatisfy(isConnectionRefused);
    expect(error).toMatchObject({ requestSent: false });
  });

  test('is done, but answered with something else', async () => {
    const { server, connect, settled, plain } = await start();
    await using _ = server;
    const client = connect({ faults: onCreate({ fail: { code: 504, reason: 'Timeout', handled: true } }) });
    const error = await settled(failure(client.create(thing('a'), once)));
    expect((error as ApiError).status).toMatchObject({ code: 504, reason: 'Timeout' });
    expect((await settled(plain.get(ConfigMap, { namespace, name: 'a' }))).metadata.name).toBe('a');
  });

  test.each([
    ['before it reached the server', { stall: 'request' }],
    ['before its answer', { stall: 'answer' }],
    ['in the middle of its answer', { stall: { afterBytes: 10 } }],
  ] as const)('stalls %s: only a limit of the client ends it', async (_title, fault) => {
    const { clock, server } = await start();
    await using _ = server;
    const config = server.connect({ faults: onCreate(fault) });
    const client = createClient(config, { runtime: { clock, log }, timeout: '5s' });
    let ended = false;
    const creating = failure(client.create(thing('a'), once)).finally(() => {
      ended = true;
    });
    await clock.advance(4_999);
    expect(ended).toBe(false);
    await clock.advance(1);
    expect(await creating).toBeInstanceOf(Error);
    expect(config.transport.running).toBe(0);
  });

  test('is cut in the middle of its answer', async () => {
    const { server, connect, settled } = await start();
    await using _ = server;
    const error = await settled(
      failure(connect({ faults: onCreate({ cut: { afterBytes: 10 } }) }).create(thing('a'), once)),
    );
    expect(error).toSatisfy(isTransportError);
  });
});

describe('a watch', () => {
  /** Watches from now on and keeps what comes. */
  async function watching(setup: Awaited<ReturnType<typeof start>>, fault: Fault, idleTimeoutMs?: number) {
    const { connect, settled } = setup;
    const config = connect({ faults: ({ watch }) => (watch ? fault : undefined) });
    const { resourceVersion } = (await settled(config.list(ConfigMap, { namespace }))).metadata;
    const stream = await settled(config.watch(ConfigMap, { namespace, resourceVersion, idleTimeoutMs }));
    const seen: string[] = [];
    const end = failure(
      (async () => {
        for await (const event of stream) if (event.type === 'ADDED') seen.push(event.object.metadata.name);
      })(),
    );
    return { seen, end, stream };
  }

  test('is cut after so many events', async () => {
    const setup = await start();
    await using _ = setup.server;
    const { seen, end } = await watching(setup, { cut: { afterEvents: 2 } });
    for (const name of ['a', 'b', 'c']) await setup.settled(setup.plain.create(thing(name)));
    expect(await end).toSatisfy(isConnectionReset);
    expect(seen).toEqual(['a', 'b']);
    expect(setup.server.transport.running).toBe(0);
  });

  test('is cut in the middle of an event: the whole ones before it count', async () => {
    const setup = await start();
    await using _ = setup.server;
    const { seen, end } = await watching(setup, { cut: { afterBytes: 600 } });
    for (const name of ['a', 'b', 'c', 'd', 'e']) await setup.settled(setup.plain.create(thing(name)));
    expect(await end).toSatisfy(isTransportError);
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.length).toBeLessThan(5);
  });

  test('goes silent, and is ended by the limit of its client', async () => {
    const setup = await start();
    await using _ = setup.server;
    const { seen, end } = await watching(setup, { stall: { afterEvents: 1 } }, 10_000);
    for (const name of ['a', 'b']) await setup.settled(setup.plain.create(thing(name)));
    expect(seen).toEqual(['a']);
    await setup.clock.advance(10_000);
    expect(await end).toSatisfy(isTimeoutError);
  });

  test('of a client that is far away sees things late, in order, and in another order than its neighbour', async () => {
    const setup = await start();
    await using _ = setup.server;
    const { clock, plain, settled } = setup;
    const far = await watching(setup, { eventDelayMs: ({ number }) => (number === 1 ? 500 : 100) });
    const near = await watching(setup, {});
    await settled(plain.create(thing('a')));
    await clock.advance(300);
    await settled(plain.create(thing('b')));
    expect([near.seen, far.seen]).toEqual([['a', 'b'], []]);
    await clock.advance(199);
    expect(far.seen).toEqual([]);
    await clock.advance(1);
    expect(far.seen).toEqual(['a', 'b']);
    near.stream.stop();
    far.stream.stop();
  });

  test('is delayed by what it is about: a hook sees what is sent', async () => {
    const { clock, server, connect, settled, plain } = await start();
    await using _ = server;
    const seen: unknown[] = [];
    const eventDelayMs: Fault['eventDelayMs'] = ({ type, object, number }) => {
      seen.push([number, type, (object as ConfigMap).data]);
      return 50;
    };
    const client = connect({ faults: ({ watch }) => (watch ? { eventDelayMs } : undefined) });
    const { resourceVersion } = (await settled(plain.list(ConfigMap, { namespace }))).metadata;
    const watch = await settled(client.watch(ConfigMap, { namespace, resourceVersion }));
    const first = watch[Symbol.asyncIterator]().next();
    await settled(plain.create(thing('a', { x: '1' })));
    await clock.advance(50);
    expect((await first).value).toMatchObject({ type: 'ADDED' });
    expect(seen).toEqual([[1, 'ADDED', { x: '1' }]]);
    watch.stop();
  });

  test('ends with the error of its hook, and the writer notices nothing', async () => {
    const setup = await start();
    await using _ = setup.server;
    const bug = new Error('a bug in the test');
    const eventDelayMs = () => {
      throw bug;
    };
    const { seen, end } = await watching(setup, { eventDelayMs });
    expect((await setup.settled(setup.plain.create(thing('a')))).metadata.name).toBe('a');
    const error = await end;
    expect([error, (error as Error).cause]).toContain(bug);
    expect(seen).toEqual([]);
  });

  test('that is refused says why', async () => {
    const { server, connect, settled } = await start();
    await using _ = server;
    const client = connect({ faults: always({ answerDelayMs: 0, eventDelayMs: 0 }) });
    const error = await settled(failure(client.watch(ConfigMap, { namespace, fieldSelector: 'spec.x=1' })));
    expect((error as ApiError).status).toMatchObject({ code: 400 });
  });
});

describe('a server', () => {
  test('that restarts cuts what runs, refuses what comes, and keeps its objects', async () => {
    const { clock, server, settled, plain } = await start();
    await using _ = server;
    const { metadata } = await settled(plain.create(thing('a')));
    await settled(plain.create(thing('b')));
    const watch = await settled(plain.watch(ConfigMap, { namespace }));
    const ended = failure(
      (async () => {
        for await (const event of watch) void event;
      })(),
    );
    const restarting = server.restart({ downMs: 1_000 });
    expect(await settled(ended)).toSatisfy(isConnectionReset);
    expect(await settled(failure(plain.get(ConfigMap, { namespace, name: 'a' }, once)))).toSatisfy(isConnectionRefused);
    await clock.advance(1_000);
    await restarting;
    expect((await settled(plain.get(ConfigMap, { namespace, name: 'a' }))).metadata.uid).toBe(metadata.uid);
    // The watch history is kept in memory: a watch from before cannot resume.
    const { resourceVersion } = metadata;
    const late = await settled(plain.watch(ConfigMap, { namespace, resourceVersion }));
    const event = (await settled(late[Symbol.asyncIterator]().next())).value;
    expect(event?.type === 'ERROR' && isResourceExpired(event.error)).toBe(true);
    // Lists of then are still there.
    const then = await settled(plain.list(ConfigMap, { namespace, resourceVersion, resourceVersionMatch: 'Exact' }));
    expect(then.items.map((item) => item.metadata.name)).not.toContain('b');
  });

  test('that restarts gracefully ends watches in order', async () => {
    const { server, settled, plain } = await start();
    await using _ = server;
    const watch = await settled(plain.watch(ConfigMap, { namespace }));
    const ended = failure(
      (async () => {
        for await (const event of watch) void event;
      })(),
    );
    await settled(server.restart({ graceful: true }));
    expect(await ended).toBeUndefined();
    expect((await settled(plain.create(thing('a'), once))).metadata.name).toBe('a');
  });

  test('that restarts is there again over HTTP, on the same port', async () => {
    await using server = await ApiServer.start({ log });
    const { url } = await server.listen({ tls: false });
    const ask = async () =>
      (await fetch(`${url}/api/v1/namespaces`, { headers: { authorization: `Bearer ${server.token}` } })).status;
    expect(await ask()).toBe(200);
    await server.suspend();
    await expect(ask()).rejects.toThrow();
    await server.resume();
    expect(await ask()).toBe(200);
  });

  test('that compacts gives 410 to who comes from before', async () => {
    const { server, settled, plain } = await start();
    await using _ = server;
    const { resourceVersion } = (await settled(plain.create(thing('a'), once))).metadata;
    await settled(plain.create(thing('b')));
    const page = await settled(plain.list(ConfigMap, { namespace, limit: 1 }));
    await settled(plain.create(thing('c')));
    server.compact();
    const watch = await settled(plain.watch(ConfigMap, { namespace, resourceVersion }));
    const event = (await settled(watch[Symbol.asyncIterator]().next())).value;
    expect(event?.type === 'ERROR' && isResourceExpired(event.error)).toBe(true);
    const { continue: token } = page.metadata;
    const error = await settled(failure(plain.list(ConfigMap, { namespace, limit: 1, continue: token })));
    expect(error).toSatisfy(isResourceExpired);
  });

  test('that was stopped neither goes down nor comes back', async () => {
    const { server } = await start();
    await server.stop();
    await expect(server.suspend()).rejects.toThrow('was stopped');
    await server.resume();
  });
});

describe('faults by chance', () => {
  const request = (watch: boolean): FaultRequest => ({
    ...{ client: 'c', number: 1, method: 'GET', path: '/', query: new URLSearchParams() },
    watch,
  });
  const run = (seed: number, rates: Parameters<typeof randomFaults>[1], watch = false) => {
    const faults = randomFaults(seededRandom(seed), rates);
    return Array.from({ length: 200 }, () => faults(request(watch)));
  };

  test('are the same for the same seed', () => {
    const rates = { fail: 0.2, cut: 0.2, cutWatch: 0.3, stallWatch: 0.3, delayMs: 50 };
    const without = (faults: readonly (Fault | undefined)[]) => JSON.stringify(faults);
    expect(without(run(1, rates, true))).toBe(without(run(1, rates, true)));
    expect(without(run(1, rates, true))).not.toBe(without(run(2, rates, true)));
  });

  test('happen as often as they should, and only what should', () => {
    const failed = run(1, { fail: 0.25 }).filter((fault) => fault?.fail !== undefined).length;
    expect(failed).toBeGreaterThan(30);
    expect(failed).toBeLessThan(70);
    expect(run(1, {}).every((fault) => Object.values(fault ?? {}).every((value) => value === 0))).toBe(true);
    expect(run(1, { cutWatch: 1, stallWatch: 1 }).some((fault) => fault?.cut ?? fault?.stall)).toBe(false);
    expect(run(1, { cutWatch: 1 }, true).every((fault) => fault?.cut !== undefined)).toBe(true);
    expect(run(1, { stallWatch: 1 }, true).every((fault) => fault?.stall !== undefined)).toBe(true);
  });
});

test('hooks are typed', () => {
  expectTypeOf<Faults>().parameter(0).toEqualTypeOf<FaultRequest>();
});
