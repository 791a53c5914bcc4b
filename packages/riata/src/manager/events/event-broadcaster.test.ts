import { describe, expect, test } from 'vitest';
import { TransportError } from '../../rest/errors/transport-error.js';
import { memoryLogger } from '../../runtime/log/memory-logger.js';
import { memoryMetrics } from '../../runtime/metrics.js';
import { seededRandom } from '../../runtime/random.js';
import { onAbort } from '../../runtime/signals.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { cart, RecordingClient, refusal } from './event.fixture.js';
import { EventBroadcaster, type EventBroadcasterOptions } from './event-broadcaster.js';
import type { EventInput } from './event-recorder.js';

const minute = 60_000;
const reset = () => new TransportError('reset', { kind: 'reset', requestSent: true });

function setUp(options: EventBroadcasterOptions = {}) {
  const clock = new VirtualClock();
  const log = memoryLogger();
  const metrics = memoryMetrics();
  const server = new RecordingClient();
  const broadcaster = new EventBroadcaster(server.client, {
    ...options,
    instance: 'host-1',
    runtime: { clock, log, metrics, random: seededRandom(1) },
  });
  const recorder = broadcaster.recorder('carts');
  const stop = new AbortController();
  let ended = false;
  const run = async () => {
    void broadcaster.run({ signal: stop.signal }).then(() => {
      ended = true;
    });
    await clock.settle();
  };
  const end = async () => {
    stop.abort();
    await clock.settle();
    return ended;
  };
  const say = (message: string, input: Partial<EventInput> = {}) =>
    recorder.event(cart(), { type: 'Normal', reason: 'Filled', message, ...input });
  const counted = (result: string) => metrics.value('riata_events_total', { result }) ?? 0;
  return { clock, log, server, broadcaster, recorder, run, end, say, counted, ended: () => ended };
}

describe('an event', () => {
  test('is written into the namespace of its object', async () => {
    const { server, run, end, say, counted } = setUp();
    await run();
    say('filled', { fieldPath: 'spec.items', action: 'Fill', related: cart('other'), annotations: { a: 'b' } });
    expect(server.sent).toEqual([]);
    expect(await end()).toBe(true);
    expect(server.sent).toMatchObject([
      {
        verb: 'create',
        apiVersion: 'v1',
        namespace: 'shop',
        body: {
          metadata: { annotations: { a: 'b' } },
          involvedObject: { kind: 'Cart', name: 'cart', namespace: 'shop', uid: 'uid-cart', fieldPath: 'spec.items' },
          related: { name: 'other' },
          ...{ type: 'Normal', reason: 'Filled', message: 'filled', action: 'Fill', count: 1 },
          ...{ reportingComponent: 'carts', reportingInstance: 'host-1' },
        },
      },
    ]);
    expect(counted('written')).toBe(1);
  });

  test('of a cluster-scoped object goes into default', async () => {
    const { server, recorder, run, end } = setUp();
    await run();
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } };
    recorder.event(node, { type: 'Warning', reason: 'Hot', message: 'too hot' });
    await end();
    expect(server.sent).toMatchObject([{ namespace: 'default', body: { involvedObject: { name: 'n1' } } }]);
  });

  test('that makes no sense is logged, and never throws', async () => {
    const { log, server, recorder, run, end, say } = setUp();
    await run();
    say('x', { type: 'Panic' as never });
    say('x', { reason: '' });
    say('x', { message: 7n as never });
    recorder.event(cart(), undefined as never);
    recorder.event({ kind: 'Cart' } as never, { type: 'Normal', reason: 'Filled', message: 'x' });
    recorder.event(undefined as never, { type: 'Normal', reason: 'Filled', message: 'x' });
    say('x', { reason: 7n as never });
    say('x', { related: { ...cart(), kind: 7n } as never });
    say('x', { related: { ...cart(), metadata: { name: 'x', uid: 7n } } as never });
    await end();
    expect(server.sent).toEqual([]);
    expect(log.messages('error')).toEqual(Array.from({ length: 9 }, () => 'cannot record an event'));
  });

  test.each(['v1', 'events.k8s.io/v1'] as const)(
    'of %s that cannot be dealt with keeps no other from being told',
    async (api) => {
      const { server, log, run, end, say, counted } = setUp({ api });
      await run();
      say('odd', { annotations: { a: 7n } as never, action: 7n as never });
      say('odd', { action: 7n as never });
      say('plain');
      expect(await end()).toBe(true);
      expect(server.sent.at(-1)).toMatchObject({ body: { reason: 'Filled' } });
      expect(counted('written')).toBeGreaterThan(0);
      expect(log.messages('error').every((message) => message === 'cannot record an event')).toBe(true);
    },
  );

  test('a repetition changes the first one; if that was deleted, it is created again', async () => {
    const { clock, server, run, end, say } = setUp();
    await run();
    say('same');
    say('same');
    await clock.settle();
    server.answer = ({ verb }) => {
      if (verb === 'patch') throw refusal(404, 'NotFound');
    };
    say('same');
    await end();
    expect(server.verbs).toEqual(['create', 'patch', 'patch', 'create']);
    expect(server.sent[3]).toMatchObject({ name: server.sent[0]?.name, body: { count: 3 } });
  });
});

