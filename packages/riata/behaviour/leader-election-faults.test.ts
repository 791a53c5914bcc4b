import { type Faults, randomFaults } from '@riata/apiserver';
import { TestEnvironment } from '@riata/testing';
import { createClient } from 'riata/client';
import { ConfigMap, Lease } from 'riata/kinds';
import { LeaderElector, LeaseLock } from 'riata/manager';
import { isConflict, isTransportError, type Transport, type TransportSink } from 'riata/rest';
import { isLostLease, type Random, seededRandom, silentLogger, type VirtualClock } from 'riata/runtime';
import { describe, expect, test } from 'vitest';
import { ProcessClock } from '../src/manager/election/election.fixture.js';

const namespace = 'default';
const log = silentLogger;

/** A transport of a process that can be stopped: what comes meanwhile waits, in its order. */
function ofProcess(transport: Transport, process: ProcessClock): Transport {
  const inside = () => {
    const waiting: (() => void)[] = [];
    return (fn: () => void) => {
      waiting.push(fn);
      process.enter(() => waiting.shift()?.());
    };
  };
  return {
    dispatch(request, sink) {
      const enter = inside();
      const held: TransportSink = {
        onHeaders: (status, headers, flow) => enter(() => sink.onHeaders(status, headers, flow)),
        onData: (chunk) => {
          const copy = chunk.slice();
          enter(() => sink.onData(copy));
        },
        onEnd: () => enter(() => sink.onEnd()),
        onError: (error) => enter(() => sink.onError(error)),
      };
      transport.dispatch(request, held);
    },
    close: () => transport.close(),
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  };
}

/** A server and operators on it that count, as long as they lead, in one ConfigMap. */
async function cluster(seed: number) {
  const env = await TestEnvironment.start({ server: 'in-process', seed, log, embedded: { controllers: false } });
  const base = env.clock as VirtualClock;
  const { client: admin } = env;
  const settled = async <T>(promise: Promise<T>): Promise<T> => {
    await base.settle();
    return promise;
  };
  await settled(
    admin.create(ConfigMap({ metadata: { namespace, name: 'counter' }, data: { count: '0', term: '-1' } })),
  );
  /** The term of each write that was stored, in the order in which the server has stored them. */
  const stored: number[] = [];
  const watch = await settled(admin.watch(ConfigMap, { namespace, resourceVersion: '1' }));
  const note = async () => {
    for await (const event of watch) if (event.type === 'MODIFIED') stored.push(Number(event.object.data?.term));
  };
  // It ends with the server that goes down.
  note().catch(() => {});
  const join = (identity: string, random: Random, faults?: Faults) => {
    const process = new ProcessClock(base, { skewMs: random.int(-1e9, 1e9), rate: 0.99 + random.next() * 0.02 });
    const runtime = { clock: process, log, random: seededRandom(random.next()) };
    const { config } = env.connect({ name: identity });
    if (faults !== undefined) env.faults.use((request) => (request.client === identity ? faults(request) : undefined));
    const transport = ofProcess(config.transport, process);
    const client = createClient({ ...config, transport }, { transport, runtime });
    const stop = new AbortController();
    const elector: LeaderElector = new LeaderElector({
      lock: new LeaseLock(client, { namespace, name: 'lock', identity }),
      runtime,
      onStartedLeading: async (signal) => {
        const fenced = client.wrap(elector.fence);
        const term = String(elector.observedRecord?.leaderTransitions);
        for (; !signal.aborted; await process.sleep(random.int(1, 1_000), { signal }).catch(() => {})) {
          try {
            const counter = await fenced.get(ConfigMap, { namespace, name: 'counter' }, { signal });
            const count = String(Number(counter.data?.count) + 1);
            await fenced.update({ ...counter, data: { count, term } }, { maxRetries: 3 });
          } catch (error) {
            if (isLostLease(error) || signal.aborted) return;
            if (!isConflict(error) && !isTransportError(error) && !isServerError(error)) throw error;
          }
        }
      },
    });
    const run = async () => {
      while (!stop.signal.aborted) await elector.run({ signal: stop.signal });
    };
    return { elector, process, ran: run(), stop: () => stop.abort() };
  };
  const end = async (all: readonly ReturnType<typeof join>[]) => {
    for (const { stop } of all) stop();
    await base.advance(20_000);
    await Promise.all(all.map(({ ran }) => ran));
    watch.stop();
    await env.stop();
  };
  const counter = () => settled(admin.get(ConfigMap, { namespace, name: 'counter' }));
  return { base, faults: env.faults, admin, settled, stored, join, end, counter };
}

