import type { DeletedFinalStateUnknown } from './deleted-final-state-unknown.js';

/**
 * What happened to an object (`cache.Delta`). `Replaced`: it is in a new list, changed or not. `Sync`: nothing happened, it
 * is to be looked at again.
 */
export type ObjectDelta<T> =
  | { readonly type: 'Added' | 'Updated' | 'Replaced' | 'Sync'; readonly object: T }
  | { readonly type: 'Deleted'; readonly object: T | DeletedFinalStateUnknown<T> };

/**
 * What happened, strictly in order (`cache.Delta` of the atomic `RealFIFO`): to an object, or to all of them. `ReplacedAll`
 * (`ReplacedAllInfo`) holds a whole new list; `SyncAll` (`SyncAllInfo`) asks to look at everything again; `Bookmark`
 * (`BookmarkInfo`) reports how far the watch has come.
 */
export type Delta<T> =
  | ObjectDelta<T>
  | { readonly type: 'ReplacedAll'; readonly objects: readonly T[]; readonly resourceVersion: string }
  | { readonly type: 'SyncAll' }
  | { readonly type: 'Bookmark'; readonly resourceVersion: string };

/** `cache.DeltaType`. */
export type DeltaType = Delta<unknown>['type'];

/** What happened to one object since it was processed last, oldest first (`cache.Deltas`); never empty. */
export type Deltas<T> = readonly ObjectDelta<T>[];
