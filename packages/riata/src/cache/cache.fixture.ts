import { ApiError } from '../rest/errors/api-error.js';
import { memoryLogger } from '../runtime/log/memory-logger.js';
import type { Scheduler } from '../runtime/time/clock.js';
import { VirtualClock } from '../runtime/time/virtual-clock.js';
import { Cache } from './cache.js';
import { cached, type KindCacheOptions } from './cache-options.js';
import { FakeCluster, ThingKind } from './fake-cluster.fixture.js';
import type { Thing } from './informer/informer.fixture.js';
import type { ResourceEventHandler } from './informer/resource-event-handler.js';
import type { WatchErrorHandler } from './informer/shared-informer.js';

/** The answer without permission. */
export function forbidden(): ApiError {
  return new ApiError({
    ...{ apiVersion: 'v1', kind: 'Status', metadata: {}, status: 'Failure' },
    ...{ code: 403, reason: 'Forbidden', message: 'no' },
  });
}

/** A cache of things over a cluster that has nothing yet. */
export class CachePlay implements AsyncDisposable {
  readonly clock = new VirtualClock();
  readonly log = memoryLogger();
  readonly cluster = new FakeCluster();
  readonly cache: Cache;
  readonly #stop = new AbortController();
  running: Promise<void> | undefined;

  constructor(
    options: KindCacheOptions<Thing> = {},
    watchErrorHandler?: WatchErrorHandler,
    over: (clock: VirtualClock) => Scheduler = (clock) => clock,
  ) {
    const kinds = [cached(ThingKind, { useWatchList: false, ...options })];
    const runtime = { clock: over(this.clock), log: this.log };
    this.cache = new Cache(this.cluster.client, { kinds, watchErrorHandler, runtime });
  }

  async start(): Promise<this> {
    this.running = this.cache.run({ signal: this.#stop.signal });
    await this.clock.settle();
    return this;
  }

  /** Records the calls of a handler. */
  async noting(): Promise<string[]> {
    const reported: string[] = [];
    const handler: ResourceEventHandler<Thing> = { onChange: ({ type, key }) => void reported.push(`${type} ${key}`) };
    this.cache.use(ThingKind).informer.addEventHandler(handler);
    await this.clock.settle();
    return reported;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.running;
    await this.cache.close();
  }
}