function isServerError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && Number(error.code) >= 429;
}

const sorted = (numbers: readonly number[]) => [...numbers].sort((a, b) => a - b);

describe('leader election on the virtual clock, with an API server', () => {
  test('two: the leader is stopped for a minute; the other takes over, and the first writes no more', async () => {
    const { base, stored, join, end, counter } = await cluster(1);
    const random = seededRandom(1);
    const a = join('a', random);
    await base.advance(100);
    const b = join('b', random);
    await base.advance(10_000);
    expect([a.elector.isLeader, b.elector.isLeader]).toEqual([true, false]);
    a.process.stop();
    await base.advance(60_000);
    expect(b.elector.isLeader).toBe(true);
    a.process.resume();
    await base.advance(30_000);
    expect([a.elector.isLeader, b.elector.isLeader, a.elector.observedLeader]).toEqual([false, true, 'b']);
    expect(stored).toEqual(sorted(stored));
    expect(new Set(stored)).toEqual(new Set([0, 1]));
    expect((await counter()).data?.count).toBe(String(stored.length));
    await end([a, b]);
  });

  test('two: the server is down for longer than the lease; then one leads again', async () => {
    const { base, faults, stored, join, end } = await cluster(2);
    const random = seededRandom(2);
    const both = [join('a', random), join('b', random)];
    await base.advance(10_000);
    const leaders = () => both.filter(({ elector }) => elector.isLeader).length;
    expect(leaders()).toBe(1);
    await faults.suspend();
    await base.advance(9_000);
    expect(leaders()).toBeLessThanOrEqual(1);
    await base.advance(20_000);
    expect(leaders()).toBe(0);
    const before = stored.length;
    await faults.resume();
    await base.advance(30_000);
    expect(leaders()).toBe(1);
    expect(before).toBeGreaterThan(0);
    await end(both);
  });

  test('two: the answer to the write that won is lost; it is found to have won, and no other has', async () => {
    const { base, admin, settled, join, end } = await cluster(3);
    const random = seededRandom(3);
    let creations = 0;
    const a = join('a', random, ({ method, path }) =>
      method === 'POST' && path.endsWith('/leases') && ++creations === 1 ? { cut: 'answer' } : undefined,
    );
    await base.advance(100);
    const b = join('b', random);
    await base.advance(10_000);
    expect([a.elector.isLeader, b.elector.isLeader]).toEqual([true, false]);
    const { spec } = await settled(admin.get(Lease, { namespace, name: 'lock' }));
    expect(spec).toMatchObject({ holderIdentity: 'a', leaseTransitions: 0 });
    await end([a, b]);
  });

  test.each([11, 12, 13, 14, 15, 16])('ten, each with a bad network, stopped now and then (%i)', async (seed) => {
    const { base, stored, join, end, counter } = await cluster(seed);
    const random = seededRandom(seed);
    const rates = { fail: 0.05, cut: 0.05, delayMs: 400 };
    const all = Array.from({ length: 10 }, (_, i) => join(`c-${i}`, random, randomFaults(random, rates)));
    for (let round = 0; round < 40; round += 1) {
      await base.advance(random.int(100, 8_000));
      const leader = all.find(({ elector, process }) => !process.isStopped && elector.isLeader);
      const { process } = leader !== undefined && random.next() < 0.5 ? leader : random.pick(all);
      if (process.isStopped) continue;
      process.stop();
      base.after(random.int(1, 40_000), () => process.resume());
    }
    await base.advance(60_000);
    expect(all.filter(({ elector }) => elector.isLeader)).toHaveLength(1);
    // What a leader has stored is never followed by what an earlier one has sent.
    expect(stored).toEqual(sorted(stored));
    expect(new Set(stored).size).toBeGreaterThan(2);
    expect((await counter()).data?.count).toBe(String(stored.length));
    await end(all);
  });
});
