import type { Duration } from '../../object/duration.js';
import type { KubeObject } from '../../object/meta.js';
import { optionNames } from '../../runtime/option-names.js';
import type { Change } from './change.js';
import type { DeletedFinalStateUnknown } from './deleted-final-state-unknown.js';

/**
 * Callbacks for changes (`cache.ResourceEventHandler`, `ResourceEventHandlerFuncs`,
 * `ResourceEventHandlerDetailedFuncs`): any of these. Calls come one after the other, in order; if one returns a
 * promise, the next change waits for it. Errors and rejections are reported and stop nothing else.
 *
 * All objects are frozen and belong to the cache: `clone` or `edit` them to make changes.
 */
export interface ResourceEventHandler<T extends KubeObject> {
  /** There is an object; `isInInitialList` if it was there before the handler, or before the informer (`OnAdd`). */
  onAdd?(obj: T, isInInitialList: boolean): unknown;
  /** It changed; on a resync both are the same object (`OnUpdate`). Never of two objects with different UIDs. */
  onUpdate?(old: T, obj: T): unknown;
  /** It was deleted: its last state, or a tombstone with an earlier one if the watch missed the deletion (`OnDelete`). */
  onDelete?(obj: T | DeletedFinalStateUnknown<T>): unknown;
  /** Every change; before the other methods, if there are any. */
  onChange?(change: Change<T>): unknown;
}

/** Options of a handler (`cache.HandlerOptions`). */
export interface EventHandlerOptions {
  /** In logs and errors. @default 'handler-1' and so on */
  readonly name?: string;
  /**
   * How often to receive every object though nothing changed: at least a second, 0 for never, and never if the informer
   * has no `resyncPeriod`. After start no more often than the informer resyncs already. @default the informer's
   */
  readonly resyncPeriod?: Duration | 0;
  /**
   * Changes that may wait for a slow handler; further ones are merged by object: an object that was added and deleted
   * again is not delivered, and of several updates only the first `old` and the last `new` are. @default 1000
   */
  readonly bufferSize?: number;
  /** Removes the handler when it aborts. @default none */
  readonly signal?: AbortSignal;
}

export const eventHandlerOptionNames = optionNames<EventHandlerOptions>({
  name: true,
  resyncPeriod: true,
  bufferSize: true,
  signal: true,
});

/** A handler's place at an informer (`cache.ResourceEventHandlerRegistration`). */
export interface EventHandlerRegistration {
  readonly name: string;
  /**
   * True once the handler has received the informer's first list, or, if it was added later, all objects that were
   * stored then.
   */
  hasSynced(): boolean;
  /** Resolves when {@link hasSynced} is true. Rejects if that cannot be any more, or with the signal's reason. */
  synced(options?: { readonly signal?: AbortSignal }): Promise<void>;
  /**
   * Stops all calls from now on; resolves when the call in flight is done, so a handler must not wait for it. May be
   * called again.
   */
  remove(): Promise<void>;
}
