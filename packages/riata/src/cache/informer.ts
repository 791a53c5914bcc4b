import type { KubeObject } from '../object/meta.js';
import type {
  EventHandlerOptions,
  EventHandlerRegistration,
  ResourceEventHandler,
} from './informer/resource-event-handler.js';
import type { InformerHealth } from './informer/shared-informer.js';
import type { Indexers } from './store/store-index.js';

/**
 * One kind in a `Cache`, for handlers of changes (`cache.Informer` of controller-runtime). It may stand on
 * several watches, one for each namespace.
 */
export interface Informer<R extends KubeObject> {
  /** Adds a handler: it receives all stored objects and then all changes (`AddEventHandler`). */
  addEventHandler(handler: ResourceEventHandler<R>, options?: EventHandlerOptions): EventHandlerRegistration;
  /** As `registration.remove()` (`RemoveEventHandler`). */
  removeEventHandler(registration: EventHandlerRegistration): Promise<void>;
  /** At any time (`AddIndexers`). */
  addIndexers(indexers: Indexers<R>): void;
  /** True once all objects of the first list have arrived (`HasSynced`). */
  hasSynced(): boolean;
  /**
   * Resolves when {@link hasSynced} is true. Rejects with a `CacheSyncError` as soon as the server refuses for a reason
   * that waiting does not mend, unless `patient`.
   */
  synced(options?: { readonly signal?: AbortSignal; readonly patient?: boolean }): Promise<void>;
  /** True once it was removed from the cache, or the cache has stopped (`IsStopped`). */
  readonly isStopped: boolean;
  /** One for each namespace. */
  readonly health: readonly InformerHealth[];
}
