import { describe, expect, onTestFinished, test } from 'vitest';
import { createClient } from '../../client/create-client.js';
import { type KindRef, makeKind } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import {
  type ScriptedAnswer,
  type ScriptedRequest,
  scriptedFailure,
  scriptedTransport,
} from '../../rest/transport/scripted-transport.js';
import { silentLogger } from '../../runtime/log/logger.js';
import { seededRandom } from '../../runtime/random.js';
import { onAbort } from '../../runtime/signals.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { SharedIndexInformer } from '../informer/shared-index-informer.js';
import { listWatch } from './list-watch.js';
import { closing, errorEvent, expired, list, reflect, watch } from './reflector.fixture.js';

const kindNamed = (name: string): KindRef =>
  makeKind<KubeObject>({
    ...{ group: 'test.riata.dev', version: 'v1', kind: name, plural: `${name.toLowerCase()}s`, scope: 'Namespaced' },
  });

/** How a server treats requests: in order, not at all, as one does that starts, or as a load balancer without any. */
type Condition = 'up' | 'away' | 'unavailable';

/** A server of any kind that can go away; what was known before it did, it has forgotten when it is back. */
class FragileServer {
  readonly clock = new VirtualClock();
  readonly random = seededRandom(1);
  readonly requests: { readonly at: number; readonly what: string; readonly plural: string }[] = [];
  readonly runtime = { clock: this.clock, random: this.random, log: silentLogger };
  readonly transport = scriptedTransport((request) => this.#answer(request), { clock: this.clock });
  readonly client = createClient({ server: 'http://a' }, { transport: this.transport, runtime: this.runtime });
  /** Ends every watch as soon as it is open. */
  endsWatches = false;
  #version = 10;
  #condition: Condition = 'up';
  #dying = new AbortController();

  become(condition: Condition): void {
    if (this.#condition === 'up') {
      this.#dying.abort(scriptedFailure('reset'));
      this.#dying = new AbortController();
    }
    this.#condition = condition;
    if (condition === 'up') this.#version += 10;
  }

  #answer({ url, signal }: ScriptedRequest): ScriptedAnswer {
    const plural = url.pathname.split('/').at(-1) ?? '';
    const version = url.searchParams.get('resourceVersion');
    const isWatch = url.searchParams.get('watch') === 'true';
    this.requests.push({ at: this.clock.monotonic(), what: isWatch ? 'watch' : 'list', plural });
    if (this.#condition === 'away') throw scriptedFailure('connect-refused', { requestSent: false });
    if (this.#condition === 'unavailable') return { status: 503, body: 'no server is available' };
    const resourceVersion = String(this.#version);
    if (!isWatch) return { body: { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion }, items: [] } };
    if (version !== resourceVersion) return { status: 410, body: expired.status };
    if (this.endsWatches) return { body: '' };
    const dying = this.#dying.signal;
    const open = async function* (): AsyncGenerator<string> {
      yield* [];
      await new Promise<void>((resolve) => [dying, signal].map((each) => onAbort(each, resolve)));
      dying.throwIfAborted();
    };
    return { body: open() };
  }

  /** Starts informers of so many kinds, and lets all of them watch. */
  async informers(count: number): Promise<readonly SharedIndexInformer<KubeObject>[]> {
    const stop = new AbortController();
    const informers = Array.from({ length: count }, (_, i) => {
      const kind = kindNamed(`Kind${i}`);
      return new SharedIndexInformer(listWatch(this.client, kind), {
        ...{ kind, useWatchList: false, runtime: this.runtime, watchErrorHandler: () => {} },
      });
    });
    const running = informers.map((informer) => informer.run({ signal: stop.signal }));
    onTestFinished(async () => {
      stop.abort();
      await Promise.all(running);
      expect(this.clock.pending, 'timers left').toBe(0);
    });
    await this.clock.advance(10_000);
    expect(informers.every((informer) => this.isFresh(informer))).toBe(true);
    return informers;
  }

  isFresh({ health }: SharedIndexInformer<KubeObject>): boolean {
    return health.resourceVersion === String(this.#version) && health.phase === 'watching';
  }

  /** Moves time until all are fresh; gives how long it took. */
  async freshAfter(informers: readonly SharedIndexInformer<KubeObject>[]): Promise<number> {
    const from = this.clock.monotonic();
    while (!informers.every((informer) => this.isFresh(informer))) {
      if (this.clock.monotonic() - from > 300_000) throw new Error('five minutes, and still not fresh');
      await this.clock.advance(100);
    }
    return this.clock.monotonic() - from;
  }

  /** Requests from this time on. */
  since(at: number) {
    return this.requests.filter((request) => request.at > at);
  }
}

describe('informers after an outage', () => {
  test.each([
    ['a server that refuses connections', 'away', 50, 25],
    ['a server that refuses connections for ten minutes', 'away', 50, 600],
    ['a server that refuses connections, one informer', 'away', 1, 300],
    ['a load balancer without a server', 'unavailable', 50, 25],
    ['a load balancer without a server for ten minutes', 'unavailable', 50, 600],
    ['a load balancer without a server, one informer', 'unavailable', 1, 300],
  ] as const)(
    '%s: all are fresh within 5 s of its return, though it forgot the past',
    async (_, condition, kinds, s) => {
      const server = new FragileServer();
      const informers = await server.informers(kinds);
      server.become(condition);
      await server.clock.advance(s * 1_000);
      server.become('up');
      expect(await server.freshAfter(informers)).toBeLessThanOrEqual(5_000);
    },
  );

  test('while the server is away, one request every 1.5 s at most asks for all of them, and each has its turn', async () => {
    const server = new FragileServer();
    await server.informers(50);
    server.become('away');
    await server.clock.advance(10_000);
    const from = server.clock.monotonic();
    await server.clock.advance(300_000);
    const probes = server.since(from);
    // Those of the line, and one of each Reflector in 30 to 60 seconds.
    expect(probes.length).toBeGreaterThan(300 / 1.5);
    expect(probes.length).toBeLessThan(300 / 1.25 + (50 * 300) / 30);
    expect(new Set(probes.map(({ plural }) => plural)).size).toBe(50);
  });

  test('they do not come back all at once', async () => {
    const server = new FragileServer();
    const informers = await server.informers(50);
    server.become('away');
    await server.clock.advance(60_000);
    server.become('up');
    const from = server.clock.monotonic();
    await server.freshAfter(informers);
    const perTenth = new Map<number, number>();
    for (const { at } of server.since(from))
      perTenth.set(Math.floor(at / 100), (perTenth.get(Math.floor(at / 100)) ?? 0) + 1);
    // Each makes three requests.
    expect(Math.max(...perTenth.values())).toBeLessThan(50);
  });

  test('a server that ends every watch at once after its return is not hammered', async () => {
    const server = new FragileServer();
    await server.informers(1);
    server.become('away');
    await server.clock.advance(25_000);
    server.endsWatches = true;
    server.become('up');
    const from = server.clock.monotonic();
    await server.clock.advance(600_000);
    // Two requests for each try, with waits of up to a second, then 0.8 s doubled up to 30.
    expect(server.since(from).length).toBeLessThan(60);
    server.endsWatches = false;
  });

  test('a kind that alone gets no answer is not retried by the answers to others', async () => {
    const server = new FragileServer();
    const broken = kindNamed('Broken');
    const transport = scriptedTransport(
      ({ url }) => (url.pathname.endsWith('/brokens') ? { status: 503, body: 'no' } : { body: { kind: 'Status' } }),
      { clock: server.clock },
    );
    const client = createClient({ server: 'http://a' }, { transport, runtime: server.runtime });
    const stop = new AbortController();
    const informer = new SharedIndexInformer(listWatch(client, broken), {
      ...{ kind: broken, useWatchList: false, runtime: server.runtime, watchErrorHandler: () => {} },
    });
    const running = informer.run({ signal: stop.signal });
    // As a lease is renewed.
    for (let i = 0; i < 300; i += 1) {
      await client.rest.get().absPath('/lease').do();
      await server.clock.advance(2_000);
    }
    const tries = transport.requests.filter(({ url }) => url.pathname.endsWith('/brokens'));
    expect(tries.length).toBeLessThan(30);
    stop.abort();
    await running;
  });
});

describe('Reflector: answers of a live server', () => {
  test('410: lists within a second; again and again, after longer and longer waits', async () => {
    const rounds = Array.from({ length: 6 }, (_, i) => [list(10 + i, ''), watch(errorEvent(expired))]).flat();
    const t = reflect({ steps: rounds });
    await t.start();
    await t.until(12);
    const lists = t.requests.filter(({ what }) => what.startsWith('list')).map(({ at }) => at);
    const waits = lists.slice(1).map((at, i) => at - (lists[i] ?? 0));
    expect(waits[0]).toBeLessThan(1_000);
    for (const [i, base] of [800, 1_600, 3_200, 6_400].entries()) {
      expect(waits[i + 1]).toBeGreaterThanOrEqual(base);
      expect(waits[i + 1]).toBeLessThan(base * 2);
    }
  });

  test('a watch that ends as soon as it is open: lists within a second; again and again, after longer waits', async () => {
    const rounds = Array.from({ length: 6 }, (_, i) => [list(10 + i, ''), closing()]).flat();
    const t = reflect({ steps: rounds });
    await t.start();
    await t.until(12);
    const lists = t.requests.filter(({ what }) => what.startsWith('list')).map(({ at }) => at);
    expect(lists[1]).toBeLessThan(1_000);
    expect((lists[5] ?? 0) - (lists[4] ?? 0)).toBeGreaterThanOrEqual(6_400);
  });
});
