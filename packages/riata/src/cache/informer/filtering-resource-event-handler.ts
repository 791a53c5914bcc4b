import type { KubeObject, ObjectMeta } from '../../object/meta.js';
import type { Change, ChangeType } from './change.js';
import { callHandler } from './event-listener.js';
import type { ResourceEventHandler } from './resource-event-handler.js';

/** What a {@link FilteringResourceEventHandler} is made of. */
export interface FilteringOptions<T extends KubeObject> {
  /** Whether the handler is to know of an object in this state. Must always say the same of the same state. */
  readonly filter: (obj: T) => boolean;
  readonly handler: ResourceEventHandler<T>;
}

/**
 * A handler that sees only what passes a filter (`cache.FilteringResourceEventHandler`), consistently: an object that
 * begins to pass is added for it, one that no longer does is deleted, with its last state that passed.
 *
 * @example
 * informer.addEventHandler(new FilteringResourceEventHandler({ filter: isMine, handler: { onAdd, onDelete } }));
 */
export class FilteringResourceEventHandler<T extends KubeObject> implements ResourceEventHandler<T> {
  readonly #filter: (obj: T) => boolean;
  readonly #handler: ResourceEventHandler<T>;

  constructor({ filter, handler }: FilteringOptions<T>) {
    this.#filter = filter;
    this.#handler = handler;
  }

  onChange(change: Change<T>): PromiseLike<unknown> | undefined {
    const seen = this.#seen(change);
    return seen === undefined ? undefined : callHandler(this.#handler, seen);
  }

  /** The change as it looks through the filter; undefined if nothing is left. */
  #seen(change: Change<T>): Change<T> | undefined {
    if (change.type === 'Deleted') return change.old !== undefined && this.#filter(change.old) ? change : undefined;
    const passes = change.new !== undefined && this.#filter(change.new);
    const passed = change.old !== undefined && this.#passed(change.old);
    if (change.type === 'Added') return passes ? change : undefined;
    if (passed) return passes ? change : new SeenChange(change, 'Deleted');
    return passes ? new SeenChange(change, 'Added') : undefined;
  }

  /**
   * If the filter fails for the state before, the handler did not receive that: the newer state must not suffer for it.
   */
  #passed(old: T): boolean {
    try {
      return this.#filter(old);
    } catch {
      return false;
    }
  }
}

/** An update that looks like something else. */
class SeenChange<T extends KubeObject> implements Change<T> {
  readonly type: ChangeType;
  readonly isInInitialList = false;
  readonly isFinalStateUnknown = false;
  readonly isRecreated = false;
  readonly #change: Change<T>;

  constructor(change: Change<T>, type: 'Added' | 'Deleted') {
    this.type = type;
    this.#change = change;
  }

  get key(): string {
    return this.#change.key;
  }

  get metadata(): ObjectMeta {
    return (this.new ?? this.old)?.metadata ?? this.#change.metadata;
  }

  get old(): T | undefined {
    return this.type === 'Deleted' ? this.#change.old : undefined;
  }

  get new(): T | undefined {
    return this.type === 'Added' ? this.#change.new : undefined;
  }
}
