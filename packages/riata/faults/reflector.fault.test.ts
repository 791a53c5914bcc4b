import { createStore, listWatch, Reflector, type ReflectorOptions } from 'riata/cache';
import { ConfigMap } from 'riata/kinds';
import { seededRandom, silentLogger, VirtualClock } from 'riata/runtime';
import { expect, test } from 'vitest';
import { deferred, type FaultClient, startFaultClient, turns, withoutSecrets } from './fault-client.js';
import type { FaultReply, FaultRequest } from './fault-server.js';
import { added, configMap, configMapList, errorLine, eventLine, json, what } from './sample-objects.js';

/** A Reflector of this server's ConfigMaps, by LIST by default. */
function reflect(t: FaultClient, clock: VirtualClock, options: ReflectorOptions<ConfigMap> = {}) {
  const store = createStore<ConfigMap>();
  const seen: string[] = [];
  const errors: Error[] = [];
  const noting = {
    ...{ bookmark: store.bookmark.bind(store), resync: store.resync.bind(store) },
    add: (object: ConfigMap) => void seen.push(`add ${object.metadata.name}`),
    update: (object: ConfigMap) => void seen.push(`update ${object.metadata.name}`),
    delete: () => void seen.push('delete'),
    replace: (list: readonly ConfigMap[]) => void seen.push(`replace ${list.map((each) => each.metadata.name)}`),
  };
  const reflector = new Reflector(listWatch(t.client, ConfigMap), noting, {
    useWatchList: false,
    kind: ConfigMap,
    onError: (error) => errors.push(withoutSecrets(error)),
    ...options,
    runtime: { clock, random: seededRandom(1), log: silentLogger },
  });
  const stop = new AbortController();
  const done = reflector.run({ signal: stop.signal });
  return {
    ...{ reflector, seen, errors },
    whats: () => t.server.requests.map(what),
    /** Real sockets, virtual time: the clock moves only once all that was sent has come. */
    async saw(count: number): Promise<void> {
      while (seen.length < count) await turns(1);
    },
    async asked(count: number): Promise<void> {
      while (t.server.requests.length < count) await turns(1);
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await done;
    },
  };
}

/** Requests by number; those after the last hang, with headers sent. */
const inTurn =
  (...steps: readonly ((reply: FaultReply) => void | Promise<void>)[]) =>
  (request: FaultRequest, reply: FaultReply) =>
    (steps[request.number - 1] ?? stream())(reply);
const list =
  (rv: number, ...names: string[]) =>
  (reply: FaultReply) =>
    reply.send(
      200,
      configMapList(
        rv,
        names.map((name) => configMap(name, rv)),
      ),
      json,
    );
const stream =
  (text = '') =>
  (reply: FaultReply) => {
    reply.head(200, json);
    if (text !== '') reply.chunk(text);
    return reply.hang();
  };

test('silent death: bytes swallowed with no FIN, while the kernel still answers; replaced in time, nothing lost or twice', async () => {
  const clock = new VirtualClock();
  const later = added('c', 12) + eventLine('MODIFIED', configMap('a', 13));
  await using t = await startFaultClient(inTurn(list(10, 'a'), stream(added('b', 11)), stream(later)), { clock });
  await using r = reflect(t, clock);
  await r.saw(2);
  await clock.advance(74_999);
  expect(r.whats()).toEqual(['list', 'watch 10']);
  await clock.advance(15_001);
  await r.saw(4);
  expect(r.whats()).toEqual(['list', 'watch 10', 'watch 11']);
  expect(r.seen).toEqual(['replace a', 'add b', 'add c', 'update a']);
  expect(r.errors).toEqual([]);
  // The dead one is closed.
  while (t.server.open > 2) await turns(1);
});

