import type { Cache, CacheUse } from '../cache/cache.js';
import { isCacheSyncError } from '../cache/cache-sync-error.js';
import type { Change } from '../cache/change.js';
import type { EventHandlerRegistration } from '../cache/event-handler.js';
import { clusterKey } from '../object/key.js';
import type { KindRef } from '../object/kind.js';
import type { KubeObject } from '../object/meta.js';
import { isNotFound } from '../rest/error-guards.js';
import { type Runtime, resolveRuntime } from '../runtime/runtime.js';
import { abortable, onAbort } from '../runtime/signals.js';
import type { EventHandler } from './event-handler.js';
import type { Predicate } from './predicate.js';
import type { RequestQueue } from './request.js';
import type { SyncingSource } from './source.js';

/** What is not urgent: objects of the first list, and those of which nothing changed. */
export const lowPriority = -100;

/** Options of {@link kindSource}. */
export interface KindSourceOptions<T extends KubeObject> {
  /** All must let a change through. @default none */
  readonly predicates?: readonly Predicate<T>[];
  /** In logs, and as the cause of what comes from it. @default 'watches' and the kind */
  readonly name?: string;
  /** Goes into every key, where there are several clusters. @default none */
  readonly cluster?: string;
  readonly runtime?: Partial<Runtime>;
}

/**
 * Changes of a kind, as a cache tells them (`source.Kind`). If the server does not serve the kind yet, it says so and
 * begins when it comes.
 */
export function kindSource<T extends KubeObject>(
  cache: Cache,
  kind: KindRef<T>,
  handler: EventHandler<T>,
  options: KindSourceOptions<T> = {},
): SyncingSource {
  return new KindSource(cache, kind, handler, options);
}

/** Has a kind in the cache, and nothing comes of it: for what a reconciler reads. */
export function readSource(cache: Cache, kind: KindRef, runtime: Partial<Runtime>): SyncingSource {
  return new KindSource(cache, kind, () => {}, { name: `reads ${kind.kind}`, predicates: [() => false], runtime });
}

class KindSource<T extends KubeObject> implements SyncingSource {
  readonly name: string;
  readonly #cache: Cache;
  readonly #kind: KindRef<T>;
  readonly #handler: EventHandler<T>;
  readonly #predicates: readonly Predicate<T>[];
  readonly #cluster: string | undefined;
  readonly #runtime: Runtime;
  #use: CacheUse<T> | undefined;
  #registration: EventHandlerRegistration | undefined;
  #patient = false;

  constructor(cache: Cache, kind: KindRef<T>, handler: EventHandler<T>, options: KindSourceOptions<T>) {
    this.name = options.name ?? `watches ${kind.kind}`;
    this.#cache = cache;
    this.#kind = kind;
    this.#handler = handler;
    this.#predicates = options.predicates ?? [];
    this.#cluster = options.cluster;
    this.#runtime = resolveRuntime(options.runtime);
  }

  get isPatient(): boolean {
    return this.#patient;
  }

  async start(queue: RequestQueue, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    const use = this.#cache.use(this.#kind);
    this.#use = use;
    this.#registration = use.informer.addEventHandler(
      { onChange: (change) => this.#take(change, queue, signal) },
      { name: this.name },
    );
    const registration = this.#registration;
    onAbort(signal, () => void registration.remove().then(() => use.release()));
  }

  async waitForSync({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    const use = this.#use;
    if (use === undefined) throw new Error(`source "${this.name}" was not started`);
    try {
      await use.informer.synced({ signal });
    } catch (error) {
      if (!isCacheSyncError(error) || !isNotFound(error)) throw error;
      const { log } = this.#runtime;
      log.warn('waiting for a kind that the server does not serve yet', { source: this.name, error: error.message });
      this.#patient = true;
      await use.informer.synced({ signal, patient: true });
      this.#patient = false;
      log.info('the kind is served now', { source: this.name, kind: this.#kind.kind });
    }
    await abortable(this.#registration?.synced({ signal }) ?? Promise.resolve(), signal);
  }

  /** What predicates and handler throw is told; they are asked again until they take the change, or the source ends. */
  #take(change: Change<T>, queue: RequestQueue, signal: AbortSignal): void | Promise<void> {
    try {
      const waiting = this.#handle(change, queue);
      return waiting?.catch((error) => this.#retry(change, queue, signal, error));
    } catch (error) {
      return this.#retry(change, queue, signal, error);
    }
  }

  async #retry(change: Change<T>, queue: RequestQueue, signal: AbortSignal, first: unknown): Promise<void> {
    const { log, clock } = this.#runtime;
    let error = first;
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      log.error('a predicate or handler failed: asked again', { source: this.name, key: change.key, attempt, error });
      await clock.sleep(Math.min(100 * 2 ** attempt, 30_000), { signal }).catch(() => {});
      if (signal.aborted) return;
      try {
        await this.#handle(change, queue);
        return;
      } catch (thrown) {
        error = thrown;
      }
    }
  }

  #handle(change: Change<T>, queue: RequestQueue): void | Promise<void> {
    for (const predicate of this.#predicates) if (!predicate(change)) return;
    const { type, key, metadata } = change;
    const cause = {
      source: this.name,
      change: type,
      object: `${this.#kind.kind} ${key}`,
      resourceVersion: metadata.resourceVersion,
      count: 1,
      atMs: this.#runtime.clock.monotonic(),
    };
    const priority = change.isInInitialList || type === 'Sync' ? lowPriority : 0;
    const cluster = this.#cluster;
    return this.#handler(change, (request, given) => {
      const placed = cluster === undefined ? request : clusterKey({ ...request, cluster });
      queue.add(placed, { note: [cause], priority: given?.priority ?? priority });
    });
  }
}
