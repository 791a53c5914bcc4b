/** Stores, queues of changes and where they come from: the parts that informers are made of (client-go's `tools/cache`). */
export { DeletedFinalStateUnknown, isDeletedFinalStateUnknown } from './deleted-final-state-unknown.js';
export type { Delta, Deltas, DeltaType, ObjectDelta } from './delta.js';
export { DeltaFIFO, type DeltaFIFOOptions } from './delta-fifo.js';
export { ExpirationCache, type ExpirationCacheOptions, type TimestampedEntry } from './expiration-cache.js';
export { FIFO } from './fifo.js';
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
export { OrderedFIFO, type OrderedFIFOOptions } from './ordered-fifo.js';
export { type Doubt, OwnWrites, type OwnWritesOptions } from './own-writes.js';
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
export type { ReflectorHealth, ReflectorOptions, ReflectorPhase } from './reflector-options.js';
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