test('silent death within an event, under a proxy that keeps the connection busy: half an event is no sign of life', async () => {
  const clock = new VirtualClock();
  let drip = async () => {};
  const waiting = deferred();
  const half = added('b', 11).slice(0, 60);
  await using t = await startFaultClient(
    inTurn(
      list(10, 'a'),
      async (reply) => {
        reply.head(200, json);
        reply.chunk(half);
        await reply.read();
        drip = () => {
          reply.chunk(' ');
          return reply.read();
        };
        waiting.resolve();
        return reply.hang();
      },
      stream(added('b', 11)),
    ),
    { clock },
  );
  await using r = reflect(t, clock, { silence: '5s' });
  await waiting.promise;
  await turns();
  for (let second = 0; second < 6; second += 1) {
    await drip();
    await turns(10);
    await clock.advance(1_000);
  }
  await r.saw(2);
  expect(r.whats()).toEqual(['list', 'watch 10', 'watch 10']);
  expect(r.seen).toEqual(['replace a', 'add b']);
});

test('the machine slept, and its connections died meanwhile: replaced within seconds', async () => {
  const clock = new VirtualClock();
  await using t = await startFaultClient(inTurn(list(10, 'a'), stream(added('b', 11)), stream(added('c', 12))), {
    clock,
  });
  await using r = reflect(t, clock);
  await r.saw(2);
  clock.setWall(clock.now() + 8 * 3_600_000);
  await clock.advance(7_000);
  await r.saw(3);
  expect(r.whats()).toEqual(['list', 'watch 10', 'watch 11']);
  expect(r.errors).toEqual([]);
});

test('a watch that is never answered, not even by headers: given up and reported, and the next one continues', async () => {
  const clock = new VirtualClock();
  await using t = await startFaultClient(
    inTurn(list(10, 'a'), (reply) => reply.hang(), stream(added('b', 11))),
    { clock },
  );
  await using r = reflect(t, clock, { silence: '5s' });
  await r.asked(2);
  await clock.advance(36_000);
  await clock.advance(2_000);
  await r.saw(2);
  expect(r.whats()).toEqual(['list', 'watch 10', 'watch 10']);
  expect(r.errors.map(({ message }) => message)).toEqual([expect.stringContaining('silent for too long')]);
});

test('a reset, a cut within an event and a 410 in the stream: resumed, resumed, relisted', async () => {
  const clock = new VirtualClock();
  await using t = await startFaultClient(
    inTurn(
      list(10, 'a'),
      async (reply) => {
        reply.head(200, json);
        reply.chunk(added('b', 11));
        await reply.read();
        reply.reset();
      },
      (reply) => {
        reply.head(200, json);
        reply.chunk(added('c', 12) + added('d', 13).slice(0, 50));
        reply.end();
      },
      (reply) => {
        reply.head(200, json);
        reply.chunk(added('d', 13) + errorLine(410, 'Expired'));
        reply.end();
      },
      list(20, 'a', 'd'),
      stream(added('e', 21)),
    ),
    { clock },
  );
  await using r = reflect(t, clock);
  while (r.seen.length < 6) {
    await turns(20);
    if (r.reflector.health.phase === 'waiting') await clock.advance(500);
  }
  expect(r.seen).toEqual(['replace a', 'add b', 'add c', 'add d', 'replace a,d', 'add e']);
  expect(r.whats()).toEqual(['list', 'watch 10', 'watch 11', 'watch 12', 'list', 'watch 20']);
  expect(r.errors).toHaveLength(3);
});

test('a WatchList that breaks off gives the store nothing: the list comes by LIST', async () => {
  const clock = new VirtualClock();
  await using t = await startFaultClient(
    inTurn(
      async (reply) => {
        reply.head(200, json);
        reply.chunk(added('half', 1));
        await reply.read();
        reply.reset();
      },
      list(10, 'a', 'b'),
    ),
    { clock },
  );
  await using r = reflect(t, clock, { useWatchList: true });
  await r.saw(1);
  await r.asked(3);
  expect(r.seen).toEqual(['replace a,b']);
  expect(r.whats()).toEqual(['watch ', 'list', 'watch 10']);
});
