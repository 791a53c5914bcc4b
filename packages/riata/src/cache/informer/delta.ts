import type { DeletedFinalStateUnknown } from './deleted-final-state-unknown.js';

/**
 * A change of an object (`cache.Delta`). `Replaced`: it is in a new list, changed or not. `Sync`: nothing changed, it
 * is delivered again.
 */
export type ObjectDelta<T> =
  | { readonly type: 'Added' | 'Updated' | 'Replaced' | 'Sync'; readonly object: T }
  | { readonly type: 'Deleted'; readonly object: T | DeletedFinalStateUnknown<T> };

/**
 * A change, strictly in order (`cache.Delta` of the atomic `RealFIFO`): of an object, or of all of them. `ReplacedAll`
 * (`ReplacedAllInfo`) holds a whole new list; `SyncAll` (`SyncAllInfo`) requests a resync of everything; `Bookmark`
 * (`BookmarkInfo`) reports how far the watch has come.
 */
export type Delta<T> =
  | ObjectDelta<T>
  | { readonly type: 'ReplacedAll'; readonly objects: readonly T[]; readonly resourceVersion: string }
  | { readonly type: 'SyncAll' }
  | { readonly type: 'Bookmark'; readonly resourceVersion: string };

/** `cache.DeltaType`. */
export type DeltaType = Delta<unknown>['type'];

/** The changes of one object since it was processed last, oldest first (`cache.Deltas`); never empty. */
export type Deltas<T> = readonly ObjectDelta<T>[];
