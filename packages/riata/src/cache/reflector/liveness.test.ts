import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../object/meta.js';
import type { WatchEvent } from '../../rest/stream/watch-event.js';
import { watchStream } from '../../rest/stream/watch-stream.js';
import { Script } from '../../rest/transport/scripted-exchange.fixture.js';
import { silentLogger } from '../../runtime/log/logger.js';
import { seededRandom } from '../../runtime/random.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { createStore } from '../store/indexer.js';
import type { WatchSource } from './list-watch.js';
import { Liveness } from './liveness.js';
import { MachineSleep } from './machine-sleep.js';
import { added, bookmark, hangs, list, modified, reflect, watch } from './reflector.fixture.js';
import { Reflector } from './reflector.js';

const name = { name: 'things.test.riata.dev' };

describe('Reflector: a watch that falls silent', () => {
  test('is replaced by one that continues where it was: no list, no event lost, none twice', async () => {
    const t = reflect({ steps: [list(10, 'a1'), watch(added('b11'), bookmark(12))] });
    await t.start();
    const [dead] = t.watches;
    await t.clock.advance(74_999);
    expect(t.watches).toHaveLength(1);
    await t.clock.advance(15_001);
    expect(t.whats()).toEqual(['list "0" limit 500', 'watch "10"', 'watch "12"']);
    expect(dead?.isStopped).toBe(true);
    // What the old one still says is what the new one says, too.
    dead?.push(modified('a13'));
    await t.push(modified('a13'), added('c14'));
    expect(t.calls.slice(1)).toEqual(['add b11', 'bookmark 12', 'update a13', 'add c14']);
    expect(t.errors).toEqual([]);
    expect(t.reflector.health).toMatchObject({ phase: 'watching', consecutiveFailures: 0 });
    expect(t.metrics.value('reflector_silent_watches_total', name)).toBe(1);
  });

  test('events and bookmarks are signs of life: a watch that has them stays', async () => {
    const t = reflect({ steps: [list(10, '')] });
    await t.start();
    for (let i = 0; i < 20; i += 1) {
      await t.clock.advance(70_000);
      await t.push(i % 2 === 0 ? bookmark(11 + i) : added(`x${11 + i}`));
    }
    expect(t.watches).toHaveLength(1);
    expect(t.reflector.health.lastEventMs).toBe(0);
    await t.clock.advance(60_000);
    expect(t.reflector.health.lastEventMs).toBe(60_000);
  });

  test('seconds, where asked for; on a server without bookmarks it continues so, always from where it was', async () => {
    const t = reflect({ steps: [list(10, '')], silence: '2s' });
    await t.start();
    await t.clock.advance(60_000);
    expect(t.watches.length).toBeGreaterThanOrEqual(25);
    expect(t.watches.length).toBeLessThanOrEqual(31);
    expect(new Set(t.whats().slice(1))).toEqual(new Set(['watch "10"']));
    expect(t.watches.filter(({ isStopped }) => !isStopped)).toHaveLength(1);
    expect(t.errors).toEqual([]);
    await t.push(added('a11'));
    await t.clock.advance(3_000);
    expect(t.whats().at(-1)).toBe('watch "11"');
  });

  test('never, where it is left to the transport', async () => {
    const t = reflect({ steps: [list(10, '')], silence: 'never' });
    await t.start();
    await t.clock.advance(3_600_000);
    expect(t.watches).toHaveLength(1);
    expect(t.last().options.idleTimeoutMs).toBe(undefined);
    expect(t.clock.pending).toBe(0);
    expect(() => reflect({ steps: [], silence: '0s' })).toThrow('silence must be more than 0 or "never"');
  });

  test('jitter: fifty watches that fall silent together do not come back together', async () => {
    const clock = new VirtualClock();
    const random = seededRandom(7);
    const all = Array.from({ length: 50 }, () => reflect({ steps: [list(10, '')], runtime: { clock, random } }));
    for (const each of all) await each.start();
    await clock.advance(90_000);
    const at = all.map(({ requests }) => requests[2]?.at ?? 0).sort((a, b) => a - b);
    expect(at[0]).toBeGreaterThanOrEqual(75_000);
    expect(at.at(-1)).toBeLessThanOrEqual(90_000);
    const perSecond = new Map<number, number>();
    for (const time of at) perSecond.set(Math.floor(time / 1000), (perSecond.get(Math.floor(time / 1000)) ?? 0) + 1);
    expect(Math.max(...perSecond.values())).toBeLessThanOrEqual(12);
  });

  test('a watch that never begins to answer is given up, reported, and retried', async () => {
    const t = reflect({ steps: [list(10, ''), hangs, watch()], silence: '2s' });
    await t.start();
    await t.clock.advance(30_000);
    expect(t.requests).toHaveLength(2);
    await t.until(3);
    expect(t.clock.monotonic()).toBeLessThan(38_000);
    expect(t.errors[0]?.error.message).toContain('silent for too long');
    expect(t.whats().slice(1)).toEqual(['watch "10"', 'watch "10"']);
  });

  test('a list that falls silent is given up, too, but not before five minutes', async () => {
    const t = reflect({ steps: [{ consume: () => new Promise<never>(() => {}) }, list(10, 'a1'), watch()] });
    await t.start();
    await t.clock.advance(299_000);
    expect(t.requests).toHaveLength(1);
    await t.until(3);
    expect(t.errors[0]?.error.message).toContain('the list has been silent');
    expect(t.stored()).toBe('a1');
  });

  test('a source that can only be iterated is read as well, and left alone once it is replaced', async () => {
    const clock = new VirtualClock();
    const events: WatchEvent[] = [added('a11')];
    const source = (): WatchSource<KubeObject> => ({
      stop() {},
      async *[Symbol.asyncIterator]() {
        yield* events;
        await clock.sleep(100_000);
        yield added('late12');
      },
    });
    const t = reflect({ steps: [list(10, ''), { source: source() }], runtime: { clock } });
    await t.start();
    expect(t.calls).toEqual(['replace 10: ', 'add a11']);
    await clock.advance(110_000);
    expect(t.calls).toEqual(['replace 10: ', 'add a11']);
    expect(t.whats()).toEqual(['list "0" limit 500', 'watch "10"', 'watch "11"']);
  });
});

