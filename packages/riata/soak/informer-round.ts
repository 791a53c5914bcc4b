import { inspect, isDeepStrictEqual } from 'node:util';
import { Cache, cached, listWatch, SharedIndexInformer } from 'riata/cache';
import { type ConnectedClient, createClient } from 'riata/client';
import { ConfigMap } from 'riata/kinds';
import type { RestConfig } from 'riata/rest';
import { isApiError } from 'riata/rest';
import type { Runtime } from 'riata/runtime';
import { type Random, seededRandom, systemClock } from 'riata/runtime';
import { startChaosProxy } from './chaos-proxy.js';
import { startFaultyGateway } from './faulty-gateway.js';
import type { FaultyNetwork } from './faulty-network.js';
import { stateOf } from './handler-history.js';
import { OwnWriter } from './own-writer.js';
import { RoundHandlers } from './round-handlers.js';
import { colours, indexers, indexProblems } from './round-indexes.js';

/** What a round runs on. */
export interface RoundWorld {
  readonly config: RestConfig;
  /** Whose network is good. */
  readonly direct: ConnectedClient;
  /** Of what is being tested: timers are counted on it, and waits are shorter than they say. */
  readonly runtime: Pick<Runtime, 'clock' | 'log'>;
  /** Used by no other test. Its objects are removed first. */
  readonly namespace: string;
  /** Called after each write of the good client. */
  readonly onWrite?: () => void;
}

/** How a round went. */
export interface RoundFigures {
  readonly faults: Readonly<Record<string, number>>;
  readonly counts: Readonly<Record<string, number>>;
  readonly seconds: number;
}

/** In the time of the clock that is tested: a second, at ten times the speed. */
const silence = '10s';
const names = Array.from({ length: 8 }, (_, nth) => `c-${nth}`);
const ownNames = Array.from({ length: 5 }, (_, nth) => `own-${nth}`);
/** For what hangs: on the faster clock a slice of work is a tenth of a real one, so a busy machine takes very long. */
const deadlineMs = 300_000;
/** Objects that servers put into every namespace don't matter here. */
const fieldSelector = 'metadata.name!=kube-root-ca.crt';

/**
 * One round: an informer with many handlers and a cache, both over a bad network, while two clients write. When they
 * have ended, all must converge to the state of the server, by a possible sequence of changes.
 */
export async function informerRound(world: RoundWorld, seed: number): Promise<RoundFigures> {
  const { direct, namespace } = world;
  const started = systemClock.monotonic();
  const random = seededRandom(seed);
  const useWatchList = random.next() < 0.5;
  const pageSize = random.next() < 0.3 ? random.int(1, 6) : undefined;
  const runtime = { ...world.runtime, random: seededRandom(`${seed} runtime`) };
  const selection = { namespace, fieldSelector };
  await prepare(direct, namespace, random);

  await using network = await startNetwork(world.config, random);
  const { url: server } = network;
  const credentials = server.startsWith('https') ? world.config.credentials : undefined;
  await using client = createClient({ ...world.config, server, credentials }, { runtime });
  const informer = new SharedIndexInformer(listWatch(client, ConfigMap, selection), {
    ...{ kind: ConfigMap, useWatchList, pageSize, silence, indexers, runtime },
    resyncPeriod: random.next() < 0.3 ? '1s' : 0,
    onHandlerError: () => {},
    watchErrorHandler: () => {},
  });
  await using cache = new Cache(client, {
    kinds: [cached(ConfigMap, { namespaces: [namespace], fieldSelector, useWatchList, silence })],
    watchErrorHandler: () => {},
    runtime,
  });
  await cache.indexField(ConfigMap, 'data.colour', (object) => [object.data?.colour ?? '']);
  const stop = new AbortController();
  const timeout = systemClock.after(deadlineMs, () => stop.abort(new Error('the round took too long')));
  const handlers = new RoundHandlers(informer, random);
  const cacheHandler = handlers.watchCache(cache);
  const running = [informer.run({ signal: stop.signal }), cache.run({ signal: stop.signal })];
  const own = new OwnWriter({
    ...{ client, direct, cache, namespace, random, own: ownNames, shared: names, signal: stop.signal },
  });
  let counts: Record<string, number> = {};
  try {
    await Promise.all([
      writeDirectly(world, random, 40, async (step) => {
        if (step % 4 === 3) network.act();
        await handlers.step(step);
      }),
      repeat(20, () => own.step()),
    ]);
    network.calm();
    await cacheHandler;
    await agreement(world, selection, { informer, cache, handlers, own, signal: stop.signal });
    counts = { ...own.counts, ...handlers.counts() };
  } finally {
    timeout.cancel();
    stop.abort();
    await Promise.all(running);
    await handlers.ended();
  }
  const problems = [...handlers.problems(), ...own.problems];
  if (problems.length > 0) throw new Error(`${problems.length} problems:\n${problems.slice(0, 10).join('\n')}`);
  const seconds = (systemClock.monotonic() - started) / 1000;
  return { faults: network.done as Record<string, number>, counts, seconds };
}

