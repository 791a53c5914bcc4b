import type { ConnectedClient } from '../client/create-client.js';
import type { FieldIndexer, Key, Reader } from '../client/interfaces.js';
import {
  type CallOptions,
  type GetOptions,
  getOptionNames,
  type ListOptions,
  listOptionNames,
  type Selection,
} from '../client/options.js';
import { durationMs } from '../object/duration.js';
import { formatGvk, type GroupVersionKind } from '../object/gvk.js';
import type { ObjectKey } from '../object/key.js';
import type { KindRef, Scope } from '../object/kind.js';
import type { KubeList, KubeObject } from '../object/meta.js';
import { refuseUnknownOptions } from '../runtime/option-names.js';
import { type Runtime, resolveRuntime } from '../runtime/runtime.js';
import { link, onAbort } from '../runtime/signals.js';
import { type CacheOptions, cacheOptionNames, type KindCacheOptions, kindCacheOptionNames } from './cache-options.js';
import { CacheReader, type notCached } from './cache-reader.js';
import { fieldIndex } from './cache-selection.js';
import type { InformerHealth } from './informer/shared-informer.js';
import { SyncedFlag } from './informer/synced-flag.js';
import type { Informer } from './informer.js';
import { type IndexUse, KindCache } from './kind-cache.js';
import { watchErrorLogger } from './reflector/watch-error-logger.js';
import type { IndexFunc } from './store/store-index.js';

/** The method of a cache that reads an object only if that needs neither a wait nor a request. */
export const tryCached: unique symbol = Symbol('riata.tryCached');
/** The method of a cache that lists what it holds of a kind, without waiting. */
export const cachedObjects: unique symbol = Symbol('riata.cachedObjects');

/** A kind that a user has declared in a cache, until it is released; see {@link Cache.use}. */
export interface CacheUse<R extends KubeObject> extends AsyncDisposable {
  readonly informer: Informer<R>;
  /** The index that {@link Cache.indexField} adds for ever, for as long as it is used; see `KindCache.useIndex`. */
  indexField(field: string, values: IndexFunc<R>, options?: { readonly keeps?: boolean }): Promise<IndexUse<R>>;
  /** The last one to do so ends the watch. */
  release(): Promise<void>;
}

/** How one kind of a cache is doing. */
export interface CacheHealth {
  readonly kind: KindRef;
  readonly synced: boolean;
  /** One for each namespace. */
  readonly informers: readonly InformerHealth[];
  /** The selection of each of them, in the same order. */
  readonly selections: readonly Selection[];
}

interface Held {
  readonly cache: KindCache;
  uses: number;
  /** Held until it is removed by name: its user cannot release it. */
  isPinned: boolean;
}

/**
 * Caches objects of many kinds, kept up to date by one watch per kind (`cache.Cache` of controller-runtime): reads cost
 * no request, and writes of this process are visible at once. Objects are frozen: `clone` or `edit` them to make
 * changes.
 *
 * Only declared kinds are held: by {@link CacheOptions.kinds}, {@link use}, {@link getInformer} or {@link indexField}.
 * Reads of others go to the server.
 *
 * @example
 * await using cache = new Cache(client, { kinds: [cached(Pod)] });
 * void cache.run({ signal });
 * const pods = await cache.list(Pod, { namespace: 'shop', labelSelector: 'app=cart' });
 */
export class Cache implements Reader, FieldIndexer, AsyncDisposable {
  readonly #client: ConnectedClient;
  readonly #options: CacheOptions;
  readonly #runtime: Runtime;
  readonly #reader: CacheReader;
  readonly #held = new Map<string, Held>();
  /** Raised by {@link run}. */
  readonly #started = new SyncedFlag();
  readonly #ids = new WeakMap<KindRef, string>();
  readonly #ended = new AbortController();
  #loggedIdle = false;
  #running = false;
  #stopped: Promise<void> | undefined;

