import type { Duration } from '../../object/duration.js';
import type { KindRef } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import { optionNames } from '../../runtime/option-names.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { ReflectorHealth, ReflectorOptions } from '../reflector/reflector-options.js';
import type { FailingObject } from '../store/failing-objects.js';
import type { Indexer } from '../store/indexer.js';
import type { KeyListerGetter, Store } from '../store/store.js';
import type { Indexers } from '../store/store-index.js';
import type { Change } from './change.js';
import type { Delta } from './delta.js';
import type { EventHandlerHealth } from './event-listener.js';
import type { HandlerErrorFunc } from './handler-error.js';
import type { Queue } from './queue.js';
import type { EventHandlerOptions, EventHandlerRegistration, ResourceEventHandler } from './resource-event-handler.js';

/** Called when listing or watching failed (`cache.WatchErrorHandler`). */
export type WatchErrorHandler = NonNullable<ReflectorOptions<KubeObject>['onError']>;

/** Options of a `SharedIndexInformer` (`cache.SharedIndexInformerOptions`). */
export interface SharedIndexInformerOptions<T extends KubeObject>
  extends Pick<ReflectorOptions<T>, 'pageSize' | 'useWatchList' | 'silence'> {
  /** The expected kind: objects of another kind are dropped, and that is logged. @default anything */
  readonly kind?: KindRef<T>;
  /**
   * Besides the one by namespace, which every informer has. More can be added later. An object that a function fails for is
   * in the store, but not in that index until a retry works: log, health and metrics name it. @default none
   */
  readonly indexers?: Indexers<T>;
  /**
   * How often handlers receive every object though nothing changed, unless they set their own period. Never contacts the
   * server. @default 0, never
   */
  readonly resyncPeriod?: Duration | 0;
  /** Transforms each object before it is stored; see `ReflectorOptions.transform`. @default none */
  readonly transform?: (object: T) => T;
  /** @default logs it */
  readonly watchErrorHandler?: WatchErrorHandler;
  /** Called with the errors of handlers. @default logs them, with handler and key */
  readonly onHandlerError?: HandlerErrorFunc;
  /**
   * Makes the queue between the server and the store. The default keeps the order of all changes, also between objects,
   * and takes in a new list as one: a handler that looks at other objects sees what was true at some time, and never
   * half a list. client-go's default is the same since 1.36. `(knownObjects) => new DeltaFIFO({ knownObjects })` merges by
   * object instead. @default OrderedFIFO in atomic mode
   */
  readonly newQueue?: (knownObjects: KeyListerGetter<T>) => Queue<T, readonly Delta<T>[]>;
  /** In logs and errors. @default the kind's plural and group, or `'informer'` */
  readonly name?: string;
  /** @default the system's */
  readonly runtime?: Partial<Runtime>;
}

export const sharedIndexInformerOptionNames = optionNames<SharedIndexInformerOptions<KubeObject>>({
  kind: true,
  indexers: true,
  resyncPeriod: true,
  transform: true,
  watchErrorHandler: true,
  onHandlerError: true,
  newQueue: true,
  name: true,
  runtime: true,
  pageSize: true,
  useWatchList: true,
  silence: true,
});

/** How an informer is doing, at the moment it was asked: a plain snapshot. */
export interface InformerHealth extends ReflectorHealth {
  readonly synced: boolean;
  /** How many there are. */
  readonly objects: number;
  /** Objects that the server has and the store has no version of, as they are withheld. */
  readonly missing: number;
  /** Objects that the transform or an index function fails for, and malformed ones; the first 100. */
  readonly failing: readonly FailingObject[];
  /** How many there are of these. */
  readonly failingObjects: number;
  readonly handlers: readonly EventHandlerHealth[];
}

/** Options of `changes()`. */
export interface ChangesOptions extends EventHandlerOptions {
  /** Ends the iteration, which rejects with its reason. @default none */
  readonly signal?: AbortSignal;
}