describe('failures', () => {
  test('that may pass are tried again, twelve times in all, while the others wait', async () => {
    const { clock, server, log, run, end, say, counted } = setUp();
    await run();
    server.answer = ({ body }) => {
      if (body.message === 'first') throw reset();
    };
    say('first');
    say('second');
    await clock.advance(10_000);
    expect(server.verbs).toEqual(['create', 'create']);
    await clock.advance(80_000);
    expect(server.sent.every(({ body }) => body.message === 'first')).toBe(true);
    await clock.advance(20_000);
    expect(server.sent.map(({ body }) => body.message)).toEqual([
      ...Array.from({ length: 12 }, () => 'first'),
      'second',
    ]);
    expect([counted('failed'), counted('written')]).toEqual([1, 1]);
    expect(log.messages('warn')).toEqual(['cannot write an event']);
    await end();
  });

  test('of a server that is busy or broken pass', async () => {
    const { clock, server, run, end, say, counted } = setUp();
    await run();
    const failures = [
      refusal(503, 'ServiceUnavailable'),
      refusal(429, 'TooManyRequests'),
      refusal(500, 'InternalError'),
    ];
    server.answer = () => {
      const failure = failures.shift();
      if (failure) throw failure;
    };
    say('filled');
    await clock.advance(minute);
    expect(counted('written')).toBe(1);
    expect(server.sent).toHaveLength(4);
    await end();
  });

  test('an answer that was lost: it is there already', async () => {
    const { clock, server, log, run, end, say, counted } = setUp();
    await run();
    const failures = [reset(), refusal(409, 'AlreadyExists')];
    server.answer = () => {
      throw failures.shift();
    };
    say('filled');
    await clock.advance(minute);
    expect(counted('written')).toBe(1);
    expect(log.messages('warn')).toEqual([]);
    await end();
  });

  test('for good are not tried again, and each sort is logged once', async () => {
    const { clock, server, log, run, end, say, counted } = setUp();
    await run();
    server.answer = () => {
      throw refusal(403, 'Forbidden');
    };
    for (let n = 0; n < 5; n += 1) say(`message ${n}`);
    await clock.settle();
    server.answer = () => {
      throw refusal(422, 'Invalid');
    };
    say('invalid');
    say('invalid');
    say('invalid', { reason: 'Emptied' });
    await clock.settle();
    expect(server.sent).toHaveLength(8);
    expect(counted('refused')).toBe(8);
    const reported = log.records.filter(({ level }) => level === 'warn').map(({ fields }) => fields);
    expect(reported.map(({ reason }) => reason)).toEqual(['Filled', 'Filled', 'Emptied']);
    expect(reported.every(({ event }) => /^v1 Event shop\/cart\./.test(String(event)))).toBe(true);
    await end();
  });
});

describe('the line', () => {
  test('holds so many, and drops the rest', async () => {
    const { clock, server, log, run, end, say, counted } = setUp({ queueSize: 4, correlator: { maxEvents: 100 } });
    for (let n = 0; n < 10; n += 1) say(`message ${n}`);
    expect(counted('dropped')).toBe(6);
    expect(log.messages('warn')).toEqual(['dropping events, too many wait to be written']);
    await run();
    await clock.settle();
    expect(server.sent.map(({ body }) => body.message)).toEqual([0, 1, 2, 3].map((n) => `message ${n}`));
    expect(log.records.filter(({ level }) => level === 'warn').at(-1)).toMatchObject({
      message: 'events dropped, too many waited to be written',
      fields: { dropped: 6 },
    });
    await end();
  });

  test('a server that never answers blocks no recorder', async () => {
    const { clock, server, run, say, counted, end, ended } = setUp({ queueSize: 3 });
    server.answer = (_, signal) =>
      new Promise((_resolve, reject) => void onAbort(signal, () => reject(signal?.reason)));
    await run();
    for (let n = 0; n < 10; n += 1) {
      say(`message ${n}`);
      await clock.settle();
    }
    expect(counted('dropped')).toBe(6);
    expect(await end()).toBe(false);
    await clock.advance(4_999);
    expect(ended()).toBe(false);
    await clock.advance(1);
    expect(ended()).toBe(true);
    expect(clock.pending).toBe(0);
    // One was on its way, the others waited.
    expect(counted('failed')).toBe(4);
  });
});

