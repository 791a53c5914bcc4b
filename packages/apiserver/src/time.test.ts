import { createClient } from 'riata';
import { ConfigMap, Event, Pod } from 'riata/kinds';
import { isResourceExpired, isTransportError } from 'riata/rest';
import { type Random, seededRandom, silentLogger, VirtualClock } from 'riata/runtime';
import { describe, expect, test } from 'vitest';
import { ApiServer } from './api-server.js';
import { randomFaults } from './faults.js';

const log = silentLogger;
const namespace = 'default';
const minuteMs = 60_000;
const thing = (name: string) => ConfigMap({ metadata: { namespace, name } });

async function start() {
  const clock = new VirtualClock();
  const server = await ApiServer.start({ clock, log, random: seededRandom(1) });
  return { clock, server, client: createClient(server.config, { runtime: { clock, log, random: seededRandom(2) } }) };
}

describe('on a clock that a test moves', () => {
  test('watches end after their timeoutSeconds', async () => {
    const { clock, server, client } = await start();
    await using _ = server;
    const { resourceVersion } = (await client.list(ConfigMap, { namespace })).metadata;
    const watch = await client.watch(ConfigMap, { namespace, resourceVersion, timeoutSeconds: 240 });
    let ended = false;
    const reading = (async () => {
      for await (const event of watch) expect(event.type).toBe('BOOKMARK');
      ended = true;
    })();
    await clock.advance(239_999);
    expect(ended).toBe(false);
    await clock.advance(1);
    expect(ended).toBe(true);
    await reading;
  });

  test('watches bring bookmarks that a client can go on from', async () => {
    const { clock, server, client } = await start();
    await using _ = server;
    const { resourceVersion } = (await client.list(Pod, { namespace })).metadata;
    const watch = await client.watch(Pod, { namespace, resourceVersion });
    const first = watch[Symbol.asyncIterator]().next();
    const last = await client.create(thing('a'));
    await clock.advance(1.25 * minuteMs);
    const event = (await first).value;
    expect(event).toMatchObject({ type: 'BOOKMARK', object: { kind: 'Pod' } });
    expect(event?.type === 'BOOKMARK' && event.object.metadata.resourceVersion).toBe(last.metadata.resourceVersion);
    watch.stop();
  });

  test('the past is forgotten after five minutes', async () => {
    const { clock, server, client } = await start();
    await using _ = server;
    const { resourceVersion } = (await client.create(thing('a'))).metadata;
    await client.create(thing('b'));
    const then = () => client.list(ConfigMap, { namespace, resourceVersion, resourceVersionMatch: 'Exact' });
    await clock.advance(5 * minuteMs);
    await client.create(thing('c'));
    expect((await then()).items.map((item) => item.metadata.name)).not.toContain('b');
    await clock.advance(minuteMs);
    await client.create(thing('d'));
    await expect(then()).rejects.toSatisfy(isResourceExpired);
    const watch = await client.watch(ConfigMap, { namespace, resourceVersion });
    const event = (await watch[Symbol.asyncIterator]().next()).value;
    expect(event?.type === 'ERROR' && isResourceExpired(event.error)).toBe(true);
  });

  test('objects carry its times, and Pods their grace', async () => {
    const { clock, server, client } = await start();
    await using _ = server;
    const spec = { nodeName: 'n', containers: [{ name: 'a', image: 'a' }] };
    const key = { namespace, name: 'p' };
    const made = await client.create(Pod({ metadata: key, spec }));
    expect(made.metadata.creationTimestamp).toBe('2026-01-01T00:00:00Z');
    await clock.advance(10 * minuteMs);
    await client.delete(Pod, key);
    const metadata = async () => (await client.get(Pod, key)).metadata;
    expect(await metadata()).toMatchObject({
      deletionTimestamp: '2026-01-01T00:10:30Z',
      deletionGracePeriodSeconds: 30,
    });
    await clock.advance(5_000);
    await client.delete(Pod, key, { gracePeriodSeconds: 10 });
    expect(await metadata()).toMatchObject({
      deletionTimestamp: '2026-01-01T00:10:10Z',
      deletionGracePeriodSeconds: 10,
    });
    await client.delete(Pod, key, { gracePeriodSeconds: 0 });
    expect(await client.find(Pod, key)).toBeUndefined();
  });

  test('Events expire an hour after their last change, and watches show it', async () => {
    const { clock, server, client } = await start();
    const event = (name: string) =>
      Event({ metadata: { namespace, name }, involvedObject: { kind: 'Pod', namespace, name: 'p' } });
    await client.create(event('a'));
    await clock.advance(30 * minuteMs);
    await client.create(event('b'));
    const { resourceVersion } = (await client.list(Event, { namespace })).metadata;
    const watch = await client.watch(Event, { namespace, resourceVersion, timeoutSeconds: 4 * 60 * 60 });
    const seen: string[] = [];
    const watching = (async () => {
      for await (const reported of watch) {
        if (reported.type === 'MODIFIED' || reported.type === 'DELETED')
          seen.push(`${reported.type} ${reported.object.metadata.name}`);
        if (seen.length === 3) break;
      }
    })();
    await clock.advance(20 * minuteMs);
    await client.patch(Event, { namespace, name: 'a' }, { type: 'merge', body: { count: 2 } });
    await clock.advance(41 * minuteMs);
    expect((await client.list(Event, { namespace })).items.map(({ metadata }) => metadata.name)).toEqual(['a']);
    await clock.advance(20 * minuteMs);
    expect((await client.list(Event, { namespace })).items).toEqual([]);
    await watching;
    expect(seen).toEqual(['MODIFIED a', 'DELETED b', 'DELETED a']);
    await server.stop();
    expect(clock.pending).toBe(0);
  });

  test('a server that is stopped leaves no timer behind', async () => {
    const { clock, server, client } = await start();
    const watch = await client.watch(ConfigMap, { namespace });
    const reading = (async () => {
      for await (const event of watch) void event;
    })().catch((error: unknown) => error);
    await client.create(thing('a'));
    await server.stop();
    await clock.settle();
    await reading;
    expect(clock.pending).toBe(0);
  });
});