  constructor(client: ConnectedClient, options: CacheOptions = {}) {
    refuseUnknownOptions('cache', options, cacheOptionNames);
    this.#client = client;
    this.#options = options;
    this.#runtime = resolveRuntime(options.runtime);
    const catchUpMs = durationMs(options.catchUp ?? '2s', 'cache: catchUp');
    this.#reader = new CacheReader(client, { catchUpMs, undeclared: options.undeclared ?? 'live', ...this.#runtime });
    try {
      for (const { kind, options: forKind } of options.kinds ?? []) this.use(kind, forKind);
    } catch (error) {
      void this.close();
      throw error;
    }
  }

  /**
   * Has the kind in the cache until the answer is released. Several may use a kind, with the same options or without
   * any; other options are refused.
   */
  use<R extends KubeObject>(kind: KindRef<R>, options: KindCacheOptions<R> = {}): CacheUse<R> {
    refuseUnknownOptions(`cache of ${kind.kind}`, options, kindCacheOptionNames);
    const held = this.#hold(kind, options);
    held.uses += 1;
    let released: Promise<void> | undefined;
    const release = () => {
      released ??= this.#release(held);
      return released;
    };
    const informer = held.cache as unknown as KindCache<R>;
    const indexField: CacheUse<R>['indexField'] = async (field, values, given) => {
      const freezing = informer.freezeAhead();
      if (freezing !== undefined) await freezing;
      return informer.useIndex(fieldIndex(field), values, given);
    };
    return { informer, indexField, release, [Symbol.asyncDispose]: release };
  }

