import type { RetryingWatchOptions } from 'riata/client';
import { ConfigMap } from 'riata/kinds';
import {
  isConnectionRefused,
  isResourceExpired,
  isTimeoutError,
  isTooManyRequests,
  isTransportError,
} from 'riata/rest';
import { type Random, seededRandom, systemRandom } from 'riata/runtime';
import { describe, expect, test } from 'vitest';
import { connect, type FaultClient, startFaultClient, turns, withoutSecrets } from './fault-client.js';
import {
  type FaultReply,
  type FaultRequest,
  type FaultScript,
  type FaultServer,
  startFaultServer,
} from './fault-server.js';
import {
  added,
  configMap,
  configMapList,
  errorLine,
  eventLine,
  failure,
  json,
  queryOf,
  short,
  what,
} from './sample-objects.js';
import { SleepClock } from './sleep-clock.js';

/** Reads a retrying watch in the background. */
function follow(client: FaultClient['client'], options: RetryingWatchOptions = {}) {
  const events: string[] = [];
  const retries: Error[] = [];
  const onRetry = (error: unknown) => void retries.push(withoutSecrets(error));
  const watching = client.retryingWatch(ConfigMap, { onRetry, ...options });
  const outcome = (async () => {
    for await (const event of watching) events.push(short(event));
  })().then(() => undefined, withoutSecrets);
  /** Resolves when this many events have come. An earlier end fails the test. */
  const received = async (count: number) => {
    let ended: { readonly error: Error | undefined } | undefined;
    void outcome.then((error) => {
      ended = { error };
    });
    while (events.length < count) {
      if (ended) throw new Error(`the watch ended after ${events.length} events`, { cause: ended.error });
      await turns(1);
    }
  };
  return { watching, events, retries, outcome, received };
}

type Step = (reply: FaultReply, request: FaultRequest) => void | Promise<void>;

/** Answers the requests by these, in order; what comes after them goes silent. */
const inTurn =
  (...steps: readonly Step[]): FaultScript =>
  (request, reply) => {
    const step = steps[request.number - 1] ?? stream();
    return step(reply, request);
  };
const list = (rv: number, ...names: string[]): Step => {
  const items = names.map((name) => configMap(name, rv));
  return (reply) => reply.send(200, configMapList(rv, items), json);
};
/** Sends this, waits until it was read, and continues as given. */
const stream =
  (text = '', then: (reply: FaultReply) => void | Promise<void> = (reply) => reply.hang()): Step =>
  async (reply) => {
    reply.head(200, json);
    reply.chunk(text);
    await reply.read();
    return then(reply);
  };
const whatsOf = (t: Pick<FaultClient, 'server'>) => t.server.requests.map(what);

describe('continues from the last event, none lost and none twice', () => {
  const half = added('c', 7).slice(0, 50);
  const cuts: readonly [string, string, (reply: FaultReply) => void | Promise<void>][] = [
    ['a reset between two events', '', (reply) => reply.reset()],
    ['a reset within an event', half, (reply) => reply.reset()],
    ['a connection closed between two events', '', (reply) => reply.close()],
    ['a connection closed within an event', half, (reply) => reply.close()],
    ['a stream that ends well between two events', '', (reply) => reply.end()],
    ['a stream that ends well within an event', half, (reply) => reply.end()],
    ['a line that is no JSON', 'surprise!\n', (reply) => reply.end()],
    ['an ERROR event of code 500', errorLine(500, 'InternalError', 'etcd went away'), (reply) => reply.hang()],
    ['an ERROR event without a Status', eventLine('ERROR', { say: 'oops' }), (reply) => reply.hang()],
  ];
  test.each(cuts)('after %s', async (_, tail, then) => {
    const clock = new SleepClock({ skips: true });
    await using t = await startFaultClient(
      inTurn(
        list(5, 'a'),
        stream(added('b', 6) + tail, then),
        stream(added('c', 7) + eventLine('BOOKMARK', configMap('', 9)), (reply) => reply.end()),
        stream(added('d', 10)),
      ),
      { clock },
    );
    const f = follow(t.client);
    await f.received(7);
    expect(f.events).toEqual(['RESET', 'ADDED a 5', 'SYNCED 5', 'ADDED b 6', 'ADDED c 7', 'BOOKMARK 9', 'ADDED d 10']);
    expect(whatsOf(t)).toEqual(['list', 'watch 5', 'watch 6', 'watch 9']);
    f.watching.stop();
    expect(await f.outcome).toBe(undefined);
    await t.client.close();
    await t.server.idle();
  });

  test('after silence for longer than idleTimeoutMs', async () => {
    const clock = new SleepClock();
    await using t = await startFaultClient(inTurn(list(5), stream(added('a', 6)), stream(added('b', 7))), { clock });
    const f = follow(t.client, { idleTimeoutMs: 60_000 });
    await f.received(3);
    await clock.advance(60_000);
    await clock.sleeping(1);
    expect(isTimeoutError(f.retries[0])).toBe(true);
    await clock.advance(clock.sleeps[0] as number);
    await f.received(4);
    expect(f.events).toEqual(['RESET', 'SYNCED 5', 'ADDED a 6', 'ADDED b 7']);
    expect(whatsOf(t)).toEqual(['list', 'watch 5', 'watch 6']);
    f.watching.stop();
  });

  test('through any faults: 25 seeds of a server with a history', async () => {
    for (let seed = 1; seed <= 25; seed++) {
      const random = seededRandom(seed);
      const clock = new SleepClock({ skips: true });
      const history = Array.from({ length: 30 }, (_, i) => added(`c${i}`, 101 + i));
      const script: FaultScript = async (request, reply) => {
        if (what(request) === 'list') return list(100)(reply, request);
        return misbehave(reply, random, history.slice(Number(queryOf(request).get('resourceVersion')) - 100));
      };
      await using t = await startFaultClient(script, { clock });
      const f = follow(t.client);
      await f.received(2 + history.length);
      const expected = history.map((_, i) => `ADDED c${i} ${101 + i}`);
      expect(f.events, `seed ${seed}`).toEqual(['RESET', 'SYNCED 100', ...expected]);
      expect(t.server.requests.length).toBeGreaterThan(2);
      f.watching.stop();
    }
  });
});

