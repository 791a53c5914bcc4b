import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../runtime/random.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { notice } from './event.fixture.js';
import { type CorrelatorOptions, EventCorrelator } from './event-correlator.js';
import { EventNames } from './event-notice.js';
import { LruMap } from './lru-map.js';

function setUp(options: CorrelatorOptions = {}) {
  const clock = new VirtualClock();
  const correlator = new EventCorrelator(clock, new EventNames(seededRandom(1)), options);
  const say = (message: string, changes = {}) =>
    correlator.correlate(notice({ message, atMs: clock.now(), ...changes }));
  return { clock, correlator, say };
}

describe('repetitions', () => {
  test('is counted: one Event, then changes of it', async () => {
    const { clock, say } = setUp();
    const first = say('same');
    expect(first?.change).toBeUndefined();
    expect(first?.object).toMatchObject({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { namespace: 'shop' },
      count: 1,
      involvedObject: { kind: 'Cart', name: 'cart', uid: 'uid-cart' },
      source: { component: 'carts', host: 'host-1' },
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
    });
    expect(first?.key.name).toMatch(/^cart\.[0-9a-f]{16}$/);
    await clock.advance(5_000);
    const second = say('same');
    expect(second?.key).toEqual(first?.key);
    expect(second?.change).toEqual({ count: 2, lastTimestamp: '2026-01-01T00:00:05Z', message: 'same' });
    expect(second?.object).toMatchObject({ count: 2, firstTimestamp: '2026-01-01T00:00:00Z' });
  });

  test('of another object, reason, type or component is another Event', () => {
    const { say } = setUp();
    const names = [
      say('same'),
      say('same', { reason: 'Emptied' }),
      say('same', { type: 'Warning' }),
      say('same', { component: 'tills' }),
      say('same', { regarding: { ...notice().regarding, uid: 'another' } }),
    ].map((write) => write?.key.name);
    expect(new Set(names).size).toBe(5);
  });

  test('is forgotten when more is remembered than may be', () => {
    const { say } = setUp({ remembered: 2 });
    const [a, b, c] = ['a', 'b', 'c'].map((reason) =>
      say('m', { reason, regarding: { ...notice().regarding, name: reason } }),
    );
    expect([a, b, c].every((write) => write?.change === undefined)).toBe(true);
    const again = say('m', { reason: 'a', regarding: { ...notice().regarding, name: 'a' } });
    expect(again?.change).toBeUndefined();
    expect(again?.key).not.toEqual(a?.key);
  });
});

describe('what differs in the message alone', () => {
  test('is combined from the tenth message on', async () => {
    const { say } = setUp();
    const writes = Array.from({ length: 12 }, (_, n) => say(`message ${n}`));
    const messages = writes.map((write) => (write?.object as { message?: string } | undefined)?.message);
    expect(messages.slice(0, 9)).toEqual(Array.from({ length: 9 }, (_, n) => `message ${n}`));
    expect(messages.slice(9)).toEqual([9, 10, 11].map((n) => `(combined from similar events): message ${n}`));
    expect(writes[9]?.change).toBeUndefined();
    expect(writes[11]?.change).toMatchObject({ count: 3, message: '(combined from similar events): message 11' });
    expect(writes[11]?.key).toEqual(writes[9]?.key);
  });

  test('is not combined after a pause of more than ten minutes', async () => {
    const { clock, say } = setUp();
    for (let n = 0; n < 9; n += 1) say(`message ${n}`);
    await clock.advance(600_001);
    expect(say('message 9')?.object).toMatchObject({ message: 'message 9' });
  });

  test('a pause of just ten minutes does not count', async () => {
    const { clock, say } = setUp();
    for (let n = 0; n < 9; n += 1) say(`message ${n}`);
    await clock.advance(600_000);
    expect(say('message 9')?.object).toMatchObject({ message: '(combined from similar events): message 9' });
  });
});

describe('who says too much of an object', () => {
  test('is heard 25 times, then once in five minutes; all is counted', async () => {
    const { clock, say } = setUp();
    const received = () => say('same') !== undefined;
    expect(Array.from({ length: 30 }, received).filter(Boolean)).toHaveLength(25);
    await clock.advance(299_000);
    expect(received()).toBe(false);
    await clock.advance(1_001);
    expect(say('same')?.change).toMatchObject({ count: 32 });
    expect(received()).toBe(false);
  });

  test('is heard of others', () => {
    const { say } = setUp();
    for (let n = 0; n < 30; n += 1) say('same');
    expect(say('same', { regarding: { ...notice().regarding, uid: 'another' } })).toBeDefined();
    expect(say('same', { component: 'tills' })).toBeDefined();
    expect(say('other words')).toBeUndefined();
    // What is normal silences no warning.
    expect(say('same', { type: 'Warning' })).toBeDefined();
  });
});

describe('names', () => {
  test('differ within one millisecond', () => {
    const names = new EventNames(seededRandom(3));
    const made = Array.from({ length: 1_000 }, () => names.nameFor(notice()));
    expect(new Set(made).size).toBe(1_000);
  });

  test('are made up for objects whose names an Event cannot have', () => {
    const names = new EventNames(seededRandom(3));
    const of = (name: string) => names.nameFor(notice({ regarding: { ...notice().regarding, name } }));
    expect(of('system:node')).toMatch(/^event-[0-9a-f-]{36}$/);
    expect(of('a'.repeat(250))).toMatch(/^event-/);
  });
});

describe('LruMap', () => {
  test('forgets what was asked for longest ago, and gives it', () => {
    const map = new LruMap<number>(2);
    expect([map.set('a', 1), map.set('b', 2), map.get('a'), map.set('c', 3)]).toEqual([undefined, undefined, 1, 2]);
    expect([map.get('b'), map.get('a'), map.get('c'), map.size]).toEqual([undefined, 1, 3, 2]);
    expect(map.entries()).toEqual([
      ['a', 1],
      ['c', 3],
    ]);
  });

  test('refuses to remember nothing', () => {
    expect(() => new LruMap(0)).toThrow(/must be an integer ≥ 1, got 0/);
  });
});
