/**
 * Stores, queues of changes and where they come from: the parts that informers are made of (client-go's `tools/cache`).
 *
 * @module
 */
export { keyOf, splitKey } from '../object/key.js';
export { Cache, type CacheHealth, type CacheUse } from './cache.js';
export { type CachedKind, type CacheOptions, cached, type KindCacheOptions } from './cache-options.js';
export { CacheController, type CacheControllerConfig } from './compat/cache-controller.js';
export { DeltaFIFO, type DeltaFIFOOptions } from './compat/delta-fifo.js';
export { ExpirationCache, type ExpirationCacheOptions, type TimestampedEntry } from './compat/expiration-cache.js';
export { FIFO } from './compat/fifo.js';
export { type NewInformer, newInformer } from './compat/new-informer.js';
export { UndeltaStore } from './compat/undelta-store.js';
export { StoreDecoder } from './decode/store-decoder.js';
export { CacheSyncError, isCacheSyncError } from './informer/cache-sync-error.js';
export type { Change, ChangeType } from './informer/change.js';
export { DeletedFinalStateUnknown, isDeletedFinalStateUnknown } from './informer/deleted-final-state-unknown.js';
export type { Delta, Deltas, DeltaType, ObjectDelta } from './informer/delta.js';
export type { EventHandlerHealth } from './informer/event-listener.js';
export { type FilteringOptions, FilteringResourceEventHandler } from './informer/filtering-resource-event-handler.js';
export {
  CacheMutationError,
  type HandlerErrorContext,
  type HandlerErrorFunc,
  isCacheMutationError,
} from './informer/handler-error.js';
export { OrderedFIFO, type OrderedFIFOOptions } from './informer/ordered-fifo.js';
export {
  isQueueClosed,
  isRequeueError,
  type PopOptions,
  type PopProcessFunc,
  type Queue,
  QueueClosedError,
  RequeueError,
} from './informer/queue.js';
export type {
  EventHandlerOptions,
  EventHandlerRegistration,
  ResourceEventHandler,
} from './informer/resource-event-handler.js';
export { SharedIndexInformer } from './informer/shared-index-informer.js';
export type {
  ChangesOptions,
  IndexedInformer,
  InformerHealth,
  SharedIndexInformerOptions,
  SharedInformer,
  WatchErrorHandler,
} from './informer/shared-informer.js';
export {
  type FactoryInformerOptions,
  SharedInformerFactory,
  type SharedInformerFactoryOptions,
} from './informer/shared-informer-factory.js';
export { type Syncing, waitForCacheSync } from './informer/wait-for-cache-sync.js';
export type { Informer } from './informer.js';
export { OwnWrites, type OwnWritesOptions } from './own-writes/own-writes.js';
export { OwnWritesView } from './own-writes/own-writes-view.js';
export { type OwnWriteTarget, recordOwnWrite } from './own-writes/record-own-write.js';
export type { UncertainWrite, UncertainWriteEntry } from './own-writes/uncertain-writes.js';
export {
  type ListerWatcher,
  type ListItems,
  type ListWatchClient,
  type ListWatchOptions,
  listWatch,
  type WatchSource,
} from './reflector/list-watch.js';
export { Reflector } from './reflector/reflector.js';
export { isReflectorError, ReflectorError, type ReflectorProblem } from './reflector/reflector-error.js';
export type { ReflectorHealth, ReflectorOptions, ReflectorPhase } from './reflector/reflector-options.js';
export { watchErrorLogger } from './reflector/watch-error-logger.js';
export type { FailingObject } from './store/failing-objects.js';
export {
  createIndexer,
  createStore,
  type Indexer,
  type IndexerOptions,
  type IndexReader,
  type StoreOptions,
} from './store/indexer.js';
export { byNamespace, deletionHandlingKeyOf, KeyError, type KeyFunc, namespaceIndex } from './store/key-func.js';
export { Lister, type ListerSelector, listAll, listAllByNamespace, type NamespaceLister } from './store/lister.js';
export {
  type KeyListerGetter,
  type ReflectorStore,
  type Store,
  type Transaction,
  TransactionError,
  type TransactionStore,
} from './store/store.js';
export type { Indexers, IndexFunc } from './store/store-index.js';
export { type KeyedTransaction, ThreadSafeStore } from './store/thread-safe-store.js';