describe('stopping', () => {
  test('writes what waits', async () => {
    const { server, run, end, say, clock } = setUp({ correlator: { maxEvents: 100 } });
    await run();
    for (let n = 0; n < 20; n += 1) say(`message ${n}`);
    expect(await end()).toBe(true);
    expect(server.sent).toHaveLength(20);
    expect(clock.pending).toBe(0);
  });

  test('tries what failed once more, and waits no longer', async () => {
    const { clock, server, log, run, end, say, counted } = setUp();
    server.answer = () => {
      throw reset();
    };
    await run();
    say('first');
    say('second');
    await clock.settle();
    expect(server.sent).toHaveLength(1);
    expect(await end()).toBe(true);
    expect(server.sent.map(({ body }) => body.message)).toEqual(['first', 'first', 'second']);
    expect(counted('failed')).toBe(2);
    expect(log.messages('warn')).toHaveLength(2);
  });

  test('what comes later is dropped', async () => {
    const { server, run, end, say, counted } = setUp();
    await run();
    await end();
    say('late');
    expect([server.sent.length, counted('dropped')]).toEqual([0, 1]);
  });

  test('one that never ran writes what waits', async () => {
    const { server, broadcaster, say, clock } = setUp();
    say('filled');
    const closing = broadcaster.close();
    await clock.settle();
    await closing;
    await broadcaster.close();
    expect(server.verbs).toEqual(['create']);
    expect(clock.pending).toBe(0);
  });
});

describe('events.k8s.io/v1', () => {
  test('series begin, go on, are refreshed and end', async () => {
    const { clock, server, run, end, say, counted } = setUp({ api: 'events.k8s.io/v1' });
    await run();
    say('filled');
    say('filled again');
    await clock.settle();
    expect(server.sent).toMatchObject([
      { verb: 'create', apiVersion: 'events.k8s.io/v1', body: { note: 'filled', action: 'Filled' } },
      { verb: 'patch', body: { series: { count: 2 } } },
    ]);
    for (let n = 0; n < 31; n += 1) {
      say('filled again');
      await clock.advance(minute);
    }
    expect(counted('counted')).toBe(31);
    expect(server.sent).toHaveLength(3);
    expect(server.sent[2]).toMatchObject({ verb: 'patch', body: { series: { count: 32 } } });
    await clock.advance(12 * minute);
    expect(server.sent.slice(3)).toMatchObject([{ verb: 'patch', body: { series: { count: 33 } } }]);
    say('filled');
    await clock.settle();
    expect(server.sent[4]).toMatchObject({ verb: 'create' });
    expect(server.sent[4]?.name).not.toBe(server.sent[0]?.name);
    await end();
  });

  test('stopping writes the last count', async () => {
    const { clock, server, run, end, say } = setUp({ api: 'events.k8s.io/v1' });
    await run();
    for (let n = 0; n < 7; n += 1) say('filled');
    expect(await end()).toBe(true);
    expect(server.sent.map(({ verb, body }) => [verb, (body.series as { count: number } | undefined)?.count])).toEqual([
      ['create', undefined],
      ['patch', 2],
      ['patch', 7],
    ]);
    expect(clock.pending).toBe(0);
  });

  test('a line that holds nothing is refused', () => {
    expect(() => setUp({ queueSize: 0 })).toThrow('EventBroadcaster: queueSize must be ≥ 1, got 0');
    expect(() => setUp({ queueSize: Number.NaN })).toThrow('got NaN');
  });

  test('another API is refused', () => {
    expect(() => setUp({ api: 'v2' as never })).toThrow('api must be "v1" or "events.k8s.io/v1", got "v2"');
  });
});
