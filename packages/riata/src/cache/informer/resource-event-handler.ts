import type { Duration } from '../../object/duration.js';
import type { KubeObject } from '../../object/meta.js';
import { optionNames } from '../../runtime/option-names.js';
import type { Change } from './change.js';
import { DeletedFinalStateUnknown } from './deleted-final-state-unknown.js';

/**
 * What is called on changes (`cache.ResourceEventHandler`, `ResourceEventHandlerFuncs`, `ResourceEventHandlerDetailedFuncs`):
 * any of these. Calls come one after the other, in order; if one returns a promise, the next change waits for it. What is
 * thrown or rejected is reported and stops nothing else.
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
   * has no `resyncPeriod`. After start no more often than the informer looks already. @default the informer's
   */
  readonly resyncPeriod?: Duration | 0;
  /**
   * Changes that may wait for a handler that is slow; further ones are merged by object: what was added and deleted
   * again is not told, of several updates the first `old` and the last `new` are. @default 1000
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
  /** True once the handler has received the informer's first list, or, added later, all that was stored then. */
  hasSynced(): boolean;
  /** Resolves when {@link hasSynced} is true. Rejects if that cannot be any more, or with the signal's reason. */
  synced(options?: { readonly signal?: AbortSignal }): Promise<void>;
  /**
   * No further calls from now on; resolves when one that is under way is done, so a handler must not wait for it. May be
   * called again.
   */
  remove(): Promise<void>;
}

/** Calls what the handler has for this change; gives what has to be waited for. */
export function callHandler<T extends KubeObject>(
  handler: ResourceEventHandler<T>,
  change: Change<T>,
): PromiseLike<unknown> | undefined {
  if (handler.onChange === undefined) return callForType(handler, change);
  const told = handler.onChange(change);
  if (!isPromise(told)) return callForType(handler, change);
  return told.then(() => callForType(handler, change));
}

function callForType<T extends KubeObject>(
  handler: ResourceEventHandler<T>,
  change: Change<T>,
): PromiseLike<unknown> | undefined {
  let told: unknown;
  if (change.type === 'Added') {
    if (handler.onAdd !== undefined) told = handler.onAdd(change.new as T, change.isInInitialList);
  } else if (change.type === 'Deleted') {
    if (handler.onDelete === undefined) return undefined;
    const last = change.old as T;
    told = handler.onDelete(
      change.isFinalStateUnknown ? Object.freeze(new DeletedFinalStateUnknown(change.key, last)) : last,
    );
  } else if (handler.onUpdate !== undefined) {
    told = handler.onUpdate(change.old as T, change.new as T);
  }
  return isPromise(told) ? told : undefined;
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function';
}
