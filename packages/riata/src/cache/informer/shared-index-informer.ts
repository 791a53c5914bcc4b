import type { Duration } from '../../object/duration.js';
import { formatGroupResource } from '../../object/gvk.js';
import type { KubeObject } from '../../object/meta.js';
import { thrownAt } from '../../runtime/log/user-frame.js';
import { refuseUnknownOptions } from '../../runtime/option-names.js';
import { type Runtime, resolveRuntime } from '../../runtime/runtime.js';
import { link, onAbort } from '../../runtime/signals.js';
import { StoreDecoder } from '../decode/store-decoder.js';
import type { ListerWatcher } from '../reflector/list-watch.js';
import { Reflector } from '../reflector/reflector.js';
import type { ReflectorHealth } from '../reflector/reflector-options.js';
import { reflectorSettings } from '../reflector/reflector-settings.js';
import { IndexFailures } from '../store/index-failures.js';
import type { Indexer } from '../store/indexer.js';
import { type BaseObserver, InformerStore } from '../store/informer-store.js';
import type { Store } from '../store/store.js';
import type { Indexers } from '../store/store-index.js';
import { informerFailures } from '../store/withheld-objects.js';
import { type Change, StoredChange } from './change.js';
import { ChangeIterator } from './change-iterator.js';
import type { Delta } from './delta.js';
import { admitListed, DeltaApplier } from './delta-applier.js';
import { EventListener, SharedProcessor, type Upstream } from './event-listener.js';
import { OrderedFIFO } from './ordered-fifo.js';
import { type ProcessedQueue, processQueue } from './queue.js';
import {
  type EventHandlerOptions,
  type EventHandlerRegistration,
  eventHandlerOptionNames,
  type ResourceEventHandler,
} from './resource-event-handler.js';
import { ResyncPeriods, resyncMs } from './resync-periods.js';
import {
  type ChangesOptions,
  type IndexedInformer,
  type InformerHealth,
  type SharedIndexInformerOptions,
  sharedIndexInformerOptionNames,
  type WatchErrorHandler,
} from './shared-informer.js';

/**
 * Where an own-writes view listens to an informer, and gets what it reads: `informer[observeBase](observer)`. One at a
 * time. Reads of many objects may have to wait for `freezeAhead`.
 */
export const observeBase: unique symbol = Symbol('riata.observeBase');

/** The method by which an own-writes view reports an object that it has shown and that was created and deleted in a gap of the watch. */
export const notifyVanished: unique symbol = Symbol('riata.notifyVanished');

const defaultBufferSize = 1000;
/** Failing objects that health lists. */
const mostListed = 100;

/**
 * The informer (`cache.NewSharedIndexInformer`, `NewSharedIndexInformerWithOptions`, `NewSharedInformer`);
 * `SharedInformer` documents its guarantees.
 *
 * @example
 * const informer = new SharedIndexInformer(listWatch(client, Pod), { kind: Pod });
 * informer.addEventHandler({ onAdd: (pod) => console.log(pod.metadata.name) });
 * void informer.run({ signal });
 * await informer.synced({ signal });
 */
export class SharedIndexInformer<T extends KubeObject> implements IndexedInformer<T> {
  readonly name: string;
  readonly #listerWatcher: ListerWatcher<T>;
  readonly #options: SharedIndexInformerOptions<T>;
  readonly #runtime: Runtime;
  readonly #decoder: StoreDecoder;
  readonly #store: InformerStore<T>;
  readonly #queue: ProcessedQueue<T, readonly Delta<T>[]>;
  readonly #processor = new SharedProcessor<T>();
  readonly #resync: ResyncPeriods<EventListener<T>>;
  readonly #upstream: Upstream;
  readonly #indexFailures: IndexFailures<T>;
  readonly #failures: ReturnType<typeof informerFailures>;
  /** Aborts when it has stopped; callers that wait for the sync get the reason. */
  readonly #ended = new AbortController();
  #transform: ((object: T) => T) | undefined;
  #watchErrorHandler: WatchErrorHandler | undefined;
  /** Made by the first {@link run}. */
  #reflector: Reflector<T> | undefined;
  #handlers = 0;