  /**
   * The informer of a kind, which is held from now on (`GetInformer`). Resolves when it is synced, unless
   * `blockUntilSynced` is false; at once if the cache does not run yet.
   */
  async getInformer<R extends KubeObject>(
    kind: KindRef<R>,
    options: CallOptions & { readonly blockUntilSynced?: boolean } = {},
  ): Promise<Informer<R>> {
    const cache = this.#pin(kind);
    cache.want();
    if (this.#running && options.blockUntilSynced !== false) await cache.synced({ signal: options.signal });
    return cache as unknown as KindCache<R>;
  }

  /** As {@link getInformer}, by names: of a kind of the scheme, or any that the server has (`GetInformerForKind`). */
  async getInformerForKind(
    gvk: GroupVersionKind,
    options: CallOptions & { readonly blockUntilSynced?: boolean } = {},
  ): Promise<Informer<KubeObject>> {
    const apiVersion = gvk.group === '' ? gvk.version : `${gvk.group}/${gvk.version}`;
    return this.getInformer(await this.#client.kindOf({ apiVersion, kind: gvk.kind }), options);
  }

  /** Has a kind that is held, and waits for its first use, listed as if it was used: now, or as soon as the cache runs. */
  startKind(kind: KindRef): void {
    this.#held.get(idOf(kind))?.cache.want(true);
  }

  /** Stops the watch of a kind, even if it is in use; reads go to the server then (`RemoveInformer`). */
  async removeInformer(kind: KindRef): Promise<void> {
    const held = this.#held.get(idOf(kind));
    if (held !== undefined) await this.#remove(held);
  }

  /**
   * Adds an index by which `list` finds objects with the field selector `field=value` (`IndexField`); the kind is held
   * from now on. At any time.
   */
  async indexField<R extends KubeObject>(
    kind: KindRef<R>,
    field: string,
    values: (object: R) => readonly string[],
  ): Promise<void> {
    const cache = this.#pin(kind);
    const freezing = cache.freezeAhead();
    if (freezing !== undefined) await freezing;
    cache.addIndexers({ [fieldIndex(field)]: values as unknown as (object: KubeObject) => readonly string[] });
  }

  /** Keys of the objects that have this value in an index of {@link indexField}, as far as is known now; never waits. */
  keysByField(kind: KindRef, field: string, value: string): readonly string[] {
    const members = this.#held.get(idOf(kind))?.cache.members ?? [];
    return members.flatMap(({ view }) => view.indexKeys(fieldIndex(field), value));
  }

  /**
   * Changes the cached namespaces of a kind; undefined for all. Resolves when handlers have received the deletions of
   * objects that are no longer held. From one namespace to all, or back, these are known once the new ones are listed:
   * rejects with a `CacheSyncError` if the server refuses that, and the old ones are watched until it succeeds.
   */
  async setNamespaces(kind: KindRef, namespaces: readonly string[] | undefined): Promise<void> {
    const held = this.#held.get(idOf(kind));
    this.#refuseStopped();
    if (held === undefined) throw new Error(`${formatGvk(kind.gvk)} is not in the cache; declare it with use() first`);
    await held.cache.setNamespaces(namespaces);
  }

  /** Lists and watches until the signal aborts or {@link close} (`Start`); resolves when all has ended. A cache runs once. */
  async run({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    if (this.#running || this.#stopped !== undefined) throw new Error('a cache can run only once; create another one');
    this.#running = true;
    for (const { cache } of this.#held.values()) if (cache.isSelected) cache.start();
    this.#started.raise();
    using either = link(signal, this.#ended.signal);
    await new Promise<void>((resolve) => void onAbort(either.signal, resolve));
    await this.close();
  }

  /**
   * Resolves when the cache runs and every started kind has processed its first list (`WaitForCacheSync`). Rejects with
   * a `CacheSyncError` as soon as the server refuses one for a reason that waiting does not fix: forbidden, or not
   * served. An object for which a transform fails does not prevent the sync: reads of it fail with the reason, lists
   * leave it out.
   */
  async waitForCacheSync({ signal }: CallOptions = {}): Promise<void> {
    using either = link(signal, this.#ended.signal);
    if (!this.#started.raised) await this.#started.wait(either.signal);
    const started = [...this.#held.values()].filter(({ cache }) => cache.isStarted);
    await Promise.all(started.map(({ cache }) => cache.synced({ signal })));
  }

  /** True if reads of this kind are answered by the cache. */
  holds(kind: KindRef): boolean {
    return this.#find(kind) !== undefined;
  }

  get health(): readonly CacheHealth[] {
    return [...this.#held.values()].map(({ cache }) => ({
      kind: cache.kind,
      synced: cache.hasSynced(),
      informers: cache.health,
      selections: cache.selections,
    }));
  }

  /** As `Client.get`; waits for the cache to run, and for the kind to be synced. */
  async get<R extends KubeObject, S extends Scope>(
    kind: KindRef<R, S>,
    key: Key<S>,
    options: GetOptions = {},
  ): Promise<R> {
    refuseUnknownOptions('cache.get', options, getOptionNames);
    return this.#reader.get(kind, key, options, this.#reading(kind));
  }

  /** As `Client.find`; waits for the cache to run, and for the kind to be synced. */
  async find<R extends KubeObject, S extends Scope>(
    kind: KindRef<R, S>,
    key: Key<S>,
    options: GetOptions = {},
  ): Promise<R | undefined> {
    refuseUnknownOptions('cache.find', options, getOptionNames);
    return this.#reader.find(kind, key, options, this.#reading(kind));
  }

  /** As {@link find}, if that needs neither a wait nor a request. */
  [tryCached]<R extends KubeObject>(kind: KindRef<R>, key: ObjectKey): R | undefined | typeof notCached {
    return this.#reader.tryCached(key, this.#reading(kind));
  }

  /** All objects of a kind that is held and synced; none of another one. */
  [cachedObjects]<R extends KubeObject>(kind: KindRef<R>): readonly R[] {
    const held = this.holds(kind) ? this.#reading(kind) : undefined;
    return held?.hasSynced() ? held.members.flatMap(({ view }) => view.list()) : [];
  }

  /**
   * As `Client.list`, in no particular order; waits for the cache to run, and for the kind to be synced. Field
   * selectors work on any field, quickly on those of {@link indexField}. With `limit`, returns at most that many,
   * without a continue token.
   */
  async list<R extends KubeObject>(kind: KindRef<R>, options: ListOptions = {}): Promise<KubeList<R>> {
    refuseUnknownOptions('cache.list', options, listOptionNames);
    return this.#reader.list(kind, options, this.#reading(kind));
  }

  /** Ends all watches, and {@link run}. Reads are still answered by what was known then, which grows old. */
  close(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #stop(): Promise<void> {
    this.#ended.abort(new Error('the cache has stopped'));
    await Promise.all([...this.#held.values()].map(({ cache }) => cache.stop()));
  }

  /** The cache that answers reads of the kind. One with whole objects also answers for metadata. */
  #find<R extends KubeObject>(kind: KindRef<R>): KindCache<R> | undefined {
    const held = this.#held.get(this.#idOf(kind)) ?? (kind.projection === 'metadata' ? this.#whole(kind) : undefined);
    return held?.cache as KindCache<R> | undefined;
  }

  /** As {@link #find}, for a caller that may wait: if the cache never runs, it waits for ever. */
  #reading<R extends KubeObject>(kind: KindRef<R>): KindCache<R> | undefined {
    const found = this.#find(kind);
    if (found?.isStarted === false) found.want();
    if (found !== undefined && !this.#started.raised && !this.#loggedIdle) {
      this.#loggedIdle = true;
      this.#runtime.log.warn('read waits for a cache that is not running; call run({ signal }) without awaiting it', {
        kind: kind.kind,
      });
    }
    return found;
  }

  /** As {@link idOf}, which would be computed with every read. */
  #idOf(kind: KindRef): string {
    let id = this.#ids.get(kind);
    if (id === undefined) {
      id = idOf(kind);
      this.#ids.set(kind, id);
    }
    return id;
  }

  #whole(kind: KindRef): Held | undefined {
    return this.#held.get(idOf({ ...kind, gvr: kind.gvr, projection: undefined }));
  }

  #hold<R extends KubeObject>(kind: KindRef<R>, given: KindCacheOptions<R>): Held {
    this.#refuseStopped();
    const id = idOf(kind);
    const known = this.#held.get(id);
    const isBare = Object.values(given).every((value) => value === undefined);
    if (known !== undefined) {
      if (!isBare) this.#refuseConflict(kind, known.cache.options, this.#complete(given));
      return known;
    }
    const cache = new KindCache(kind, this.#complete(given), {
      client: this.#client,
      watchErrorHandler: this.#options.watchErrorHandler ?? watchErrorLogger(this.#runtime.log),
      runtime: this.#runtime,
      isRunning: () => this.#running,
    }) as unknown as KindCache;
    const held: Held = { cache, uses: 0, isPinned: false };
    this.#held.set(id, held);
    if (this.#running && cache.isSelected) cache.start();
    return held;
  }

  #refuseStopped(): void {
    if (this.#stopped !== undefined) throw new Error('the cache has stopped; create another one');
  }

  #complete<R extends KubeObject>(given: KindCacheOptions<R>): KindCacheOptions<R> {
    const { namespaces, resyncPeriod, silence } = this.#options;
    const defaults = { namespaces, resyncPeriod, silence };
    const known = Object.entries({ ...defaults, ...given }).filter(([, value]) => value !== undefined);
    return Object.fromEntries(known) as KindCacheOptions<R>;
  }

  #refuseConflict(kind: KindRef, known: object, given: object): void {
    const names = new Set([...Object.keys(known), ...Object.keys(given)]);
    const conflicts = [...names].filter((name) => !isSame((known as Bag)[name], (given as Bag)[name]));
    if (conflicts.length === 0) return;
    throw new Error(
      `${formatGvk(kind.gvk)} is already in the cache with different ${conflicts.join(', ')}; ` +
        'use the same options wherever the kind is declared, or a cache of its own',
    );
  }

  #pin(kind: KindRef): KindCache {
    const held = this.#hold(kind, {});
    held.isPinned = true;
    return held.cache;
  }

  async #release(held: Held): Promise<void> {
    held.uses -= 1;
    if (held.uses === 0 && !held.isPinned) await this.#remove(held);
  }

  async #remove(held: Held): Promise<void> {
    const id = idOf(held.cache.kind);
    if (this.#held.get(id) === held) this.#held.delete(id);
    await held.cache.stop();
  }
}

type Bag = Readonly<Record<string, unknown>>;

/** Functions must be identical; other values only equal. */
function isSame(a: unknown, b: unknown): boolean {
  if (typeof a === 'function' || typeof b === 'function') return a === b;
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Kinds with the same id share a cache, whichever module has made them. */
export function idOf({ gvr, projection }: Pick<KindRef, 'gvr' | 'projection'>): string {
  return `${gvr.group}/${gvr.version}/${gvr.resource}${projection === undefined ? '' : `:${projection}`}`;
}
