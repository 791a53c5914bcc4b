import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { memoryLogger } from '../runtime/memory-logger.js';
import { VirtualClock } from '../runtime/virtual-clock.js';
import { Cache } from './cache.js';
import { cached, type KindCacheOptions } from './cache-options.js';
import type { ResourceEventHandler } from './event-handler.js';
import { FakeCluster, ThingKind } from './fake-cluster.fixture.js';
import type { Thing } from './informer.fixture.js';

/** A cache of things over a cluster that has nothing yet. */
class Play implements AsyncDisposable {
  readonly clock = new VirtualClock();
  readonly log = memoryLogger();
  readonly cluster = new FakeCluster();
  readonly cache: Cache;
  readonly #stop = new AbortController();
  running: Promise<void> | undefined;

  constructor(options: KindCacheOptions<Thing> = {}) {
    const kinds = [cached(ThingKind, { useWatchList: false, ...options })];
    this.cache = new Cache(this.cluster.client, { kinds, runtime: { clock: this.clock, log: this.log } });
  }

  async start(): Promise<this> {
    this.running = this.cache.run({ signal: this.#stop.signal });
    await this.clock.settle();
    return this;
  }

  /** Notes what a handler is told. */
  async noting(): Promise<string[]> {
    const told: string[] = [];
    const handler: ResourceEventHandler<Thing> = { onChange: ({ type, key }) => void told.push(`${type} ${key}`) };
    this.cache.use(ThingKind).informer.addEventHandler(handler);
    await this.clock.settle();
    return told;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.running;
    await this.cache.close();
  }
}

describe('a handler of a cache', () => {
  test('whose signal has aborted already is never called, and stays nowhere', async () => {
    await using play = new Play();
    play.cluster.put('one', 'a');
    await play.start();
    const { informer } = play.cache.use(ThingKind);
    const signal = AbortSignal.abort(new Error('before'));
    const registration = informer.addEventHandler({ onAdd: () => expect.unreachable() }, { signal });
    await play.clock.settle();
    expect(informer.health[0]?.handlers).toEqual([]);
    await registration.remove();
  });

  test('that is removed leaves nothing on its signal', async () => {
    await using play = await new Play().start();
    const { informer } = play.cache.use(ThingKind);
    const stop = new AbortController();
    const registration = informer.addEventHandler({}, { signal: stop.signal });
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1);
    await registration.remove();
    expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  });
});
