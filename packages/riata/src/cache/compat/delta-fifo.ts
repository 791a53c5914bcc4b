import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import { DeletedFinalStateUnknown, isDeletedFinalStateUnknown } from '../informer/deleted-final-state-unknown.js';
import type { Deltas, ObjectDelta } from '../informer/delta.js';
import { defaultKeyFunc, type KeyFunc, resourceVersionOf } from '../store/key-func.js';
import type { KeyListerGetter } from '../store/store.js';
import { KeyedQueue } from './keyed-queue.js';

/** Options of a {@link DeltaFIFO} (`cache.DeltaFIFOOptions`). */
export interface DeltaFIFOOptions<T> {
  /** @default keyOf: `namespace/name` */
  readonly keyFunc?: KeyFunc<T>;
  /**
   * The objects that the reader of the queue has processed and not yet seen deleted: the store that it fills. Without
   * it, a `replace` finds only deletions of what is still queued, and `resync` does nothing.
   */
  readonly knownObjects?: KeyListerGetter<T>;
  /** Applied to every object once before it is queued (`cache.TransformFunc`). @default none */
  readonly transform?: (obj: T) => T;
}

export const deltaFIFOOptionNames = optionNames<DeltaFIFOOptions<unknown>>({
  keyFunc: true,
  knownObjects: true,
  transform: true,
});

/**
 * A queue of changes (`cache.DeltaFIFO`) for readers that process every change at most once, need all changes of an
 * object since the last time, deletions too, and resync everything now and then. See `FIFO` for less, and `OrderedFIFO`
 * for the order of changes between objects, which informers use.
 *
 * - Each key is queued once, with its changes, oldest first. Only deletions that follow each other become one.
 * - Deleting an object that is neither known nor queued does nothing: a relist has reported it already.
 * - `replace` makes a `Replaced` for each object of the list (client-go: with `EmitDeltaTypeReplaced`), and a `Deleted`
 *   with a {@link DeletedFinalStateUnknown} for each that is known or queued and not in the list. If it throws, nothing
 *   changed.
 * - `resync` makes a `Sync` for each known object that has nothing queued.
 */
export class DeltaFIFO<T> extends KeyedQueue<T, Deltas<T>> {
  readonly #knownObjects: KeyListerGetter<T> | undefined;
  readonly #transform: ((obj: T) => T) | undefined;

  constructor(options: DeltaFIFOOptions<T> = {}) {
    super(options.keyFunc ?? defaultKeyFunc);
    refuseUnknownOptions('DeltaFIFO', options, deltaFIFOOptionNames);
    this.#knownObjects = options.knownObjects;
    this.#transform = options.transform;
  }

  add(obj: T): void {
    this.#append(this.keyOf(obj), { type: 'Added', object: this.#transformed(obj) });
    this.changed(resourceVersionOf(obj));
  }

  update(obj: T): void {
    this.#append(this.keyOf(obj), { type: 'Updated', object: this.#transformed(obj) });
    this.changed(resourceVersionOf(obj));
  }

  delete(obj: T | DeletedFinalStateUnknown<T>): void {
    const key = this.keyOf(obj);
    if (this.#isThere(key)) {
      const object = isDeletedFinalStateUnknown(obj) ? obj : this.#transformed(obj);
      this.#append(key, { type: 'Deleted', object });
    }
    this.changed(resourceVersionOf(obj));
  }

  addIfNotPresent(deltas: Deltas<T>): void {
    const newest = deltas.at(-1);
    if (newest === undefined) throw new TypeError('addIfNotPresent: expected the deltas that pop returned, got none');
    const key = this.keyOf(newest.object);
    if (this.waiting(key) === undefined) this.put(key, [...deltas]);
    this.changed();
  }

  replace(list: readonly T[], resourceVersion: string): void {
    const replaced = list.map((obj) => [this.keyOf(obj), this.#transformed(obj)] as const);
    const keys = new Set<string>();
    for (const [key, object] of replaced) {
      keys.add(key);
      this.#append(key, { type: 'Replaced', object });
    }
    for (const [key, deltas] of [...this.entries()]) if (!keys.has(key)) this.#vanish(key, lastKnown(deltas));
    const known = this.#knownObjects?.listKeys() ?? [];
    const underway = this.underwayKey();
    for (const key of underway === undefined ? known : [...known, underway]) {
      if (keys.has(key) || this.waiting(key) !== undefined) continue;
      const deltas = this.underway(key);
      if (deltas === undefined) this.#vanish(key, this.#knownObjects?.getByKey(key));
      // It is about to be known, or to be deleted.
      else if (deltas.at(-1)?.type !== 'Deleted') this.#vanish(key, lastKnown(deltas));
    }
    this.replaced(resourceVersion);
  }

  resync(): void {
    const known = this.#knownObjects;
    if (known === undefined) return;
    for (const knownKey of known.listKeys()) {
      const object = known.getByKey(knownKey);
      if (object === undefined) continue;
      const key = this.keyOf(object);
      // A queued or in-flight change is newer than the known state: an older state must not come after it.
      if (this.waiting(key) === undefined && this.underway(key) === undefined)
        this.#append(key, { type: 'Sync', object });
    }
    this.wake();
  }

  protected copy(item: Deltas<T>): Deltas<T> {
    return [...item];
  }

  /** Nothing that happened may be lost. */
  protected merged(putBack: Deltas<T>, newer: Deltas<T>): Deltas<T> {
    return [...putBack, ...newer];
  }

  #isThere(key: string): boolean {
    if (this.waiting(key) !== undefined) return true;
    const last = this.underway(key)?.at(-1);
    return last === undefined ? this.#knownObjects?.getByKey(key) !== undefined : last.type !== 'Deleted';
  }

  #vanish(key: string, object: T | undefined): void {
    this.#append(key, { type: 'Deleted', object: new DeletedFinalStateUnknown(key, object) });
  }

  #append(key: string, delta: ObjectDelta<T>): void {
    const deltas = this.waiting(key) as ObjectDelta<T>[] | undefined;
    if (deltas === undefined) {
      this.put(key, [delta]);
      return;
    }
    const last = deltas.at(-1);
    if (delta.type !== 'Deleted' || last?.type !== 'Deleted') deltas.push(delta);
    // Of two deletions, the one that knows the final state.
    else if (isDeletedFinalStateUnknown(last.object)) deltas[deltas.length - 1] = delta;
  }

  #transformed(obj: T): T {
    return this.#transform === undefined ? obj : this.#transform(obj);
  }
}

function lastKnown<T>(deltas: Deltas<T>): T | undefined {
  const object = deltas.at(-1)?.object;
  return isDeletedFinalStateUnknown(object) ? (object.obj as T | undefined) : object;
}
