import { isCacheSyncError } from '../cache/informer/cache-sync-error.js';
import type { Change } from '../cache/informer/change.js';
import type { Informer } from '../cache/informer.js';
import type { ConnectedClient } from '../client/create-client.js';
import { Controller } from '../controller/loop/controller.js';
import type { ControllerHealth } from '../controller/loop/controller-health.js';
import type { ReconcileRecord } from '../controller/loop/reconcile-record.js';
import { type Cause, type Request, requestFor } from '../controller/loop/request.js';
import type { EventHandler } from '../controller/source/event-handler.js';
import { kindSource } from '../controller/source/kind-source.js';
import { type Duration, durationMs } from '../object/duration.js';
import { clusterKey, formatKey, type ObjectKey, splitKey } from '../object/key.js';
import type { KindRef } from '../object/kind.js';
import type { KubeObject } from '../object/meta.js';
import { isDns1123Label } from '../object/names.js';
import type { PendingKey } from '../queue/pending-keys.js';
import { isNotFound } from '../rest/errors/error-guards.js';
import { optionNames, refuseUnknownOptions } from '../runtime/option-names.js';
import { type Runtime, resolveRuntime } from '../runtime/runtime.js';
import { link, onAbort } from '../runtime/signals.js';
import { Removed } from '../runtime/stop-reasons.js';
import { HandlerChain } from './handler-chain.js';
import { cachedObjects, HandlerMetrics } from './handler-metrics.js';
import type { KeyedOptions } from './keyed-options.js';
import type { KindClient } from './kind-client.js';
import type { SharedCache } from './shared-cache.js';
import type { SharedControllerHandler } from './shared-controller-handler.js';
import { ownLimiter, sharedControllerRateLimiter } from './shared-controller-rate-limiter.js';

/** The parts of a {@link KeyedController}. */
export interface KeyedControllerParts<R extends KubeObject> {
  readonly cache: SharedCache<R>;
  readonly client: KindClient<R>;
  /** The connection of `client`: `explain` shows writes made with the signal of a handler. @default no writes are shown */
  readonly connection?: Pick<ConnectedClient, 'onWrite'>;
  /** @default none yet; see `SharedController.registerHandler` */
  readonly handler?: SharedControllerHandler<R>;
  /** Called once, on first use: a handler, a key, or a request for the informer. */
  readonly onFirstUse?: () => void;
}

/** Options of `start` and `run`. */
export interface StartOptions {
  /** Keys handled at once. @default the kind's, or the factory's */
  readonly workers?: number;
  /** Stops it. */
  readonly signal: AbortSignal;
}

export const startOptionNames = optionNames<StartOptions>({ workers: true, signal: true });

/** A key that was enqueued before start, and when it is due, on the monotonic clock. */
interface Early {
  readonly key: ObjectKey;
  readonly dueMs: number;
  readonly source: string;
}

/**
 * Runs handlers for the keys of one kind, from one queue (`controller.Controller` of lasso, `controller.New`). It lists and
 * watches nothing before a handler is registered, a key is enqueued, or the informer is requested.
 */
export class KeyedController<R extends KubeObject = KubeObject> {
  readonly name: string;
  readonly kind: KindRef<R>;
  /** Talks to the server about this kind (`Client`). */
  readonly client: KindClient<R>;
  /** Objects of the kind without a request, with your own writes; reading it starts the watch (`Informer().GetStore()`). */
  readonly cache: SharedCache<R>;
  protected readonly chain: HandlerChain<R>;
  readonly #options: KeyedOptions;
  readonly #runtime: Runtime;
  readonly #onFirstUse: (() => void) | undefined;
  readonly #stop = new AbortController();
  /** By key and source, until it starts. */
  readonly #early = new Map<string, Early>();
  /** With the subscription to the loop, once it runs. */
  readonly #listeners = new Map<(record: ReconcileRecord) => void, Disposable | undefined>();
  #isUsed = false;
  #loop: Controller | undefined;
  #started: Promise<void> | undefined;
  #ended: Promise<void> = Promise.resolve();