describe('a whole stack', () => {
  /** Two clients with bad luck write and watch; the server restarts and forgets. What each sees is written down. */
  async function play(seed: number): Promise<string[]> {
    const clock = new VirtualClock();
    const random = seededRandom(seed);
    const fork = (): Random => seededRandom(random.int(0, 2 ** 31));
    await using server = await ApiServer.start({ clock, log, random: fork(), cuts: fork() });
    const trace: string[] = [];
    const note = (...parts: readonly unknown[]) => trace.push([clock.monotonic(), ...parts].join(' '));
    const rates = { fail: 0.05, cut: 0.05, cutWatch: 0.7, delayMs: 300 };
    const connect = (name: string) => {
      const faults = randomFaults(fork(), rates);
      return createClient(server.connect({ name, faults, cuts: fork() }), { runtime: { clock, log, random: fork() } });
    };
    const watches = ['one', 'two'].map((name) => {
      const watch = connect(name).retryingWatch(ConfigMap, { namespace, onRetry: () => note(name, 'tries again') });
      const known = new Map<string, string>();
      const reading = (async () => {
        for await (const event of watch) {
          if (event.type === 'RESET') known.clear();
          if (!('object' in event) || event.type === 'BOOKMARK') {
            note(name, event.type);
            continue;
          }
          const { metadata } = event.object;
          if (event.type === 'DELETED') known.delete(metadata.name);
          else known.set(metadata.name, metadata.resourceVersion);
          note(name, event.type, metadata.name, metadata.uid, metadata.resourceVersion);
        }
      })();
      return { watch, reading, known };
    });
    const writing = (async () => {
      const client = connect('writer');
      const odds = fork();
      for (let i = 0; i < 40; i++) {
        await clock.sleep(odds.int(0, 500));
        const object = ConfigMap({ metadata: { namespace, generateName: 'w-' } });
        const made = await client.create(object).catch((error: unknown) => {
          note('writer', isTransportError(error) ? error.kind : error);
          return undefined;
        });
        if (made !== undefined && odds.next() < 0.5) {
          await client.delete(ConfigMap, made.metadata).catch(() => note('writer', 'could not delete'));
        }
        if (i === 20) await server.restart({ downMs: 1_000 });
        if (i === 30) server.compact();
      }
    })();
    let written = false;
    void writing.then(() => {
      written = true;
    });
    while (!written) await clock.advance(1_000);
    // The watches catch up.
    await clock.advance(60_000);
    const steady = createClient(server.config, { runtime: { clock, log, random: fork() } });
    const { items } = await steady.list(ConfigMap, { namespace });
    const real = items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]);
    for (const { known } of watches) expect([...known].sort()).toEqual(real.sort());
    for (const { watch } of watches) watch.stop();
    await clock.settle();
    await Promise.all(watches.map(({ reading }) => reading));
    return trace;
  }

  test('does the same again with the same seed, faults and restarts included', async () => {
    const first = await play(1);
    expect(first.length).toBeGreaterThan(60);
    expect(first.some((line) => line.includes('tries again'))).toBe(true);
    expect(first.filter((line) => line.endsWith('RESET')).length).toBeGreaterThan(2);
    expect(await play(1)).toEqual(first);
    expect(await play(2)).not.toEqual(first);
  });
});