  constructor(listerWatcher: ListerWatcher<T>, options: SharedIndexInformerOptions<T> = {}) {
    const { kind, indexers = {}, newQueue = () => new OrderedFIFO<T>(), resyncPeriod = 0 } = options;
    this.name = options.name ?? (kind === undefined ? 'informer' : formatGroupResource(kind.gvr));
    refuseUnknownOptions(`informer "${this.name}"`, options, sharedIndexInformerOptionNames);
    // Checked here, not in run, whose rejection may go unnoticed.
    reflectorSettings(this.name, { pageSize: options.pageSize, silence: options.silence });
    this.#decoder = new StoreDecoder((key) => this.#store.peek(key));
    this.#listerWatcher = listerWatcher;
    this.#options = options;
    this.#runtime = resolveRuntime(options.runtime);
    this.#failures = informerFailures(this.#runtime.metrics, this.name);
    this.#transform = options.transform;
    this.#watchErrorHandler = options.watchErrorHandler;
    const { clock, log } = this.#runtime;
    this.#indexFailures = new IndexFailures<T>(this.name, this.#runtime, () => this.#store);
    this.#store = new InformerStore<T>(indexers, this.#indexFailures);
    this.#queue = newQueue(this.#store);
    const periodMs = resyncMs(resyncPeriod, `informer "${this.name}": resyncPeriod`);
    this.#resync = new ResyncPeriods(periodMs, clock, log.child({ informer: this.name }));
    this.#upstream = {
      name: this.name,
      clock,
      onHandlerError: (error, context) => {
        this.#failures('handler').inc();
        (options.onHandlerError ?? this.#logHandlerError)(error, context);
      },
      hasSynced: () => this.hasSynced(),
      synced: (wait) => this.synced(wait),
    };
  }