  constructor(name: string, parts: KeyedControllerParts<R>, options: KeyedOptions = {}) {
    this.name = name;
    this.kind = parts.cache.kind;
    this.client = parts.client;
    this.cache = parts.cache;
    this.#options = options;
    this.#runtime = resolveRuntime(options.runtime);
    this.#onFirstUse = parts.onFirstUse;
    const { metrics, clock } = this.#runtime;
    this.chain = new HandlerChain<R>({
      client: parts.client,
      connection: parts.connection,
      read: async (key, signal) => (canBe(this.kind, splitKey(key)) ? this.cache.find(key, { signal }) : undefined),
      retry: options.retry ?? 'failed',
      metrics: new HandlerMetrics(metrics, { context: options.metricsContext ?? '', controller: name }),
      clock,
    });
    if (parts.handler !== undefined) {
      this.chain.add(name, parts.handler);
      this.markUsed();
    }
  }

  /** True once a handler is registered, a key is enqueued, or the informer is requested. */
  get isUsed(): boolean {
    return this.#isUsed;
  }

  /** How it is doing; undefined before it starts. `failing` holds the objects that handlers fail for, too. */
  get health(): ControllerHealth | undefined {
    const health = this.#loop?.health;
    if (health === undefined) return undefined;
    const failing = [...health.failing, ...this.chain.failing()];
    return failing.length === health.failing.length ? health : { ...health, failing };
  }

  /** Finished runs, oldest first: why each ran, what its handlers wrote with their client or signal, and how it ended. */
  get explain(): readonly ReconcileRecord[] {
    return this.#loop?.explain ?? [];
  }

  /** Calls `listener` with the record of each run as it ends, also before it starts; see `Controller.onReconciled`. */
  onReconciled(listener: (record: ReconcileRecord) => void): Disposable {
    this.#listeners.set(listener, this.#loop?.onReconciled(listener));
    return {
      [Symbol.dispose]: () => {
        this.#listeners.get(listener)?.[Symbol.dispose]();
        this.#listeners.delete(listener);
      },
    };
  }

  /** Keys that wait: ready ones, then those that wait for their time. None before it starts. */
  pending(most: number): readonly PendingKey<Request, readonly Cause[]>[] {
    return this.#loop?.queue.pending?.(most) ?? [];
  }

  /** The shared informer of the kind (`Informer`). */
  get informer(): Informer<R> {
    this.markUsed();
    return this.cache.informer;
  }

  /** Enqueues an object (`Enqueue`). Does not count as a failure. */
  enqueue(key: ObjectKey): void {
    this.#add(key, 0, 'enqueue');
  }

  /** As {@link enqueue}, by `namespace/name`, or `name` alone (`EnqueueKey`). */
  enqueueKey(key: string): void {
    this.#add(splitKey(key), 0, 'enqueue');
  }

  /** As {@link enqueue}, after a delay (`EnqueueAfter`). Of several delays of one key, the earliest counts. */
  enqueueAfter(key: ObjectKey, after: Duration): void {
    this.#add(key, durationMs(after, `controller "${this.name}": enqueueAfter`), 'enqueueAfter');
  }

  /** Enqueues all objects of the cache. Resolves to their number once they are queued. */
  enqueueAll(): Promise<number> {
    return this.replay('enqueueAll');
  }

  /**
   * Runs handlers until the signal aborts (`Start`). Resolves when the cache is synced and workers run; immediately for a
   * kind that the server does not serve yet, which starts once it is served. Rejects if the server refuses the kind.
   * Further calls wait for the same start.
   */
  start(options: StartOptions): Promise<void> {
    refuseUnknownOptions(`controller "${this.name}": start`, options, startOptionNames);
    this.#started ??= this.#start(options);
    return this.#started;
  }

  /** Stops it, as the signal of {@link start} does. Resolves when the last handler has returned. */
  async stop(): Promise<void> {
    this.#stop.abort(new Removed(`controller "${this.name}" was stopped`));
    await this.#ended;
  }

