import { eventually } from '@riata/testing';
import { type ConnectedClient, createClient, type RetryingWatch } from 'riata/client';
import { ConfigMap, Namespace } from 'riata/kinds';
import { type Random, seededRandom, silentLogger, systemClock } from 'riata/runtime';
import { expect, test } from 'vitest';
import { startEmbeddedServer } from './embedded-server.js';
import { CountingClock, heldMemory, median, openSockets } from './holdings.js';
import { sortedByKey, WatchedView } from './watched-view.js';

const seconds = Number(process.env.CHURN_SECONDS ?? 180);
const seed = Number(process.env.SEED ?? 1);
const namespace = 'churn';
const writers = 8;
const namesPerWriter = 60;
const watches = 4;
/** What may come and go in the heap from one moment to the next: lists in the making, compiled code. */
const allowedGrowthMb = 8;

test(`churn for ${seconds} s: the state is right, and no socket, timer or memory is left behind`, async () => {
  await using server = await startEmbeddedServer();
  const clock = new CountingClock();
  const runtime = { clock, log: silentLogger };
  const socketsBefore = openSockets();
  const client = createClient(server.config, { runtime });
  await client.create(Namespace({ metadata: { name: namespace } }));

  const counts: Record<string, number> = {};
  const count = (what: string, by = 1) => {
    counts[what] = (counts[what] ?? 0) + by;
  };
  const until = systemClock.monotonic() + seconds * 1000;
  const churning = () => systemClock.monotonic() < until;
  const random = (nth: number) => seededRandom(seed * 1000 + nth);

  const views = [...Array(watches).keys()].map((nth) => follow(client, `watch ${nth}`));
  const samples: { readonly memory: number; readonly sockets: number; readonly timers: number }[] = [];
  const written: Map<string, string>[] = [];
  await Promise.all([
    ...[...Array(writers).keys()].map(async (nth) => {
      written.push(await write(client, nth, random(nth), churning, count));
    }),
    read(client, random(100), churning, count),
    watchBriefly(client, random(101), churning, count),
    comeAndGo(() => createClient(server.config, { runtime }), random(102), churning, count),
    (async () => {
      while (churning()) {
        await systemClock.sleep((seconds * 1000) / 60);
        samples.push({ memory: heldMemory(), sockets: openSockets(), timers: clock.pending });
      }
    })(),
  ]);

  const { items } = await client.list(ConfigMap, { namespace });
  // What the server puts into every namespace is not ours.
  const own = items.filter((item) => item.metadata.name.startsWith('c-'));
  const stored = Object.fromEntries(own.map((item) => [item.metadata.name, item.data?.step ?? '']));
  expect(sortedByKey(stored)).toEqual(sortedByKey(Object.fromEntries(written.flatMap((each) => [...each]))));
  const versions = sortedByKey(
    Object.fromEntries(items.map(({ metadata }) => [metadata.name, metadata.resourceVersion])),
  );
  const same = (view: WatchedView) => JSON.stringify(view.sorted()) === JSON.stringify(versions);
  await eventually(() => views.every(({ view }) => same(view)), { what: 'watches have caught up' });
  for (const { view, watch, following } of views) {
    expect(view.problems).toEqual([]);
    expect(view.resets).toBe(1);
    count('events told', view.events);
    watch.stop();
    await following;
  }
  await client.close();
  await eventually(() => clock.pending === 0, { what: 'timers are gone' });
  await eventually(() => openSockets() <= socketsBefore, { what: 'sockets are closed' });

  // The first samples are of a program that is not warm yet.
  const warm = samples.slice(Math.ceil(samples.length / 10));
  const third = Math.floor(warm.length / 3);
  const [early, late] = [warm.slice(0, third), warm.slice(-third)];
  const growth = (of: 'memory' | 'sockets' | 'timers') =>
    [early, late].map((part) => median(part.map((sample) => sample[of]))) as [number, number];
  process.stdout.write(
    `soak: churn, ${seconds} s: ${JSON.stringify(counts)}; medians of the first and the last third: ` +
      `${growth('memory')
        .map((mb) => mb.toFixed(1))
        .join(' → ')} MB, ` +
      `${growth('sockets').join(' → ')} sockets, ${growth('timers').join(' → ')} timers\n`,
  );
  const grown = (of: 'memory' | 'sockets' | 'timers') => growth(of)[1] - growth(of)[0];
  expect(grown('memory')).toBeLessThan(allowedGrowthMb);
  expect(grown('sockets')).toBeLessThan(10);
  expect(grown('timers')).toBeLessThan(10);
});