export const changesOptionNames = optionNames<ChangesOptions>({
  signal: true,
  name: true,
  resyncPeriod: true,
  bufferSize: true,
});

/**
 * Caches the objects of one kind, and notifies any number of handlers of changes (`cache.SharedInformer`). Guarantees:
 *
 * - The store is a state that the server had at some time, and never goes back. When a handler is called, the store is
 *   at least as new as the changes it receives.
 * - For each handler and object, changes come in order: added, then updates, then deleted. A name that belongs to
 *   another object (another UID) arrives as deleted and added, where client-go sends one update: so too if the watch
 *   missed it, and only a list shows it.
 * - Not every version is delivered: versions between two lists are not, nor those merged for a handler that is too
 *   slow.
 * - A handler that is added late first receives all stored objects, as additions with `isInInitialList`.
 * - Objects are frozen.
 */
export interface SharedInformer<T extends KubeObject> {
  readonly name: string;
  readonly health: InformerHealth;
  /** True once {@link run} has ended (`IsStopped`). It cannot be started again. */
  readonly isStopped: boolean;
  /** Adds a handler: it receives all stored objects and then all changes. Throws after the informer has stopped (`AddEventHandler`). */
  addEventHandler(handler: ResourceEventHandler<T>, options?: EventHandlerOptions): EventHandlerRegistration;
  /** The same with {@link EventHandlerOptions.resyncPeriod} (`AddEventHandlerWithResyncPeriod`). */
  addEventHandlerWithResyncPeriod(
    handler: ResourceEventHandler<T>,
    resyncPeriod: Duration | 0,
    options?: EventHandlerOptions,
  ): EventHandlerRegistration;
  /** As `registration.remove()` (`RemoveEventHandler`). Throws for one of another informer. */
  removeEventHandler(registration: EventHandlerRegistration): Promise<void>;
  /**
   * All objects, as additions, and all changes. Changes wait while the loop body works, merged by object beyond
   * `bufferSize`, so memory stays bounded. Ends when the informer stops.
   *
   * @example
   * for await (const change of informer.changes({ signal })) console.log(change.type, change.key);
   */
  changes(options?: ChangesOptions): AsyncIterableIterator<Change<T>>;
  /** The store, read-only (`GetStore`). Best called before `run`; see `getIndexer`. */
  getStore(): Store<T>;
  /** The controller behind it; not to be run (`GetController`). */
  getController(): Pick<SharedInformer<T>, 'hasSynced' | 'lastSyncResourceVersion'>;
  /** Lists, watches and notifies handlers until the signal aborts; resolves when all of it has ended. A second call does nothing (`Run`). */
  run(options: { readonly signal: AbortSignal }): Promise<void>;
  /** True once the store holds the first list, and handlers have been called with it or have it waiting for them (`HasSynced`). */
  hasSynced(): boolean;
  /** Resolves when {@link hasSynced} is true. Rejects if the informer stops before, or with the signal's reason. */
  synced(options?: { readonly signal?: AbortSignal }): Promise<void>;
  /** How far it has come; the store may be a little behind (`LastSyncResourceVersion`). */
  lastSyncResourceVersion(): string;
  /** Throws once it was started (`SetWatchErrorHandler`). */
  setWatchErrorHandler(handler: WatchErrorHandler): void;
  /** Throws once it was started (`SetTransform`). */
  setTransform(transform: (object: T) => T): void;
}

/** A {@link SharedInformer} whose store has indexes (`cache.SharedIndexInformer`). */
export interface IndexedInformer<T extends KubeObject> extends SharedInformer<T> {
  /**
   * The store, read-only (`GetIndexer`). Objects are frozen when they are first returned: call this before `run`, and
   * large lists are frozen as they arrive, in slices; otherwise the first `list()` blocks, for 5 µs per Pod.
   */
  getIndexer(): Indexer<T>;
  /**
   * Before or after start; throws after stop, and for a name that is taken (`AddIndexers`). Stored objects are indexed
   * at once, which blocks as the first `list()` does.
   */
  addIndexers(indexers: Indexers<T>): void;
}
