import type { DeletedFinalStateUnknown } from '../informer/deleted-final-state-unknown.js';
import { defaultKeyFunc, type KeyFunc, resourceVersionOf } from '../store/key-func.js';
import { KeyedQueue } from './keyed-queue.js';

/**
 * A queue of objects (`cache.FIFO`) for readers that process every object once, in its newest version, and need neither
 * deletions nor resyncs. See `DeltaFIFO` for those.
 *
 * An object that changes while it waits keeps its place. `resync` does nothing: everything in the store is queued.
 */
export class FIFO<T> extends KeyedQueue<T, T> {
  /** @param keyFunc by default `keyOf`: `namespace/name` */
  constructor(keyFunc: KeyFunc<T> = defaultKeyFunc) {
    super(keyFunc);
  }

  add(obj: T): void {
    this.put(this.keyOf(obj), obj);
    this.changed(resourceVersionOf(obj));
  }

  update(obj: T): void {
    this.add(obj);
  }

  /** Takes the object out of the line: it is not processed. */
  delete(obj: T | DeletedFinalStateUnknown<T>): void {
    this.drop(this.keyOf(obj));
    this.changed(resourceVersionOf(obj));
  }

  addIfNotPresent(obj: T): void {
    const key = this.keyOf(obj);
    if (this.waiting(key) === undefined) this.put(key, obj);
    this.changed();
  }

  /** A new line: the objects of `list`, in its order. */
  replace(list: readonly T[], resourceVersion: string): void {
    this.renew(new Map(list.map((obj) => [this.keyOf(obj), obj])), resourceVersion);
  }

  resync(): void {}

  protected copy(item: T): T {
    return item;
  }

  protected merged(_putBack: T, newer: T): T {
    return newer;
  }
}