/** Sends some of it, cut at any byte, and ends in any way. */
async function misbehave(reply: FaultReply, random: Random, lines: readonly string[]): Promise<void> {
  const refusal = random.int(0, 8);
  if (refusal === 0) return reply.status(random.pick([500, 502, 503, 504]));
  if (refusal === 1) return reply.status(429, { 'retry-after': '3' });
  if (refusal === 2) return reply.reset();
  if (refusal === 3) return reply.send(502, '<html><body>Bad Gateway</body></html>', { 'content-type': 'text/html' });
  const bytes = Buffer.from(lines.join(''));
  const end = Math.min(bytes.length, random.int(0, 1500));
  reply.head(200, json);
  for (let at = 0; at < end; ) {
    const to = Math.min(end, at + random.int(1, 200));
    reply.chunk(bytes.subarray(at, to));
    at = to;
  }
  // Read or not: an event that a reset overtakes was not seen, and comes again.
  await turns(random.int(0, 3));
  return [() => reply.reset(), () => reply.close(), () => reply.end()][random.int(0, 2)]?.();
}

describe('starts over', () => {
  const expiries: readonly [string, Step][] = [
    ['an ERROR event of code 410', stream(errorLine(410, 'Expired', 'too old resource version'))],
    ['a watch refused with 410', (reply) => reply.send(410, failure(410, 'Expired', 'too old resource version'))],
  ];
  test.each(expiries)('after %s: at once, with RESET and SYNCED around all that exists', async (_, expire) => {
    const clock = new SleepClock({ skips: true });
    await using t = await startFaultClient(
      inTurn(
        list(5, 'a'),
        stream(added('b', 6), (reply) => reply.end()),
        expire,
        list(50, 'b', 'c'),
        stream(added('d', 51)),
      ),
      { clock },
    );
    const f = follow(t.client);
    await f.received(9);
    expect(f.events.slice(3)).toEqual(['ADDED b 6', 'RESET', 'ADDED b 50', 'ADDED c 50', 'SYNCED 50', 'ADDED d 51']);
    expect(whatsOf(t)).toEqual(['list', 'watch 5', 'watch 6', 'list', 'watch 50']);
    expect(f.retries.map(isResourceExpired)).toEqual([true]);
    expect(clock.monotonic()).toBe(0);
    f.watching.stop();
  });

  test.each(['reset', 'close', 'end'] as const)('when the list breaks off half-way (%s)', async (how) => {
    const clock = new SleepClock({ skips: true });
    const body = configMapList(5, [configMap('a', 5), configMap('b', 5)]);
    await using t = await startFaultClient(
      inTurn(
        stream(body.slice(0, -40), (reply) => reply[how]()),
        list(7, 'b'),
      ),
      { clock },
    );
    const f = follow(t.client);
    await f.received(5);
    expect(f.events).toEqual(['RESET', 'ADDED a 5', 'RESET', 'ADDED b 7', 'SYNCED 7']);
    expect(f.retries).toHaveLength(1);
    expect(f.retries[0]?.message).toMatch(/1 items? came before/);
    f.watching.stop();
  });
});