/** Bytes in TLS, or HTTP: each can do what the other cannot. */
function startNetwork(config: RestConfig, random: Random): Promise<FaultyNetwork> {
  if (random.next() < 0.4) return startChaosProxy(new URL(config.server), random);
  return startFaultyGateway({ config, random });
}

async function prepare(direct: ConnectedClient, namespace: string, random: Random): Promise<void> {
  await direct.deleteCollection(ConfigMap, { namespace });
  for (const name of names) {
    if (random.next() < 0.5) await direct.create(configMap(namespace, name, 'first', random));
  }
}

function configMap(namespace: string, name: string, step: string, random: Random) {
  const data = { step, colour: random.pick(colours), ballast: 'x'.repeat(random.int(0, 300)) };
  return ConfigMap({ metadata: { namespace, name }, data });
}

/** What fails is left: the server may be restarting, or the other client was faster. */
async function writeDirectly(
  { direct, namespace, onWrite }: RoundWorld,
  random: Random,
  steps: number,
  after: (step: number) => Promise<void>,
): Promise<void> {
  for (let step = 0; step < steps; step++) {
    const name = random.pick(names);
    const object = configMap(namespace, name, `${step}`, random);
    const what = random.next();
    try {
      if (what < 0.4) await direct.create(object);
      else if (what < 0.7)
        await direct.patch(ConfigMap, { namespace, name }, { type: 'merge', body: { data: object.data } });
      else await direct.delete(ConfigMap, { namespace, name });
      // Deleted and recreated in one go, half of the time while no watch is open.
      if (what > 0.85) await direct.create(object);
    } catch (error) {
      if (!isApiError(error)) await systemClock.sleep(100);
    }
    onWrite?.();
    await after(step);
  }
}

async function repeat(times: number, step: () => Promise<void>): Promise<void> {
  for (let nth = 0; nth < times; nth++) await step();
}

interface Parties {
  readonly informer: SharedIndexInformer<ConfigMap>;
  readonly cache: Cache;
  readonly handlers: RoundHandlers;
  readonly own: OwnWriter;
  readonly signal: AbortSignal;
}

/** Waits until all know what the server has. Writes whose answers were lost may still be on their way to it. */
async function agreement(
  { direct }: RoundWorld,
  selection: { readonly namespace: string; readonly fieldSelector: string },
  { informer, cache, handlers, own, signal }: Parties,
): Promise<void> {
  let health = '';
  for (;;) {
    const onServer = async () => (await retried(() => direct.list(ConfigMap, selection), signal)).items;
    const items = await onServer();
    const expected = stateOf(items);
    const cachedItems = await retried(
      async () => (await cache.list(ConfigMap, { ...selection, signal })).items,
      signal,
    );
    const states: Record<string, string[]> = {
      ...handlers.states(),
      store: stateOf(informer.getStore().list()),
      cache: stateOf(cachedItems),
    };
    const others = Object.entries(states).filter(([, state]) => !isDeepStrictEqual(state, expected));
    for (const name of handlers.unsynced()) others.push([`${name}, not synced`, []]);
    if (others.length === 0) {
      const plain = withoutManagedFields(items);
      expectSame('store', withoutManagedFields(informer.getStore().list()), plain);
      expectSame('cache', withoutManagedFields(cachedItems), plain);
      for (const problem of indexProblems(informer.getIndexer())) throw new Error(problem);
      const ofColour: [colour: string, found: string[]][] = [];
      for (const colour of colours) {
        const asked = { ...selection, fieldSelector: { 'data.colour': colour }, signal };
        ofColour.push([colour, stateOf((await retried(() => cache.list(ConfigMap, asked), signal)).items)]);
      }
      // A write that came late is in some of the lists and not in the others: they are read again.
      if (!isDeepStrictEqual(stateOf(await onServer()), expected)) continue;
      for (const [colour, found] of ofColour) {
        const desired = items.filter(({ data }) => data?.colour === colour);
        expectSame(`cache, data.colour=${colour}`, found, stateOf(desired));
      }
      for (const name of [...ownNames, ...names]) await own.check(name);
      return;
    }
    if (signal.aborted) {
      const [name, state] = others[0] ?? [];
      throw new Error(
        `no agreement: ${others.map(([other]) => other).join(', ')}. ${name}: ${JSON.stringify(state)}, ` +
          `the server: ${JSON.stringify(expected)}; ${health}`,
      );
    }
    health = inspect(informer.health, { depth: 4 });
    await systemClock.sleep(25);
  }
}

async function retried<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (signal.aborted) throw error;
      await systemClock.sleep(50);
    }
  }
}

function withoutManagedFields(items: readonly ConfigMap[]): unknown[] {
  return items
    .map((item) => JSON.parse(JSON.stringify({ ...item, metadata: { ...item.metadata, managedFields: undefined } })))
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

function expectSame(what: string, got: unknown, desired: unknown): void {
  if (isDeepStrictEqual(got, desired)) return;
  throw new Error(`${what}: got ${JSON.stringify(got)}, the server has ${JSON.stringify(desired)}`);
}