type Count = (what: string, by?: number) => void;

function follow(client: ConnectedClient, name: string) {
  const watch: RetryingWatch<ConfigMap> = client.retryingWatch(ConfigMap, { namespace });
  const view = new WatchedView(name);
  return { watch, view, following: view.follow(watch) };
}

/** Each writer has names of its own, so that it knows what is stored under them in the end: that is what it returns. */
async function write(client: ConnectedClient, nth: number, random: Random, churning: () => boolean, count: Count) {
  const stored = new Map<string, string>();
  for (let step = 0; churning(); step++) {
    const name = `c-${nth}-${random.int(0, namesPerWriter - 1)}`;
    const data = { step: `${step}`, ballast: 'x'.repeat(random.int(0, 3_000)) };
    const object = ConfigMap({ metadata: { namespace, name }, data });
    const what = random.next();
    if (!stored.has(name)) await client.create(object).then(() => count('creates'));
    else if (what < 0.3) await client.delete(ConfigMap, { namespace, name }).then(() => count('deletes'));
    else if (what < 0.5) await client.apply(object, { fieldManager: 'soak', force: true }).then(() => count('applies'));
    else if (what < 0.7) await replace(client, name, data).then(() => count('updates'));
    else
      await client
        .patch(ConfigMap, { namespace, name }, { type: 'merge', body: { data } })
        .then(() => count('patches'));
    if (stored.has(name) && what < 0.3) stored.delete(name);
    else stored.set(name, data.step);
    await systemClock.sleep(random.int(0, 30));
  }
  return stored;
}

async function replace(client: ConnectedClient, name: string, data: Record<string, string>): Promise<void> {
  const { metadata } = await client.get(ConfigMap, { namespace, name });
  const { resourceVersion } = metadata;
  await client.update(ConfigMap({ metadata: { namespace, name, resourceVersion }, data }));
}

/** Lists as a stream, whole or left in the middle, and in pages. */
async function read(client: ConnectedClient, random: Random, churning: () => boolean, count: Count): Promise<void> {
  while (churning()) {
    const limit = random.next() < 0.5 ? 50 : undefined;
    const leaveAfter = random.next() < 0.3 ? random.int(1, 40) : Number.POSITIVE_INFINITY;
    let seen = 0;
    for await (const item of client.each(ConfigMap, { namespace, limit, cutManagedFields: random.next() < 0.5 })) {
      expect(item.kind).toBe('ConfigMap');
      if (++seen >= leaveAfter) break;
    }
    count('lists');
    count('items listed', seen);
    await systemClock.sleep(random.int(0, 50));
  }
}

/** Watches that are left, stopped or aborted after some events. */
async function watchBriefly(client: ConnectedClient, random: Random, churning: () => boolean, count: Count) {
  while (churning()) {
    const controller = new AbortController();
    const reason = new Error('enough');
    const watch = await client.watch(ConfigMap, { namespace, signal: controller.signal });
    let left = random.int(1, 100);
    const end = random.int(0, 2);
    try {
      for await (const event of watch) {
        expect(event.type).not.toBe('ERROR');
        if (--left > 0) continue;
        if (end === 0) break;
        if (end === 1) watch.stop();
        else controller.abort(reason);
      }
    } catch (error) {
      if (error !== reason) throw error;
    }
    count('short watches');
    await systemClock.sleep(random.int(0, 400));
  }
}

/** Clients that are closed with a list half read and a watch open. */
async function comeAndGo(create: () => ConnectedClient, random: Random, churning: () => boolean, count: Count) {
  while (churning()) {
    const client = create();
    const { following } = follow(client, 'passer-by');
    const ended = following.catch((error: unknown) => error);
    const list = client.each(ConfigMap, { namespace })[Symbol.asyncIterator]();
    await list.next();
    await systemClock.sleep(random.int(0, 300));
    await client.close();
    await ended;
    count('clients');
    await systemClock.sleep(random.int(0, 300));
  }
}