describe('waits', () => {
  test.each(['list', 'watch'])('as long as a 429 on the %s asks for, and not less', async (at) => {
    const clock = new SleepClock();
    const busy: Step = (reply) => reply.status(429, { 'retry-after': '17' });
    const steps = at === 'list' ? [busy, list(5)] : [list(5), busy];
    await using t = await startFaultClient(inTurn(...steps, stream(added('a', 6))), { clock });
    const f = follow(t.client);
    await clock.sleeping(1);
    const before = t.server.requests.length;
    await clock.advance(16_999);
    await turns();
    expect(t.server.requests).toHaveLength(before);
    await clock.advance(1);
    await f.received(3);
    expect(f.events).toEqual(['RESET', 'SYNCED 5', 'ADDED a 6']);
    f.watching.stop();
  });

  test('ever longer while a server is down, up to half a minute or so, and is not given up', async () => {
    const clock = new SleepClock({ skips: true });
    const down: Step = (reply) => reply.status(500);
    await using t = await startFaultClient(
      inTurn(list(5), ...Array.from({ length: 12 }, () => down), stream(added('a', 6))),
      {
        clock,
      },
    );
    const f = follow(t.client);
    await f.received(3);
    expect(f.events).toEqual(['RESET', 'SYNCED 5', 'ADDED a 6']);
    expect(whatsOf(t).slice(1)).toEqual(Array.from({ length: 13 }, () => 'watch 5'));
    expect(clock.sleeps).toHaveLength(12);
    for (const [i, ms] of clock.sleeps.entries()) {
      const least = Math.min(800 * 2 ** i, 30_000);
      expect(ms).toBeGreaterThanOrEqual(least);
      expect(ms).toBeLessThanOrEqual(2 * least);
    }
    f.watching.stop();
  });

  test('ever longer for a server that ends every watch at once, which would be asked again and again', async () => {
    const clock = new SleepClock({ skips: true });
    const short = stream('', (reply) => reply.end());
    await using t = await startFaultClient(
      inTurn(list(5), ...Array.from({ length: 6 }, () => short), stream(added('a', 6))),
      { clock },
    );
    const f = follow(t.client);
    await f.received(3);
    expect(clock.sleeps.map((ms, i) => ms >= 800 * 2 ** i)).toEqual([true, true, true, true, true, true]);
    for (const request of t.server.requests.slice(1)) {
      expect(queryOf(request).get('allowWatchBookmarks')).toBe('true');
      expect(what(request)).toBe('watch 5');
    }
    f.watching.stop();
  });

  test('no longer than the first time after an event has come', async () => {
    const clock = new SleepClock({ skips: true });
    const down: Step = (reply) => reply.status(503);
    const some = (name: string, rv: number) => stream(added(name, rv), (reply) => reply.reset());
    await using t = await startFaultClient(inTurn(list(5), down, down, down, some('a', 6), some('b', 7)), { clock });
    const f = follow(t.client);
    await f.received(4);
    await clock.sleeping(5);
    expect(clock.sleeps[2]).toBeGreaterThanOrEqual(3200);
    expect(Math.max(...clock.sleeps.slice(3, 5))).toBeLessThanOrEqual(1600);
    f.watching.stop();
  });

  test('for a server that comes back on its port, and continues there', async () => {
    const clock = new SleepClock();
    const before = await startOnOwnPort(inTurn(list(5), stream(added('a', 6))));
    const { port } = before;
    await using client = connect(before, { clock });
    const f = follow(client);
    await f.received(3);
    await before.close();
    // The connection is lost; then it is refused, twice.
    for (let sleep = 0; sleep < 2; sleep++) {
      await clock.sleeping(sleep + 1);
      await clock.advance(clock.sleeps[sleep] as number);
    }
    await clock.sleeping(3);
    expect(f.retries.map((error) => isTransportError(error))).toEqual([true, true, true]);
    expect(f.retries.map(isConnectionRefused)).toEqual([false, true, true]);
    await using after = await startFaultServer(inTurn(stream(added('b', 7))), { port });
    await clock.advance(clock.sleeps[2] as number);
    await f.received(4);
    expect(f.events).toEqual(['RESET', 'SYNCED 5', 'ADDED a 6', 'ADDED b 7']);
    expect(after.requests.map(what)).toEqual(['watch 6']);
    f.watching.stop();
    expect(await f.outcome).toBe(undefined);
  });
});

/** On a port that is never assigned, unlike those of `listen(0)`: it is still free when its server comes back. */
async function startOnOwnPort(script: FaultScript): Promise<FaultServer> {
  for (;;) {
    try {
      return await startFaultServer(script, { port: systemRandom.int(10_000, 19_999) });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
}

describe('gives up', () => {
  test.each([401, 403, 404, 400])('on what waiting cannot mend: %i', async (code) => {
    await using t = await startFaultClient(inTurn(list(5), (reply) => reply.status(code)));
    const f = follow(t.client);
    expect(await f.outcome).toMatchObject({ name: 'ApiError', code });
    expect(f.events).toEqual(['RESET', 'SYNCED 5']);
    expect(f.retries).toEqual([]);
  });

  test('never on 429 without Retry-After, which it reports', async () => {
    const clock = new SleepClock({ skips: true });
    await using t = await startFaultClient(
      inTurn(list(5), (reply) => reply.status(429), stream(added('a', 6))),
      { clock },
    );
    const f = follow(t.client);
    await f.received(3);
    expect(f.retries.map(isTooManyRequests)).toEqual([true]);
    f.watching.stop();
  });
});
