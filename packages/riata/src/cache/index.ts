/**
 * Stores, queues of changes and where they come from: the parts that informers are made of (client-go's `tools/cache`).
 *
 * @module
 */
export { keyOf, splitKey } from '../object/key.js';
export { Cache, type CacheHealth, type CacheUse } from './cache.js';
export { CacheController, type CacheControllerConfig } from './cache-controller.js';
export type { Informer } from './cache-informer.js';
export { type CacheMemory, createIngest, type Ingest, madeBy } from './cache-memory.js';
export { type CachedKind, type CacheOptions, cached, type KindCacheOptions } from './cache-options.js';
export { CacheSyncError, isCacheSyncError } from './cache-sync-error.js';
export type { Change, ChangeType } from './change.js';
export { DeletedFinalStateUnknown, isDeletedFinalStateUnknown } from './deleted-final-state-unknown.js';
export type { Delta, Deltas, DeltaType, ObjectDelta } from './delta.js';
export { DeltaFIFO, type DeltaFIFOOptions } from './delta-fifo.js';
export type { Doubt, OpenDoubt } from './doubts.js';
export type { EventHandlerOptions, EventHandlerRegistration, ResourceEventHandler } from './event-handler.js';
export type { EventHandlerHealth } from './event-listener.js';
export { ExpirationCache, type ExpirationCacheOptions, type TimestampedEntry } from './expiration-cache.js';
export type { FailingObject } from './failing-objects.js';
export { FIFO } from './fifo.js';
export { type FilteringOptions, FilteringResourceEventHandler } from './filtering-resource-event-handler.js';
export {
  CacheMutationError,
  type HandlerErrorContext,
  type HandlerErrorFunc,
  isCacheMutationError,
} from './handler-error.js';
export {
  createIndexer,
  createStore,
  type Indexer,
  type IndexerOptions,
  type IndexReader,
  type StoreOptions,
} from './indexer.js';
export { byNamespace, deletionHandlingKeyOf, KeyError, type KeyFunc, namespaceIndex } from './key-functions.js';
export {
  type ListerWatcher,
  type ListItems,
  type ListWatchClient,
  type ListWatchOptions,
  listWatch,
  type WatchSource,
} from './list-watch.js';
export { Lister, type ListerSelector, listAll, listAllByNamespace, type NamespaceLister } from './lister.js';
export { type NewInformer, newInformer } from './new-informer.js';
export { OrderedFIFO, type OrderedFIFOOptions } from './ordered-fifo.js';
export { OwnWrites, type OwnWritesOptions } from './own-writes.js';
export { OwnWritesView } from './own-writes-view.js';
export {
  isQueueClosed,
  isRequeueError,
  type PopOptions,
  type PopProcessFunc,
  type Queue,
  QueueClosedError,
  RequeueError,
} from './queue.js';
export { type OwnWriteTarget, recordOwnWrite } from './record-own-write.js';
export { Reflector } from './reflector.js';
export { isReflectorError, ReflectorError, type ReflectorProblem } from './reflector-error.js';
export type { ReflectorHealth, ReflectorOptions, ReflectorPhase } from './reflector-options.js';
export { SharedIndexInformer } from './shared-index-informer.js';
export type {
  ChangesOptions,
  IndexedInformer,
  InformerHealth,
  SharedIndexInformerOptions,
  SharedInformer,
  WatchErrorHandler,
} from './shared-informer.js';
export {
  type FactoryInformerOptions,
  SharedInformerFactory,
  type SharedInformerFactoryOptions,
} from './shared-informer-factory.js';
export {
  type KeyListerGetter,
  type ReflectorStore,
  type Store,
  type Transaction,
  TransactionError,
  type TransactionStore,
} from './store.js';
export type { Indexers, IndexFunc } from './store-index.js';
export { type KeyedTransaction, ThreadSafeStore } from './thread-safe-store.js';
export { UndeltaStore } from './undelta-store.js';
export { type Syncing, waitForCacheSync } from './wait-for-cache-sync.js';
export { watchErrorLogger } from './watch-error-logger.js';