  get health(): InformerHealth {
    const idle: ReflectorHealth = {
      name: this.name,
      phase: 'idle',
      phaseMs: 0,
      listed: false,
      resourceVersion: '',
      consecutiveFailures: 0,
      watches: 0,
      withheld: 0,
    };
    const withheld = this.#reflector?.withheld;
    const isMissing = (id: string) => !this.#store.has(id);
    return {
      ...(this.#reflector?.health ?? idle),
      synced: this.hasSynced(),
      objects: this.#store.size,
      missing: withheld === undefined ? 0 : [...withheld.ids()].filter(isMissing).length,
      failing: [...(withheld?.list(mostListed) ?? []), ...this.#indexFailures.list(mostListed)].slice(0, mostListed),
      failingObjects: (withheld?.size ?? 0) + this.#indexFailures.size,
      handlers: this.#processor.listeners.map((listener) => listener.health),
    };
  }

  get isStopped(): boolean {
    return this.#ended.signal.aborted;
  }

  addEventHandler(handler: ResourceEventHandler<T>, options: EventHandlerOptions = {}): EventHandlerRegistration {
    return this.#listen(handler, options);
  }

  addEventHandlerWithResyncPeriod(
    handler: ResourceEventHandler<T>,
    resyncPeriod: Duration | 0,
    options: EventHandlerOptions = {},
  ): EventHandlerRegistration {
    return this.#listen(handler, { ...options, resyncPeriod });
  }

  async removeEventHandler(registration: EventHandlerRegistration): Promise<void> {
    if (!(registration instanceof EventListener) || !registration.belongsTo(this.#upstream)) {
      throw new TypeError(
        `informer "${this.name}": removeEventHandler requires a registration that its own addEventHandler returned`,
      );
    }
    await registration.remove();
  }

  changes(options: ChangesOptions = {}): AsyncIterableIterator<Change<T>> {
    const iterator = new ChangeIterator<T>(options.signal);
    const registration = this.#listen(iterator.handler, options, () => iterator.end());
    iterator.onReturn = () => registration.remove();
    return iterator;
  }

  getStore(): Store<T> {
    return this.getIndexer();
  }

  getIndexer(): Indexer<T> {
    if (!this.#store.freezesEagerly) {
      this.#store.freezesEagerly = true;
      void this.#store.freezeAhead(() => this.#store.size, this.#runtime.clock);
    }
    return this.#store;
  }

  getController(): Pick<this, 'hasSynced' | 'lastSyncResourceVersion'> {
    return {
      hasSynced: () => this.hasSynced(),
      lastSyncResourceVersion: () => this.lastSyncResourceVersion(),
    };
  }

  addIndexers(indexers: Indexers<T>): void {
    this.#refuseStopped('addIndexers');
    this.#store.addIndexers(indexers);
  }

  async run({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    const { clock, log } = this.#runtime;
    if (this.#reflector !== undefined) {
      log.warn('informer was already started, ignoring this call of run', { informer: this.name });
      return;
    }
    const { kind, pageSize, useWatchList, silence } = this.#options;
    const onBadObject = (error: unknown) => log.error('cannot store object', { informer: this.name, error });
    const [store, decoder] = [this.#store, this.#decoder];
    // A queue of the user may change the objects that it is given; they must not share parts with others then.
    const areListsAdmitted = this.#options.newQueue === undefined;
    const isDecoder = areListsAdmitted && this.#transform === undefined;
    const applier = new DeltaApplier({
      ...{ store, decoder, areListsAdmitted, processor: this.#processor, clock, onBadObject },
    });
    using _stopping = onAbort(signal, () => {
      applier.stop();
      this.#queue.close();
    });
    this.#reflector = new Reflector(this.#listerWatcher, this.#queue, {
      ...{ kind, pageSize, useWatchList, silence },
      name: this.name,
      decoder: isDecoder ? decoder : undefined,
      resyncPeriod: this.#resync.checkMs === 0 ? 0 : `${this.#resync.checkMs}ms`,
      shouldResync: () => this.#resync.check(),
      transform: this.#transform,
      admitListed: areListsAdmitted ? admitListed(store, decoder) : undefined,
      known: (key) => store.peek(key),
      onError: this.#watchErrorHandler,
      runtime: this.#runtime,
    });
    const onError = (error: unknown) => log.error('cannot process queue item', { informer: this.name, error });
    try {
      await Promise.all([
        this.#reflector.run({ signal }),
        processQueue(this.#queue, applier.apply, { signal, clock, onError }),
      ]);
    } finally {
      this.#indexFailures.close();
      const reason = new Error(`informer "${this.name}" has stopped`);
      this.#ended.abort(reason);
      await this.#processor.close(reason);
    }
  }

  hasSynced(): boolean {
    return this.#reflector !== undefined && this.#queue.hasSynced();
  }

  async synced({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    using either = link(signal, this.#ended.signal);
    await this.#queue.synced(either);
  }

  lastSyncResourceVersion(): string {
    return this.#reflector?.lastSyncResourceVersion() ?? '';
  }

  setWatchErrorHandler(handler: WatchErrorHandler): void {
    this.#refuseStarted('setWatchErrorHandler');
    this.#watchErrorHandler = handler;
  }

  setTransform(transform: (object: T) => T): void {
    this.#refuseStarted('setTransform');
    this.#transform = transform;
  }

  /** Why an object is withheld from the store, as its transform fails or its metadata are malformed; undefined if it is not. */
  withheldError(key: string): unknown {
    return this.#reflector?.withheld.errorOf(key);
  }

  /** How many objects are. */
  get withheld(): number {
    return this.#reflector?.withheld.size ?? 0;
  }

  /** How many objects are not in an index as its function fails for them. */
  unindexed(indexName: string): number {
    return this.#indexFailures.sizeOf(indexName);
  }

  /** For what stands beside the store and has to know of each of its changes before any handler does. */
  [observeBase](observer: BaseObserver<T> | undefined): InformerStore<T> {
    this.#store.observer = observer;
    return this.#store;
  }

  /** Handlers saw it, and it was deleted: one that reads with own writes may have acted on it. */
  [notifyVanished](key: string, object: T): void {
    this.#processor.distribute(new StoredChange<T>('Added', key, undefined, object));
    this.#processor.distribute(new StoredChange<T>('Deleted', key, object, undefined, { isFinalStateUnknown: true }));
  }

  #listen(handler: ResourceEventHandler<T>, options: EventHandlerOptions, onClose?: () => void): EventListener<T> {
    this.#refuseStopped('addEventHandler');
    refuseUnknownOptions(`handler of informer "${this.name}"`, options, eventHandlerOptionNames);
    this.#handlers += 1;
    const { name = `handler-${this.#handlers}`, bufferSize = defaultBufferSize, signal } = options;
    const periodMs = resyncMs(
      options.resyncPeriod ?? this.#options.resyncPeriod ?? 0,
      `handler "${name}" of informer "${this.name}": resyncPeriod`,
    );
    const isStarted = this.#reflector !== undefined;
    const initial = isStarted ? this.#store.snapshot() : undefined;
    let removing: Disposable | undefined;
    const listener: EventListener<T> = new EventListener(handler, this.#upstream, {
      ...{ name, bufferSize, initial },
      onClose: () => {
        removing?.[Symbol.dispose]();
        this.#processor.delete(listener);
        this.#resync.delete(listener);
        onClose?.();
      },
    });
    this.#resync.add(listener, periodMs, isStarted);
    this.#processor.add(listener);
    removing = onAbort(signal, () => void listener.remove());
    return listener;
  }

  #refuseStopped(method: string): void {
    if (!this.isStopped) return;
    throw new Error(`informer "${this.name}": cannot call ${method} after it has stopped; create a new informer`);
  }

  #refuseStarted(method: string): void {
    if (this.#reflector === undefined) return;
    throw new Error(`informer "${this.name}": ${method} must be called before run`);
  }

  readonly #logHandlerError: Upstream['onHandlerError'] = (error, { handler, change }) => {
    const at = thrownAt(error);
    this.#runtime.log.error('event handler failed', {
      ...{ informer: this.name, handler, key: change.key, change: change.type, error },
      ...(at !== undefined && { at }),
    });
  };
}