describe('Reflector: one timer for a stream', () => {
  const half = '{"type":"ADDED","object":{"kind":"Thing"';

  test('from its request to its end, incomplete events included', async () => {
    const clock = new VirtualClock();
    // The other one notices that the machine slept: one for all streams.
    const timers = () => clock.pending - 1;
    const server = new Script();
    const reflector = new Reflector(
      {
        list: async () => ({ apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '10' }, items: [] }),
        watch: ({ timer, signal }) => watchStream<KubeObject>(server, { clock, timer, signal }).open(),
      },
      createStore<KubeObject>(),
      { useWatchList: false, runtime: { clock, random: seededRandom(1), log: silentLogger } },
    );
    const stop = new AbortController();
    const running = reflector.run({ signal: stop.signal });
    await clock.settle();
    expect(timers()).toBe(1);
    server.headers();
    await clock.settle();
    expect(timers()).toBe(1);
    server.send(half);
    await clock.settle();
    expect(timers()).toBe(1);
    await clock.advance(29_999);
    expect(server.aborted).toBeUndefined();
    await clock.advance(1);
    expect(server.aborted).toMatchObject({
      message: expect.stringContaining('an event was still incomplete after 30 s'),
    });
    stop.abort();
    await running;
    expect(clock.pending).toBe(0);
  });
});

describe('Reflector: after the machine slept', () => {
  test('watches without a sign of life since are replaced within seconds, not together', async () => {
    const clock = new VirtualClock();
    const random = seededRandom(3);
    const all = Array.from({ length: 20 }, () => reflect({ steps: [list(10, '')], runtime: { clock, random } }));
    for (const each of all) await each.start();
    await clock.advance(7_000);
    // Its monotonic clock stood still meanwhile, as Linux has it.
    clock.setWall(clock.now() + 3_600_000);
    await clock.advance(7_000);
    const at = all.map(({ requests }) => requests[2]?.at ?? 0);
    expect(Math.min(...at)).toBeGreaterThanOrEqual(7_000);
    expect(Math.max(...at)).toBeLessThanOrEqual(14_000);
    expect(new Set(at).size).toBeGreaterThan(15);
    for (const each of all) expect(each.whats()).toEqual(['list "0" limit 500', 'watch "10"', 'watch "10"']);
    for (const each of all) expect(each.errors).toEqual([]);
  });

  test('one that shows a sign of life stays', async () => {
    const t = reflect({ steps: [list(10, '')], runtime: { random: { ...seededRandom(1), next: () => 0.999 } } });
    await t.start();
    t.clock.setWall(t.clock.now() + 3_600_000);
    await t.clock.advance(5_500);
    await t.push(bookmark(11));
    await t.clock.advance(30_000);
    expect(t.watches).toHaveLength(1);
  });

  test('a clock that is set a little, or back, is no sleep', async () => {
    const clock = new VirtualClock();
    let woke = 0;
    using _ = MachineSleep.on(clock).watch(() => {
      woke += 1;
    });
    for (const ms of [5_000, 9_000, -3_600_000, 0]) {
      clock.setWall(clock.now() + ms);
      await clock.advance(10_000);
    }
    expect(woke).toBe(0);
    clock.setWall(clock.now() + 20_000);
    await clock.advance(5_000);
    expect(woke).toBe(1);
    await clock.advance(60_000);
    expect(woke).toBe(1);
  });

  test('one timer for all watchers on a clock, none without watchers', async () => {
    const clock = new VirtualClock();
    const asking = [1, 2, 3].map(() => MachineSleep.on(clock).watch(() => {}));
    expect(clock.pending).toBe(1);
    await clock.advance(60_000);
    expect(clock.pending).toBe(1);
    for (const each of asking) each[Symbol.dispose]();
    expect(clock.pending).toBe(0);
  });
});

test('Liveness: sets no timer per sign, and none after it was disposed', async () => {
  const clock = new VirtualClock();
  const deaths: string[] = [];
  const alive = new Liveness({ clock, random: seededRandom(1), silenceMs: 10_000 }, (why) => deaths.push(why));
  for (let i = 0; i < 1_000; i += 1) alive.touch();
  expect(clock.pending).toBe(2);
  await clock.advance(9_000);
  alive.touch();
  await clock.advance(9_000);
  expect(deaths).toEqual([]);
  await clock.advance(4_000);
  expect(deaths).toEqual(['silent']);
  expect(clock.pending).toBe(0);
  alive[Symbol.dispose]();
});
