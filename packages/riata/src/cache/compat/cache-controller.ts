import type { Duration } from '../../object/duration.js';
import type { KindRef } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import { type Runtime, resolveRuntime } from '../../runtime/runtime.js';
import { onAbort } from '../../runtime/signals.js';
import { type PopOptions, type PopProcessFunc, type ProcessedQueue, processQueue } from '../informer/queue.js';
import type { ListerWatcher } from '../reflector/list-watch.js';
import { Reflector } from '../reflector/reflector.js';
import type { ReflectorHealth, ReflectorOptions } from '../reflector/reflector-options.js';

/**
 * The configuration of a {@link CacheController} (`cache.Config`): `T` comes from the server, the queue makes it an
 * `A`.
 */
export interface CacheControllerConfig<T extends KubeObject, A>
  extends Pick<ReflectorOptions<T>, 'transform' | 'decoder' | 'admitListed' | 'known' | 'useWatchList' | 'silence'> {
  /**
   * The queue that the Reflector fills and {@link process} empties (`Config.Queue`); by `popBatch`, if it has that,
   * unless {@link retryOnError} says otherwise.
   */
  readonly queue: ProcessedQueue<T, A>;
  readonly listerWatcher: ListerWatcher<T>;
  /** Processes each item; the next one waits for it (`Config.Process`). */
  readonly process: PopProcessFunc<A>;
  /** The expected kind (`Config.ObjectType`): objects of another kind are dropped. @default anything */
  readonly kind?: KindRef<T>;
  /** How often everything is requeued, without asking the server (`Config.FullResyncPeriod`). @default 0, never */
  readonly fullResyncPeriod?: Duration | 0;
  /** Asked before every resync (`Config.ShouldResync`). @default always */
  readonly shouldResync?: () => boolean;
  /**
   * Requeues an item whose processing failed (`Config.RetryOnError`). Without it, a process function does so by
   * throwing a `RequeueError`. @default false: the error is logged, the item is dropped
   */
  readonly retryOnError?: boolean;
  /** Called when listing or watching failed (`Config.WatchErrorHandler`). @default logs it */
  readonly watchErrorHandler?: ReflectorOptions<T>['onError'];
  /** Objects per page of a LIST (`Config.WatchListPageSize`). @default the Reflector's */
  readonly watchListPageSize?: number;
  /** In logs and errors. @default the Reflector's */
  readonly name?: string;
  /** @default the system's */
  readonly runtime?: Partial<Runtime>;
}

export const cacheControllerConfigOptionNames = optionNames<CacheControllerConfig<KubeObject, unknown>>({
  queue: true,
  listerWatcher: true,
  process: true,
  kind: true,
  fullResyncPeriod: true,
  shouldResync: true,
  retryOnError: true,
  watchErrorHandler: true,
  watchListPageSize: true,
  name: true,
  runtime: true,
  transform: true,
  decoder: true,
  useWatchList: true,
  silence: true,
  admitListed: true,
  known: true,
});

/**
 * Moves objects and changes from a server through a queue into a function (`cache.Controller`, made by
 * `cache.New(Config)`): a Reflector at one end, a loop that pops at the other. The lowest level at which you can build
 * an informer; not the controller that reconciles.
 */
export class CacheController<T extends KubeObject, A> {
  readonly #config: CacheControllerConfig<T, A>;
  readonly #runtime: Runtime;
  readonly #reflector: Reflector<T>;
  #hasRun = false;

  constructor(config: CacheControllerConfig<T, A>) {
    refuseUnknownOptions('CacheController', config, cacheControllerConfigOptionNames);
    this.#config = config;
    this.#runtime = resolveRuntime(config.runtime);
    const { name, kind, transform, decoder, admitListed, known, useWatchList, silence, shouldResync } = config;
    this.#reflector = new Reflector<T>(config.listerWatcher, config.queue, {
      ...{ name, kind, transform, decoder, admitListed, known, useWatchList, silence, shouldResync },
      resyncPeriod: config.fullResyncPeriod,
      onError: config.watchErrorHandler,
      pageSize: config.watchListPageSize,
      runtime: this.#runtime,
    });
  }

  /** How listing and watching goes. */
  get health(): ReflectorHealth {
    return this.#reflector.health;
  }

  /** Objects that the queue is not given; see {@link Reflector.withheld}. */
  get withheld(): Reflector<T>['withheld'] {
    return this.#reflector.withheld;
  }

  /**
   * Works until the signal aborts; resolves when the item in flight is processed (`Run`, `RunWithContext`).
   * Queued items stay in the queue, which is closed: a controller runs once, and rejects the second time.
   */
  async run({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    const { queue } = this.#config;
    if (this.#hasRun) {
      throw new TypeError(
        `cache controller "${this.#reflector.name}" can run only once; create another one with a new queue`,
      );
    }
    this.#hasRun = true;
    using _closing = onAbort(signal, () => queue.close());
    await Promise.all([this.#reflector.run({ signal }), this.#processLoop(signal)]);
  }

  /** True once the first list has been processed (`HasSynced`). */
  hasSynced(): boolean {
    return this.#config.queue.hasSynced();
  }

  /** Resolves when {@link hasSynced} is true (`HasSyncedChecker`). */
  synced(options?: PopOptions): Promise<void> {
    return this.#config.queue.synced(options);
  }

  /** How far the queue has come; its items may not be processed yet (`LastSyncResourceVersion`). */
  lastSyncResourceVersion(): string {
    return this.#reflector.lastSyncResourceVersion();
  }

  #processLoop(signal: AbortSignal): Promise<void> {
    const { queue, process, retryOnError = false } = this.#config;
    const { clock, log } = this.#runtime;
    const informer = this.#reflector.name;
    const onError = (error: unknown) =>
      log.error('cannot process queue item', { informer, error, retry: retryOnError });
    return processQueue(queue, process, { signal, clock, retryOnError, onError });
  }
}