  /** Resolves when it has stopped; immediately if it is not running. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  protected get isStarted(): boolean {
    return this.#loop !== undefined;
  }

  protected markUsed(): void {
    if (this.#isUsed) return;
    this.#isUsed = true;
    // Used from now on, so that waiting for caches includes this one.
    void this.cache.informer;
    this.#onFirstUse?.();
  }

  /** {@link enqueueAll}, for a reason. */
  protected async replay(source: string): Promise<number> {
    try {
      const keys = await this.cache.keys({ signal: this.#stop.signal });
      for (const key of keys) this.#add(splitKey(key), 0, source);
      return keys.length;
    } catch (error) {
      if (this.#stop.signal.aborted) return 0;
      this.#runtime.log.error('cannot enqueue all objects', { controller: this.name, source, error });
      return 0;
    }
  }

  async #start({ workers = 5, signal }: StartOptions): Promise<void> {
    this.markUsed();
    const { clock, log } = this.#runtime;
    const { kind } = this;
    const { rateLimiter = sharedControllerRateLimiter, timeout, drain, history, selfWakeBackoff } = this.#options;
    const loop = new Controller(this.name, {
      ...{
        concurrency: workers,
        priority: false,
        syncTimeout: 'never',
        timeout,
        drain,
        history,
        selfWakeBackoff,
        runtime: this.#runtime,
      },
      rateLimiter: ownLimiter(rateLimiter, this.name),
      reconcile: (run) => this.chain.run(run),
    });
    this.#loop = loop;
    for (const listener of this.#listeners.keys()) this.#listeners.set(listener, loop.onReconciled(listener));
    const predicates = this.#options.syncOnlyChangedObjects ? [(change: Change<R>) => change.type !== 'Sync'] : [];
    const runtime = { ...this.#runtime, log: log.child({ controller: this.name }) };
    const named = { name: `${kind.kind} changed`, predicates, runtime };
    await loop.watch(kindSource(this.cache.cache, kind, this.#counted(), named));
    const now = clock.monotonic();
    for (const { key, dueMs, source } of this.#early.values()) this.#add(key, dueMs - now, source);
    this.#early.clear();
    const lifetime = link(signal, this.#stop.signal);
    const running = loop.run({ signal: lifetime.signal });
    this.#ended = running
      .catch((error: unknown) => log.error('controller failed', { controller: this.name, error }))
      .finally(() => lifetime[Symbol.dispose]());
    onAbort(lifetime.signal, () => this.#stop.abort(lifetime.signal.reason));
    await this.#ready(loop, lifetime.signal);
  }

  async #ready(loop: Controller, signal: AbortSignal): Promise<void> {
    try {
      await this.cache.informer.synced({ signal });
      await loop.warmUp();
    } catch (error) {
      if (signal.aborted || (isCacheSyncError(error) && isNotFound(error))) return;
      throw error;
    }
  }

  #counted(): EventHandler<R> {
    const gauge = cachedObjects(this.#runtime.metrics, this.#options.metricsContext ?? '', this.kind);
    return (change, enqueue) => {
      // First, since it may fail and be retried.
      enqueue(requestFor(change));
      if (change.type === 'Added') gauge.inc();
      else if (change.type === 'Deleted') gauge.inc(-1);
    };
  }

  #add(key: ObjectKey, afterMs: number, source: string): void {
    this.markUsed();
    const dueMs = this.#runtime.clock.monotonic() + afterMs;
    const queue = this.#loop?.queue;
    if (queue === undefined) {
      const id = `${formatKey(key)} ${source}`;
      const known = this.#early.get(id);
      if (known === undefined || known.dueMs > dueMs) this.#early.set(id, { key, dueMs, source });
      return;
    }
    const note: readonly Cause[] = [{ source, count: 1, atMs: dueMs }];
    if (afterMs > 0) queue.addAfter(clusterKey(key), afterMs, { note });
    else queue.add(clusterKey(key), { note });
  }
}

/** False for keys that cannot name an object of the kind, such as those of triggers: they are not looked up. */
function canBe({ scope }: KindRef, { namespace }: ObjectKey): boolean {
  return scope === 'Cluster' ? namespace === undefined : namespace !== undefined && isDns1123Label(namespace);
}
